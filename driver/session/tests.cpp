// A test gives a tuple: what must hold, and behind it what was compared.
#include "driver/session/tests.h"

#include "parser/resolve/tests.h"

#include <algorithm>

namespace driver {

using parser::surface::TestDefinition;

std::vector<Test> testsOf(const Program& program) {
  std::vector<Test> tests;
  for (const auto* definition : program.tree->definitions) {
    const auto* test = parser::surface::tryAs<TestDefinition>(definition);
    auto isIt = [&](const lang::Global* global) { return global->range == test->name.range; };
    auto found =
        test ? std::ranges::find_if(program.module->globals, isIt) : program.module->globals.end();
    if (found != program.module->globals.end())
      tests.push_back({test, *found});
  }
  return tests;
}

bool isTest(const lang::Global& global) {
  return global.name.starts_with(parser::testPrefix);
}

void checkTests(const Program& program, lang::Diagnostics& diagnostics) {
  if (diagnostics.hasErrors())
    return;
  for (const Test& test : testsOf(program)) {
    const lang::Type* result = program.typing.result(*test.global->function);
    bool isTuple = result && result->kind == lang::TypeKind::Tuple && !result->parts.empty();
    const lang::Type* held = isTuple ? result->parts[0] : nullptr;
    bool isTruth = held && held->kind == lang::TypeKind::Tensor && held->dtype == runtime::Bool;
    if (!isTruth && held)
      diagnostics.report(lang::Message::TestResult, parser::resultOf(test.surface->body)->range,
                         held);
  }
}

} // namespace driver
