# Generated programs against the laws of soundness; by hand it runs for as long as it is told.
add_executable(soundness_test harness_test.cpp)
target_link_libraries(soundness_test PRIVATE tests_harness)
baton_test(soundness 2400 soundness_test --first 40000 --count 4000 --demand 1)
# Longer than any other: on a processor at half speed half an hour.
set_tests_properties(soundness PROPERTIES TIMEOUT 3600)
