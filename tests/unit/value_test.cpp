// Values: kinds, sharing, and release that neither recurses nor allocates.
#include "runtime/holdings.h"
#include "runtime/value.h"
#include "tests/unit/allocations.h"

#include <catch2/catch.hpp>

namespace {

using runtime::Tensor;
using runtime::Value;
using runtime::ValueKind;

Value number(int32_t value) {
  return runtime::tensorValue(Tensor::scalar(runtime::Int32, value));
}

} // namespace

TEST_CASE("what values hold is counted", "[value]") {
  runtime::Holdings before = runtime::held();
  {
    Value tensor = runtime::tensorValue(runtime::Tensor(runtime::Float32, {10}));
    Value pair = runtime::tupleValue({tensor, tensor});
    CHECK(runtime::held().values == before.values + 2);
    CHECK(runtime::held().tensorBytes == before.tensorBytes + 40);
  }
  CHECK(runtime::held().values == before.values);
  CHECK(runtime::held().tensorBytes == before.tensorBytes);
  Value cell = runtime::referenceValue({});
  cell.setContent(runtime::tupleValue({cell}));
  CHECK(runtime::held().values == before.values + 2);
  cell.setContent({});
  CHECK(runtime::held().values == before.values + 1);
}

TEST_CASE("values say what they are made of", "[value]") {
  int cons = 0;
  Value list = runtime::symbolValue(ValueKind::Constructor, {&cons, "Cons"},
                                    {number(7), runtime::tupleValue({})});
  CHECK(list.kind() == ValueKind::Constructor);
  CHECK(list.symbol().definition == &cons);
  CHECK(list.symbol().name == "Cons");
  REQUIRE(list.fields().size() == 2);
  CHECK(list.fields()[0].tensor().elements<int32_t>()[0] == 7);
  CHECK(list.fields()[1].kind() == ValueKind::Tuple);
  CHECK(list.fields()[1].fields().empty());
  CHECK(!Value().isSet());
}

TEST_CASE("copies of a reference share its content", "[value]") {
  Value cell = runtime::referenceValue(number(1)), copy = cell;
  copy.setContent(number(2));
  CHECK(cell.content().tensor().elements<int32_t>()[0] == 2);
}

TEST_CASE("a value lives as long as something refers to it", "[value]") {
  auto exact = std::make_shared<int>(3);
  Value inner = runtime::tensorValue(Tensor(), exact);
  {
    Value outer = runtime::tupleValue({inner, inner, runtime::referenceValue(inner)});
    inner = Value();
    CHECK(exact.use_count() == 2);
    Value field = outer.fields()[2].content();
    outer = Value();
    CHECK(exact.use_count() == 2);
    CHECK(field.exact() == exact);
  }
  CHECK(exact.use_count() == 1);
}

TEST_CASE("a long list and a deep tree of shared parts are released without allocation",
          "[value]") {
  Value list = runtime::tupleValue({});
  for (int i = 0; i < 1'000'000; ++i)
    list = runtime::symbolValue(ValueKind::Constructor, {nullptr, "Cons"}, {number(i), list});
  Value tree = list;
  for (int i = 0; i < 100; ++i)
    tree = runtime::tupleValue({tree, tree, runtime::referenceValue(tree)});
  list = Value();
  size_t before = tests::allocations();
  tree = Value();
  CHECK(tests::allocations() == before);
}
