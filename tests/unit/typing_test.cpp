// The table of types, and that checking only reads a module: checked again, it has the same types.
#include "lang/ir/typing.h"

#include "driver/session/session.h"
#include "lang/ir/copy.h"
#include "lang/ir/verify.h"
#include "lang/print/print.h"
#include "parser/metadata/metadata.h"
#include "stdlib/ops.h"
#include "tests/unit/case_files.h"
#include "tests/unit/program_texts.h"
#include "typecheck/check.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

namespace {

const std::string header = "#[version = \"0.0.5\"]\n";

std::vector<std::string> texts(const lang::Diagnostics& diagnostics) {
  std::vector<std::string> result;
  for (const lang::Diagnostic& item : diagnostics.all())
    result.push_back(item.text.plain());
  return result;
}

std::string printed(const lang::Module& module, const lang::Typing& typing) {
  return parser::wholeText(lang::printModule(module, stdlib::operatorTable(), {&typing}));
}

std::vector<std::string> signatures(const lang::Module& module, const lang::Typing& typing) {
  std::vector<std::string> found;
  for (const lang::Global* global : module.globals)
    found.push_back(lang::typeText(lang::functionType(module.types, *global->function, typing)));
  return found;
}

/// Declares what was found of a good module: it has the same types.
void checkDeclared(const lang::Module& module, const lang::Typing& typing) {
  auto copy = lang::copyDeclared(module, typing);
  CHECK(lang::verify(*copy) == std::vector<std::string>{});
  lang::Diagnostics diagnostics;
  lang::Typing again = typecheck::checkModule(*copy, stdlib::operatorTable(), diagnostics);
  CHECK_FALSE(diagnostics.hasErrors());
  CHECK(signatures(*copy, again) == signatures(module, typing));
}

/// Printed with its types and read again, a good module has the same types at every place.
void checkPrinted(const lang::Module& module, const lang::Typing& typing) {
  std::string text = printed(module, typing);
  driver::Session session(stdlib::operatorTable());
  auto again = session.loadText("printed", text);
  REQUIRE(again);
  REQUIRE(again->isGood());
  CHECK(printed(*again->module, again->typing) == text);
}

/// Checks the module of a text twice after its first check; the text need not be well typed.
void checkAgain(const std::string& text) {
  driver::Session session(stdlib::operatorTable());
  auto loaded = session.loadText("test", text);
  REQUIRE(loaded);
  if (!loaded->module)
    return;
  const lang::Module& module = *loaded->module;
  CHECK(lang::verify(module) == std::vector<std::string>{});
  std::vector<std::string> findings;
  for (int round = 0; round < 2; ++round) {
    lang::Diagnostics diagnostics;
    lang::Typing again = typecheck::checkModule(module, stdlib::operatorTable(), diagnostics);
    CHECK(again == loaded->typing);
    CHECK(diagnostics.hasErrors() == loaded->diagnostics.hasErrors());
    CHECK((round == 0 || texts(diagnostics) == findings));
    findings = texts(diagnostics);
    CHECK(printed(module, again) == printed(module, loaded->typing));
  }
  if (!loaded->isGood())
    return;
  CHECK(lang::verifyTypes(module, loaded->typing) == std::vector<std::string>{});
  checkDeclared(module, loaded->typing);
  checkPrinted(module, loaded->typing);
}

} // namespace

TEST_CASE("what is not known is null or empty", "[typing]") {
  lang::Typing typing;
  runtime::Arena arena;
  lang::TypeContext types;
  auto expr = [](lang::ExprKind kind) { return lang::Expr{kind, {}}; };
  const auto* var =
      arena.make<lang::Var>(expr(lang::ExprKind::Var), "x", lang::VarOrigin::Parameter, 1000u);
  const auto* number = arena.make<lang::Constant>(expr(lang::ExprKind::Constant),
                                                  types.scalar(runtime::Int32), uint64_t(1));
  lang::TypeParameter a{"A"};
  const lang::TypeParameter* declared = &a;
  auto* function = arena.make<lang::Function>(expr(lang::ExprKind::Function), 1000u);
  function->parameters = arena.copy(std::vector{var});
  function->generics = std::span(&declared, 1);

  CHECK(typing.of(*var) == nullptr);
  CHECK(typing.of(*number) == types.scalar(runtime::Int32));
  CHECK(typing.of(*function) == nullptr);
  CHECK(typing.result(*function) == nullptr);
  CHECK(typing.requirements(*function).empty());
  CHECK(typing.generics(*function).data() == &declared);
  CHECK(lang::functionType(types, *function, typing) == nullptr);

  typing.setType(*var, types.variable(&a));
  CHECK(lang::functionType(types, *function, typing) == nullptr);
  typing.setResult(*function, types.scalar(runtime::Int32));
  CHECK(lang::typeText(lang::functionType(types, *function, typing)) == "fn [A](A) -> int32");
}

TEST_CASE("inferred type parameters are found again", "[typing]") {
  driver::Session session(stdlib::operatorTable());
  auto loaded = session.loadText(
      "test", header + "def @even(%n: int32, %x, %y) { if (%n == 0) { (%x, %y) } else { "
                       "@odd(%n - 1, %x, %y) } }\n"
                       "def @odd(%n: int32, %x, %y) { @even(%n - 1, %x, %y) }\n"
                       "def @main() { (@even(2, 1, 2f), @odd(1, 1f, ())) }");
  REQUIRE(loaded);
  REQUIRE(loaded->isGood());
  const lang::Function& odd = *loaded->module->find("odd")->function;
  CHECK(odd.generics.empty());
  lang::Diagnostics diagnostics;
  lang::Typing again =
      typecheck::checkModule(*loaded->module, stdlib::operatorTable(), diagnostics);
  for (const lang::Typing& typing : {loaded->typing, again}) {
    CHECK(typing.generics(odd).size() == 2);
    CHECK(lang::typeText(lang::functionType(session.types(), odd, typing)) ==
          "fn [A, B](int32, A, B) -> (A, B)");
  }
  CHECK(again == loaded->typing);
}

TEST_CASE("a copy declares what was found", "[typing]") {
  driver::Session session(stdlib::operatorTable());
  auto loaded = session.loadText("test", header + "def @f(%x, %y: Tensor[(_, 3), float32], %z) { "
                                                  "let %a: Tensor[(2, 3), float32] = %y; "
                                                  "let %b = if (%z) { 1 } else { 2 }; "
                                                  "%x }\n"
                                                  "def @main() { 1 }");
  REQUIRE(loaded);
  for (const lang::Diagnostic& item : loaded->diagnostics.all())
    UNSCOPED_INFO(item.text.plain());
  REQUIRE(loaded->isGood());
  auto copy = lang::copyDeclared(*loaded->module, loaded->typing);
  std::string text = lang::printModule(*copy, stdlib::operatorTable()).text;
  INFO(text);
  CHECK(
      text.starts_with(header + "def @f[A](%x: A, %y: Tensor[(2, 3), float32], %z: bool) -> A {"));
}

TEST_CASE("checked again, programs have the same types", "[typing]") {
  size_t count = 0;
  for (const auto& path : tests::programFiles()) {
    INFO(path);
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    checkAgain(text.str());
    ++count;
  }
  CHECK(count > 100);
}

TEST_CASE("checked again, cases have the same types and mistakes", "[typing]") {
  for (auto [folder, mark] : {std::pair("inference", "// type: "), {"mistakes", "// case: "}})
    for (const tests::CaseFile& file : tests::caseFiles(folder, mark))
      for (const tests::Case& item : file.cases) {
        INFO(item.text);
        checkAgain(header + item.text);
      }
}
