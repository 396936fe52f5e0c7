// What the verifier demands of a program's tables, before it looks at code.
#pragma once

#include "vm/program.h"

#include <stdexcept>

namespace vm {

/// Leaves the verification of a table or function; caught in `verify`.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void demand(bool holds, const char* what) {
  if (!holds)
    throw Refused(what);
}

/// That what layouts, statics, functions and sites say of each other is so. Throws Refused.
void verifyTables(const Program& program);

} // namespace vm
