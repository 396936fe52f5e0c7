// What tensor functions ask of a machine, counted by hand.
#include "lower/tensor/demand.h"
#include "lower/tensor/read.h"

#include <catch2/catch.hpp>

namespace {

/// Of a text as tensorFunctionText() writes it.
tensor::Demand demandOf(const char* text, std::vector<int64_t> extents) {
  auto function = tensor::tensorFunctionOf(text);
  INFO((function ? "" : function.failure().text));
  REQUIRE(function);
  return tensor::demandOf(*function, extents);
}

} // namespace

TEST_CASE("a product asks for two operations for each product, and for its tensors once") {
  tensor::Demand demand = demandOf("size n0: dimension 0 of input 0\n"
                                   "t0(n0, 8): float32 = input\nt1(4, 8): float32 = input\n"
                                   "t2[i0 < n0, i1 < 4]: float32 = "
                                   "sum[i2 < 8](t0[i0, i2] * t1[i1, i2])\n"
                                   "t3[i3 < n0, i4 < 4]: float32 = tanh(t2[i3, i4])\nresult t3\n",
                                   {16, 8, 4, 8, 16, 4});
  CHECK(demand.narrow == 2 * 16 * 4 * 8 + 16 * 4);
  CHECK(demand.wide == 0);
  CHECK(demand.bytes == 4 * (16 * 8 + 4 * 8 + 16 * 4));
}

TEST_CASE("rows that are taken are what is read of a table") {
  tensor::Demand demand = demandOf("t0(1000, 8): float64 = input\nt1(5): int64 = input\n"
                                   "t2[i0 < 5, i1 < 8]: float64 = t0[t1[i0], i1] + t0[t1[i0], i1]\n"
                                   "result t2\n",
                                   {1000, 8, 5, 5, 8});
  CHECK(demand.narrow == 0);
  CHECK(demand.wide == 5 * 8);
  CHECK(demand.bytes == 8 * (5 * 8) + 8 * 5 + 8 * 5 * 8);
}
