// How what somebody else wrote is refused: the first thing that is wrong leaves its verifier.
#pragma once

namespace runtime {

/// What a verifier throws, and catches itself.
struct Refused {
  const char* problem;
};

[[noreturn, gnu::noinline]] inline void refuse(const char* problem) {
  throw Refused{problem};
}

/// A text is for good: the words of a message stand in the program.
[[gnu::always_inline]] inline void demand(bool holds, const char* problem) {
  if (!holds)
    refuse(problem);
}

} // namespace runtime
