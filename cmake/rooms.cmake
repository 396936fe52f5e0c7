# The rooms of rooms.txt as libraries: one of each, with the rooms that it may use.

# room_target(VARIABLE ROOM): `lang/ir` is the library lang_ir.
function(room_target variable room)
  string(REPLACE "/" "_" target ${room})
  set(${variable} ${target} PARENT_SCOPE)
endfunction()

# room_sources(VARIABLE ROOM): what lies in the folder and, where no other room lies below it, in
# folders below.
function(room_sources variable room)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${room}/*.cpp)
  foreach(other ${rooms})
    if(other MATCHES "^${room}/")
      list(FILTER sources EXCLUDE REGEX "^${CMAKE_SOURCE_DIR}/${other}/")
    endif()
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/rooms.txt)
file(STRINGS ${CMAKE_SOURCE_DIR}/rooms.txt rows REGEX "^[a-z]")
set(rooms "")
foreach(row ${rows})
  string(REGEX MATCH "^([a-z/]+) *: *([a-z/ ]*)\\|" row ${row})
  set(room ${CMAKE_MATCH_1})
  string(REGEX MATCHALL "[a-z/]+" uses_${room} "${CMAKE_MATCH_2}")
  list(APPEND rooms ${room})
endforeach()

# Whoever builds once has the files of a room compiled several at a time, so that what they include
# is read once. Names that only one file knows must then be apart within a room. In rooms where they
# need not be, as every file of operators has its `rows`, a common header is compiled beforehand.
option(BATON_JOINED "Compile files together: sooner as a whole, later after a change" OFF)
set(common_header_codegen/native codegen/native/native_code.h)
set(common_header_driver/debug driver/session/session.h)
set(common_header_stdlib/ops stdlib/ops/common.h)
set(common_header_tests/harness driver/session/session.h)
set(common_header_vm/executable vm/machine/program.h)

# Rooms whose loops run as long as a program does are optimised at -O2. The others do without most of
# it, inlining excepted: they compile a quarter sooner and run as fast within a twentieth.
set(hot_rooms runtime runtime/natives lower/elements codegen/strips codegen/image interp vm/machine)
set(light_optimisation "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-O1;-finline-small-functions;-finline-functions;-findirect-inlining;-fpartial-inlining>")

# Headers of the standard library are read once for all rooms of the same options.
if(BATON_JOINED)
  file(WRITE ${CMAKE_BINARY_DIR}/common_headers.cpp "")
  add_library(common_headers OBJECT ${CMAKE_BINARY_DIR}/common_headers.cpp)
  target_link_libraries(common_headers PUBLIC warnings fmt::fmt)
  target_compile_options(common_headers PRIVATE ${light_optimisation})
  target_precompile_headers(common_headers PRIVATE <algorithm> <array> <functional> <map> <memory>
                            <optional> <ranges> <set> <span> <string> <unordered_map>
                            <unordered_set> <variant> <vector> <fmt/format.h>)
endif()

# Made with other options than the rest.
set(shared_rooms vm/rt driver/libbaton)
foreach(room ${rooms})
  if(NOT room IN_LIST shared_rooms)
    room_target(target ${room})
    room_sources(sources ${room})
    list(REMOVE_ITEM sources ${CMAKE_SOURCE_DIR}/driver/main.cpp)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PUBLIC warnings fmt::fmt)
    if(NOT room IN_LIST hot_rooms)
      target_compile_options(${target} PRIVATE ${light_optimisation})
    endif()
    if(BATON_JOINED AND common_header_${room})
      target_precompile_headers(${target} PRIVATE ${common_header_${room}})
    elseif(BATON_JOINED)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
      if(NOT room IN_LIST hot_rooms)
        target_precompile_headers(${target} REUSE_FROM common_headers)
      endif()
    endif()
    foreach(used ${uses_${room}})
      room_target(used ${used})
      target_link_libraries(${target} PUBLIC ${used})
    endforeach()
  endif()
endforeach()
