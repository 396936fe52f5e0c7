// Programs in Baton's notation: what is written for the parts of Relay's text that it says
// otherwise, and that all of it reads back.
#include "lang/source/layout.h"
#include "parser/baton/write.h"
#include "parser/format/format.h"
#include "parser/metadata/metadata.h"
#include "parser/restore/restore.h"
#include "stdlib/ops.h"
#include "tests/harness/reader.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace {

using parser::surface::Notation;

std::string relayOf(const harness::ReadText& read) {
  return parser::wholeText(lang::printModule(*read.module, stdlib::operatorTable()));
}

std::string ownOf(const harness::ReadText& read) {
  lang::Arena arena;
  parser::Restored own =
      parser::restore(arena, *read.module, stdlib::operatorTable(), &read.typing);
  return parser::wholeText({parser::format::laidOut(parser::baton::write(*own.file)),
                            std::move(own.metadata), own.needsMetadata});
}

/// Relay's text of one or more definitions in Baton's notation. It has been read back.
std::string inOwn(const std::string& text) {
  lang::TypeContext types;
  harness::Reader reader(types);
  auto read = reader.read("#[version = \"0.0.5\"]\n" + text);
  INFO(reader.errorText(read));
  REQUIRE(read.isGood());
  std::string own = ownOf(read);
  auto again = reader.read(own, true, Notation::Baton);
  INFO(own << reader.errorText(again));
  REQUIRE(again.isGood());
  REQUIRE(relayOf(again) == relayOf(read));
  return own;
}

/// The value of `@main` with these parameters.
std::string value(const std::string& parameters, const std::string& body) {
  std::string own = inOwn("def @main(" + parameters + ") { " + body + " }");
  size_t begin = own.find(" =");
  REQUIRE(begin != own.npos);
  return own.substr(begin + 3, own.size() - begin - 4);
}

constexpr const char* numbers = "%x: Tensor[(2), float32], %y: Tensor[(2), float32]";

} // namespace

TEST_CASE("brackets stand where the grammar needs them", "[own_notation]") {
  CHECK(value(numbers, "%x + %y * %x") == "x + y * x");
  CHECK(value(numbers, "(%x + %y) * %x") == "(x + y) * x");
  CHECK(value(numbers, "%x - (%y - %x)") == "x - (y - x)");
  CHECK(value(numbers, "%x - %y - %x") == "x - y - x");
  CHECK(value(numbers, "negative(%x * %y)") == "-(x * y)");
  CHECK(value(numbers, "negative(power(%x, %y))") == "-x ** y");
  CHECK(value(numbers, "power(negative(%x), %y)") == "(-x) ** y");
  CHECK(value(numbers, "power(%x, negative(%y))") == "x ** (-y)");
  CHECK(value(numbers, "power(power(%x, %y), power(%x, %y))") == "(x ** y) ** x ** y");
  CHECK(value(numbers, "negative(negative(%x))") == "-(-x)");
  CHECK(value(numbers, "logical_not((%x < %y) == (%y < %x))") == "!((x < y) == (y < x))");
  CHECK(value(numbers, "nn.relu(%x - %y)") == "relu(x - y)");
}

TEST_CASE("numbers have their types where their use does not tell them", "[own_notation]") {
  CHECK(value("%x: int64", "%x + 1i64") == "x + 1");
  CHECK(value("%x: float64", "0.5f64 * %x") == "0.5 * x");
  CHECK(value("%x: float32", "%x - -2f") == "x - -2.0");
  CHECK(value("", "(1, 1i64, 2f, 2f64, 0.1f16, True)") == "(1, 1i64, 2.0, 2.0f64, 0.1f16, true)");
  CHECK(value("", "negative(2)") == "negative(2)");
  CHECK(value("", "(inff, -inff, 3e+38f)") == "(inf, -inf, 3e+38)");
  CHECK(value("", "-2147483648") == "-2147483648");
  CHECK(value("", "[[1i64, 2i64], [3i64, -4i64]]") == "[[1i64, 2], [3, -4]]");
  CHECK(value("%x: float64", "one_at(4i64, 5)") == "one_at(4i64, 5i32)");
  CHECK(value("%x: Tensor[(3), int64]", "one_at((3,).0, 2i64)") == "one_at((3i32,).0, 2i64)");
}

TEST_CASE("attributes are arguments without their defaults", "[own_notation]") {
  const char* image = "%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]";
  CHECK(value(image, "nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1])") ==
        "conv2d(x, w, strides = 2, padding = [1, 1, 1, 1])");
  CHECK(value(image, "cast(%x, dtype=\"float16\")") == "cast(x, dtype = f16)");
  CHECK(value(image, "concatenate((%x, %x), axis=1)") == "concatenate([x, x], axis = 1)");
  CHECK(value("%f32: float32", "cast(%f32, dtype=\"float32\")") ==
        "cast(f32, dtype = \"float32\")");
}

TEST_CASE("names are kept where the notation can hold them", "[own_notation]") {
  CHECK(value("%mean: Tensor[(2), float32]", "mean(%mean)") == "ops.mean(mean)");
  CHECK(value("%test: float32, %with: float32", "%test + %with") == "`test` + `with`");
  CHECK(inOwn("def @conv/1(%x: float32) { %x }\ndef @main(%x: float32) { @conv/1(%x) }") ==
        "def `conv/1`(x: f32) = x\n\ndef main(x: f32) = `conv/1`(x)\n");
  CHECK(inOwn("def @exp(%x: float32) { exp(%x) }\ndef @main(%x: float32) { @exp(%x) }") ==
        "def exp(x: f32) = ops.exp(x)\n\ndef main(x: f32) = exp(x)\n");
  CHECK(value("", "@sum(Nil)") == "prelude.sum(Nil)");
}

TEST_CASE("what is used twice has no place of its own", "[own_notation]") {
  CHECK(inOwn("def @main(%x: float32) { %0 = exp(%x); %0 + %0 }") ==
        "def main(x: f32) {\n  lazy x1 = exp(x);\n  x1 + x1\n}\n");
  CHECK(inOwn("def @main(%x: float32) { let %y = exp(%x); let %z = %y; %z + %y }") ==
        "def main(x: f32) {\n  let y = exp(x);\n  let z = y;\n  z + y\n}\n");
}

TEST_CASE("every operator has a name", "[own_notation]") {
  lang::TypeContext types;
  harness::Reader reader(types);
  for (const lang::OperatorRow* row : stdlib::operatorTable().all()) {
    auto read =
        reader.read(fmt::format("#[version = \"0.0.5\"]\ndef @main() {{ {} }}", row->name), false);
    if (!read.isGood())
      continue;
    std::string own = ownOf(read);
    auto again = reader.read(own, false, Notation::Baton);
    INFO(own);
    REQUIRE(again.isGood());
    CHECK(relayOf(again) == relayOf(read));
  }
}

TEST_CASE("groups are broken where they are too wide", "[own_notation]") {
  auto listed = [](size_t width) {
    lang::Layout layout;
    layout.text("f(");
    layout.openHugging();
    layout.indent();
    layout.softLine();
    layout.text("first,");
    layout.line();
    layout.text("second");
    layout.dedent();
    layout.softLine();
    layout.close();
    layout.text(")");
    return layout.render(width);
  };
  CHECK(listed(16) == "f(first, second)");
  CHECK(listed(15) == "f(\n  first,\n  second\n)");
}

TEST_CASE("programs may be long and deep", "[own_notation]") {
  std::string sum = "%x", nest = "%x", lets;
  for (int i = 0; i < 20000; ++i)
    sum += " + %x";
  for (int i = 0; i < 1900; ++i)
    nest = "if (%c) { " + nest + " } else { %x }";
  for (int i = 0; i < 10000; ++i)
    lets += fmt::format("let %v{} = exp({});\n", i, i > 0 ? fmt::format("%v{}", i - 1) : "%x");
  inOwn("def @main(%x: float32) { " + sum + " }");
  inOwn("def @main(%x: float32, %c: bool) { " + nest + " }");
  inOwn("def @main(%x: float32) { " + lets + " %v9999 }");
}
