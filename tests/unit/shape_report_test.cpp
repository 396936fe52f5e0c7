// What messages tell of shapes: which rows, which marks, and where the values came from.
#include "driver/session/session.h"
#include "stdlib/ops.h"
#include "typecheck/shape_report.h"

#include <catch2/catch.hpp>

namespace {

/// The first finding about a program, of which its shapes are looked at.
lang::Diagnostic finding(std::string program) {
  driver::Session session(stdlib::operatorTable());
  auto loaded = session.loadText("f.rly", std::move(program));
  REQUIRE(loaded);
  REQUIRE(!loaded->diagnostics.all().empty());
  return loaded->diagnostics.all()[0];
}

/// The origin of the left operand of an addition that cannot be, behind `bindings`.
std::string originOf(const std::string& bindings, const std::string& operand) {
  auto shapes = finding("def @f(%a: Tensor[(3), int32]) { %a }\n"
                        "def @main(%x: Tensor[(3), int32], %t: (Tensor[(3), int32], int32)) {\n" +
                        bindings + " add(" + operand + ", zeros(shape=[2], dtype=\"int32\")) }\n")
                    .shapes;
  REQUIRE(shapes.rows.size() == 2);
  CHECK(shapes.rows[0].name.plain() == "lhs");
  CHECK(shapes.rows[0].dims == std::vector<std::string>{"3"});
  CHECK(shapes.rows[0].originRange.isValid());
  CHECK(shapes.rows[1].origin.plain() == "from `zeros`");
  return shapes.rows[0].origin.plain();
}

TEST_CASE("an origin is what made the value, whatever names it has since") {
  CHECK(originOf("", "%x") == "parameter `%x`");
  CHECK(originOf("", "nn.relu(%x)") == "from `nn.relu`");
  CHECK(originOf("", "%x * %x") == "from `*`");
  CHECK(originOf("", "multiply(%x, %x)") == "from `multiply`");
  CHECK(originOf("", "[1, 2, 3]") == "a constant");
  CHECK(originOf("", "@f(%x)") == "from `@f`");
  CHECK(originOf("", "%t.0") == "from `%t.0`");
  CHECK(originOf("", "(%x, 1).0") == "from field 0 of a tuple");
  CHECK(originOf("%0 = abs(%x);", "%0") == "from `abs`");
  CHECK(originOf("let %y = abs(%x);", "%y") == "`%y` from `abs`");
  CHECK(originOf("let %y = [1, 2, 3];", "%y") == "`%y` from a constant");
  CHECK(originOf("let %y = abs(%x); let %z = %y;", "%z") == "`%z` from `abs`");
  CHECK(originOf("let %z = %x;", "%z") == "`%z` = parameter `%x`");
  CHECK(originOf("let %z = (let %y = abs(%x); %y);", "%z") == "`%z` from `abs`");
  CHECK(originOf("let %z = if (True) { %x } else { %x };", "%z") == "`%z` from an `if`");
  CHECK(originOf("let %z = ref(%x);", "ref_read(%z)") == "from a reference");
  CHECK(originOf("let %g = fn (%a: Tensor[(3), int32]) { %a };", "%g(%x)") == "from `%g`");
}

TEST_CASE("fields of a tuple operand are rows of their own") {
  auto found = finding(
      "def @main(%x: Tensor[(3, 2), int32], %t: (Tensor[(3, 2), int32], Tensor[(4, 5), int32])) {\n"
      "  (concatenate((%x, abs(%x), %t.1), axis=0), concatenate(%t, axis=1)) }\n");
  REQUIRE(found.shapes.rows.size() == 3);
  CHECK(found.shapes.rows[0].name.plain() == "data.0");
  CHECK(found.shapes.rows[0].origin.plain() == "parameter `%x`");
  CHECK(found.shapes.rows[1].origin.plain() == "from `abs`");
  CHECK(found.shapes.rows[2].dims == std::vector<std::string>{"4", "5"});
  CHECK(found.shapes.rows[2].marks == std::vector<size_t>{1});
}

TEST_CASE("a call of very many operands has a table of bounded size") {
  std::string fields;
  for (size_t i = 0; i < 3000; ++i)
    fields += i == 2500 ? "%y, " : "%x, ";
  auto found = finding("def @main(%x: Tensor[(3), int32], %y: Tensor[(3, 1), int32]) {\n"
                       "  concatenate((" +
                       fields + "), axis=0) }\n");
  CHECK(!found.shapes.rows.empty());
  CHECK(found.shapes.rows.size() <= typecheck::mostShapeRows);
}

TEST_CASE("expected and found are compared when they are tensors of one rank") {
  lang::TypeContext types;
  const lang::Dim *n = types.symbol("n"), *two = types.constant(2), *three = types.constant(3);
  auto shapes = [](const lang::Type* expected, const lang::Type* found) {
    lang::Diagnostic report{};
    typecheck::showMismatch(report, expected, found);
    return report.shapes.rows;
  };
  const lang::Type* wanted = types.tensor({two, n, types.any()}, runtime::Float32);
  auto rows = shapes(wanted, types.tensor({three, n, two}, runtime::Float64));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name.plain() == "expected");
  CHECK(rows[0].dims == std::vector<std::string>{"2", "n", "?"});
  CHECK(rows[0].marks == std::vector<size_t>{0});
  CHECK(rows[1].name.plain() == "found");
  CHECK(rows[1].dtype.plain() == "float64");
  CHECK(rows[1].marks == std::vector<size_t>{0});
  CHECK(shapes(wanted, types.tensor({two, n, two}, runtime::Float64)).empty());
  CHECK(shapes(wanted, types.tensor({three}, runtime::Float32)).empty());
  CHECK(shapes(types.tuple({}), wanted).empty());
  CHECK(shapes(wanted, types.error()).empty());
}

} // namespace
