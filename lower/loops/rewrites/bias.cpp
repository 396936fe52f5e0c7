// Products with bytes of the other sign: those of int8 made 128 larger, or those of uint8 made 128
// less, where instructions want one of each. What that adds to a sum, 128 times the sum of the
// other factors, is taken off where it starts. Sums wrap, so they are the same to the last bit.
#include "lower/loops/read_form.h"
#include "lower/loops/rewrite.h"
#include "lower/loops/whole_products.h"

#include <fmt/format.h>

namespace loops::rewrites {

void bias(Nest& nest, Arguments arguments) {
  constexpr int64_t apart = 128;
  uint32_t accumulator = findScratch(nest, arguments[0]);
  auto buffer = findBuffer(nest, arguments[1]);
  Products products = productsOf(nest, accumulator);
  auto factors = factorsOf(nest, *products.joiner);
  auto isOf = [&](const Factor& factor) {
    const Operation& load = products.joiner->operations[factor.load];
    return load.buffer == buffer && load.dtype.bits == 8;
  };
  if (!factors || factors->first.less || factors->second.less ||
      (!isOf(factors->first) && !isOf(factors->second)))
    refuse(fmt::format("what is joined is no product of bytes of `{}` with others", arguments[1]));
  auto [own, other] = *factors;
  if (!isOf(own))
    std::swap(own, other);
  bool isSigned = products.joiner->operations[own.load].dtype.isSigned();
  int64_t by = isSigned ? apart : -apart;
  uint32_t sum = addFactorSum(nest, products, other, arguments[0]);
  Statement &maker = *products.maker, &joiner = *products.joiner;
  addToStart(maker, addApply(maker, ScalarFunction::Multiply, sum, addNumber(maker, -by)));
  uint32_t moved = addApply(joiner, ScalarFunction::Add, own.cast, addNumber(joiner, by));
  joiner.stores[0].value = addApply(joiner, ScalarFunction::Multiply, other.cast, moved);
}

} // namespace loops::rewrites
