// The tests of a program that was loaded with them.
#pragma once

#include "driver/session/session.h"

namespace driver {

/// A test: its text, and the function that it is in the module.
struct Test {
  const parser::surface::TestDefinition* surface;
  const lang::Global* global;
};

/// Those of the program's own text, in its order.
std::vector<Test> testsOf(const Program& program);

/// Whether a function of the module is a test.
bool isTest(const lang::Global& global);

/// Reports tests that end in something else than truth values.
void checkTests(const Program& program, lang::Diagnostics& diagnostics);

} // namespace driver
