// Dimensions: their normal form, and what the checker makes of named ones.
#include "lang/op/relation.h"
#include "tests/unit/checked_program.h"

namespace {

using lang::Dim;
using lang::DimMatch;

struct Case {
  std::string text;
  std::string result;
};

std::string typeOrErrors(const std::string& text) {
  tests::CheckedProgram program(text);
  if (program.isGood())
    return program.typeOfMain();
  std::string result;
  for (const std::string& error : program.errors())
    result += (result.empty() ? "" : "; ") + error;
  return result;
}

} // namespace

TEST_CASE("forms have one spelling", "[dims]") {
  lang::TypeContext types;
  const Dim *n = types.symbol("n"), *m = types.symbol("m"), *one = types.constant(1);
  const Dim* two = types.constant(2);
  CHECK(types.add(n, m) == types.add(m, n));
  CHECK(types.multiply(n, m) == types.multiply(m, n));
  CHECK(types.subtract(types.add(n, m), m) == n);
  const Dim* square = types.multiply(types.add(n, one), types.add(n, one));
  CHECK(lang::dimText(square) == "2 * n + n * n + 1");
  CHECK(types.floorDivide(types.multiply(two, n), 2) == n);
  CHECK(lang::dimText(types.floorDivide(types.add(n, types.constant(3)), 2)) == "(n + 1) / 2 + 1");
  CHECK(types.floorDivide(types.floorDivide(n, 2), 3) == types.floorDivide(n, 6));
  CHECK(types.floorDivide(types.subtract(one, two), 2) == types.constant(-1));
  const Dim* huge = types.constant(INT64_MAX);
  CHECK(types.add(huge, one)->isAny());
  CHECK(types.multiply(types.add(n, huge), two)->isAny());
  const Dim* power = n;
  for (int i = 0; i < 100; ++i)
    power = types.multiply(power, types.add(n, m));
  CHECK(power->isAny());
}

TEST_CASE("forms over all sizes", "[dims]") {
  lang::TypeContext types;
  const Dim *n = types.symbol("n"), *m = types.symbol("m");
  auto plus = [&](const Dim* dim, int64_t value) { return types.add(dim, types.constant(value)); };
  CHECK(lang::matchDims(n, n) == DimMatch::Same);
  CHECK(lang::matchDims(n, m) == DimMatch::Different);
  CHECK(lang::matchDims(n, types.constant(5)) == DimMatch::Different);
  CHECK(lang::matchDims(n, types.any()) == DimMatch::Maybe);
  CHECK(lang::matchDims(types.multiply(types.floorDivide(n, 2), types.constant(2)), n) ==
        DimMatch::Maybe);
  CHECK(lang::matchDims(types.floorDivide(n, 2), n) == DimMatch::Different);
  CHECK(lang::matchDims(types.floorDivide(plus(n, 1), 2), types.floorDivide(n, 2)) ==
        DimMatch::Maybe);
  CHECK(lang::matchDims(types.floorDivide(types.multiply(n, m), 6), types.multiply(n, m)) ==
        DimMatch::Different);
  CHECK(lang::isAtLeast(plus(n, 3), 3));
  CHECK_FALSE(lang::isAtLeast(plus(n, -1), 0));
  CHECK_FALSE(lang::isAtLeast(types.subtract(n, m), 0));
  CHECK(lang::isAtLeast(types.floorDivide(plus(n, 2), 2), 1));
}

TEST_CASE("forms of hundreds of terms", "[dims]") {
  lang::TypeContext types;
  const Dim *sum = types.constant(0), *product = types.constant(1);
  for (int i = 0; i < 200; ++i)
    sum = types.add(sum, types.symbol("s" + std::to_string(i)));
  CHECK(sum->terms.size() == 200);
  for (int i = 0; i < 7; ++i)
    product = types.multiply(product, types.add(types.symbol("p" + std::to_string(i)),
                                                types.symbol("q" + std::to_string(i))));
  CHECK(product->terms.size() == 128);
  CHECK(types.longForms() == 0);
  CHECK(types.multiply(sum, product)->isAny());
  CHECK(types.longForms() == 1);
  CHECK(types.add(types.constant(INT64_MAX), types.constant(1))->isAny());
  CHECK(types.longForms() == 1);
  // Every quotient holds the one before it twice, so written out they are long.
  const Dim* nested = types.symbol("n");
  for (int i = 0; i < 60 && !nested->isAny(); ++i)
    nested = types.floorDivide(types.add(nested, types.multiply(nested, types.symbol("m"))), 3);
  CHECK(nested->isAny());
}

TEST_CASE("sizes do not tell in how many bits they count", "[dims]") {
  lang::TypeContext types;
  const Dim *four = types.constant(4), *n = types.symbol("n");
  const lang::Type* plain = types.tensor({four, n}, runtime::Float32);
  const Dim* extents[] = {four, n};
  const lang::Type* wide = types.tensor(extents, runtime::Float32, true);
  CHECK(plain != wide);
  CHECK(wide->shape[0] == plain->shape[0]);
  CHECK(lang::countsIn64Bits(*wide));
  CHECK_FALSE(lang::countsIn64Bits(*plain));
  // Where no text could tell it, it is not there.
  CHECK(types.tensor(std::span(extents).last(1), runtime::Float32, true) ==
        types.tensor({n}, runtime::Float32));
  const Dim* large = types.constant(int64_t(1) << 31);
  CHECK(types.tensor(std::span(&large, 1), runtime::Float32, true) ==
        types.tensor({large}, runtime::Float32));
}

TEST_CASE("substitution evaluates", "[dims]") {
  lang::TypeContext types;
  const Dim *n = types.symbol("n"), *m = types.symbol("m");
  const Dim* form =
      types.add(types.floorDivide(types.add(types.multiply(n, m), types.constant(1)), 2),
                types.multiply(types.constant(3), n));
  auto numbers = [&](const Dim* dim) { return types.constant(dim == n ? 5 : 4); };
  CHECK(types.substitute(form, numbers) == types.constant((5 * 4 + 1) / 2 + 15));
  auto swapped = [&](const Dim* dim) { return dim == n ? m : n; };
  CHECK(types.substitute(types.substitute(form, swapped), swapped) == form);
}

TEST_CASE("named dimensions are inferred, instantiated and compared", "[dims]") {
  const std::string cat = "def @cat(%x: Tensor[(n, 3), float32], %y: Tensor[(m, 3), float32]) { "
                          "concatenate((%x, %y)) } ";
  const std::string conv =
      "def @conv(%x: Tensor[(n, 3, h, w), float32], %k: Tensor[(8, 3, 3, 3), float32]) { "
      "nn.conv2d(%x, %k, padding=[0, 0, 0, 0], kernel_size=[3, 3]) } ";
  const Case cases[] = {
      {"def @main(%x: Tensor[(n, k), float32], %w: Tensor[(m, k), float32]) "
       "{ nn.dense(%x, %w, units=None) }",
       "fn (Tensor[(n, k), float32], Tensor[(m, k), float32]) -> Tensor[(n, m), float32]"},
      {cat + "def @main(%a: Tensor[(2, 3), float32]) { (@cat(%a, %a), @cat(@cat(%a, %a), %a)) }",
       "fn (Tensor[(2, 3), float32]) -> (Tensor[(4, 3), float32], Tensor[(6, 3), float32])"},
      {cat + "def @main(%a: Tensor[(k, 3), float32]) { @cat(@cat(%a, %a), %a) }",
       "fn (Tensor[(k, 3), float32]) -> Tensor[(3 * k, 3), float32]"},
      {cat + "def @main(%a: Tensor[(?, 3), float32], %b: Tensor[(2, 3), float32]) { @cat(%a, %b) }",
       "fn (Tensor[(?, 3), float32], Tensor[(2, 3), float32]) -> Tensor[(?, 3), float32]"},
      {cat + "def @main(%a: Tensor[(4, 5), float32], %b: Tensor[(4, 3), float32]) { @cat(%a, %b) }",
       "argument-mismatch at %a #2"},
      {"def @main(%x: Tensor[(n, c, h, w), float32]) { nn.batch_flatten(%x) }",
       "fn (Tensor[(n, c, h, w), float32]) -> Tensor[(n, c * h * w), float32]"},
      {"def @main(%x: Tensor[(2 * n, 3), float32]) { split(%x, indices_or_sections=2).0 }",
       "fn (Tensor[(2 * n, 3), float32]) -> Tensor[(n, 3), float32]"},
      {"def @odd(%x: Tensor[(2 * n + 1), float32]) { %x } "
       "def @main(%x: Tensor[(5), float32]) { @odd(%x) }",
       "fn (Tensor[(5), float32]) -> Tensor[(5), float32]"},
      {"def @odd(%x: Tensor[(2 * n + 1), float32]) { %x } "
       "def @main(%y: Tensor[(4), float32]) { @odd(%y) }",
       "argument-mismatch at %y #2"},
      {"def @main(%x: Tensor[(n), float32]) -> Tensor[(5), float32] { %x }",
       "result-mismatch at %x #2"},
      {"def @main(%x: Tensor[(n), float32]) -> Tensor[(m), float32] { %x }",
       "result-mismatch at %x #2"},
      {"def @main(%x: Tensor[(n), float32], %y: Tensor[(m), float32]) { %x + %y }",
       "operator-mismatch at %x + %y"},
      {"def @main(%x: Tensor[(n), float32], %y: Tensor[(?), float32]) { %x + %y }",
       "fn (Tensor[(n), float32], Tensor[(?), float32]) -> Tensor[(?), float32]"},
      {"def @main(%x: Tensor[(n + 2), float32], %y: Tensor[(?), float32]) { %x + %y }",
       "fn (Tensor[(n + 2), float32], Tensor[(?), float32]) -> Tensor[(n + 2), float32]"},
      {"def @f(%x: Tensor[(m), float32]) { fn (%y: Tensor[(m - 2), float32]) { %y } } "
       "def @main(%x: Tensor[(1), float32]) { @f(%x); 1 }",
       "dimension-bound at @f(%x)"},
      {"def @half(%x: Tensor[(n), float32]) { split(%x, indices_or_sections=2).0 } "
       "def @main(%x: Tensor[(7), float32]) { @half(%x) }",
       "dimension-multiple at @half(%x)"},
      {"def @half(%x: Tensor[(n), float32]) { split(%x, indices_or_sections=2).0 } "
       "def @main(%x: Tensor[(6 * k), float32]) { @half(%x) }",
       "fn (Tensor[(6 * k), float32]) -> Tensor[(3 * k), float32]"},
      {"def @main(%x: Tensor[(_, 3), float32]) -> Tensor[(4, 3), float32] { %x }",
       "fn (Tensor[(4, 3), float32]) -> Tensor[(4, 3), float32]"},
      {"def @f[k](%x: Tensor[(k), float32]) { concatenate((%x, %x)) } "
       "def @main(%x: Tensor[(3), float32]) { @f(@f(%x)) }",
       "fn (Tensor[(3), float32]) -> Tensor[(12), float32]"},
      {"def @main(%x: Tensor[(n), float32]) { "
       "let %f = fn [k](%y: Tensor[(k), float32]) { concatenate((%x, %y)) }; %f(%f(%x)) }",
       "fn (Tensor[(n), float32]) -> Tensor[(3 * n), float32]"},
      {"def @main[n](%x: n, %y: Tensor[(n), float32]) { %x }", "kind-mismatch at n #5"},
      {"def @f(%x: Tensor[(n), float32], %i: int32) -> float32 { "
       "if (%i == 0) { 1f } else { @f(concatenate((%x, %x)), %i - 1) } } "
       "def @main(%x: Tensor[(3), float32]) { @f(%x, 2) }",
       "fn (Tensor[(3), float32]) -> float32"},
      {conv + "def @main(%x: Tensor[(1, 3, 1, 9), float32], %k: Tensor[(8, 3, 3, 3), float32]) "
              "{ @conv(%x, %k) }",
       "dimension-bound at @conv(%x, %k)"},
      {conv + "def @g(%x: Tensor[(1, 3, a, b), float32], %k: Tensor[(8, 3, 3, 3), float32]) "
              "{ @conv(%x, %k) } "
              "def @main(%x: Tensor[(1, 3, 9, 1), float32], %k: Tensor[(8, 3, 3, 3), float32]) "
              "{ @g(%x, %k) }",
       "dimension-bound at @g(%x, %k)"},
      {"type Layer { Layer(Tensor[(m, n), float32], Tensor[(m), float32]) } "
       "def @main(%l: Layer[]) { match (%l) { Layer(%w, %b) => %w } }",
       "fn (Layer[]) -> Tensor[(?, ?), float32]"},
      {"type Layer { Layer(Tensor[(m, n), float32], Tensor[(m), float32]) } "
       "def @main(%w: Tensor[(2, 3), float32], %b: Tensor[(3), float32]) { Layer(%w, %b) }",
       "argument-mismatch at %b #2"},
  };
  for (const Case& item : cases) {
    INFO(item.text);
    CHECK(typeOrErrors(item.text) == item.result);
  }
}

TEST_CASE("products of matrices keep the names of their dimensions", "[dims]") {
  const std::string cube = "%x: Tensor[(b, 1, n, k), float32]";
  const Case cases[] = {
      {"def @main(" + cube + ", %y: Tensor[(h, m, k), float32]) { " +
           "matmul(%x, matrix_transpose(%y)) }",
       "fn (Tensor[(b, 1, n, k), float32], Tensor[(h, m, k), float32]) -> "
       "Tensor[(b, h, n, m), float32]"},
      {"def @main(%x: Tensor[(k), float32], %y: Tensor[(?, k, m), float32]) { matmul(%x, %y) }",
       "fn (Tensor[(k), float32], Tensor[(?, k, m), float32]) -> Tensor[(?, m), float32]"},
      {"def @main(" + cube + ", %y: Tensor[(?), float32]) { matmul(%x, %y) }",
       "fn (Tensor[(b, 1, n, k), float32], Tensor[(?), float32]) -> "
       "Tensor[(b, 1, n), float32]"},
      {"def @main(" + cube + ", %y: Tensor[(m), float32]) { matmul(%x, %y) }",
       "operator-mismatch at matmul(%x, %y)"},
      {"def @main(" + cube + ", %y: Tensor[(h, 3, k, n), float32]) { matmul(%x, %y) }",
       "operator-mismatch at matmul(%x, %y)"},
  };
  for (const Case& item : cases) {
    INFO(item.text);
    CHECK(typeOrErrors(item.text) == item.result);
  }
}
