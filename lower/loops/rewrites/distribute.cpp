// Products of elements alone, where something that is one for all is taken off them, such as the
// zero points of quantised tensors: (x - p) (w - q) is x w, and what is left of it is a sum of x,
// one of w and a number, which a sum of products starts with. Sums wrap, so they are the same to
// the last bit.
#include "lower/loops/rewrite.h"
#include "lower/loops/whole_products.h"

#include <fmt/format.h>

namespace loops::rewrites {

namespace {

/// Takes a sum of factors, times what is taken off the other one, off where products start.
void takeOff(Nest& nest, Products& products, const Factor& factor, const Operation& less,
             const std::string& name) {
  uint32_t sum = addFactorSum(nest, products, factor, name);
  Statement& maker = *products.maker;
  uint32_t times = addApply(maker, ScalarFunction::Multiply, sum, addOperation(maker, less));
  addToStart(maker, addApply(maker, ScalarFunction::Subtract, addNumber(maker, 0), times));
}

} // namespace

void distribute(Nest& nest, Arguments arguments) {
  Products products = productsOf(nest, findScratch(nest, arguments[0]));
  auto factors = factorsOf(nest, *products.joiner);
  if (!factors || (!factors->first.less && !factors->second.less))
    refuse("what is joined is no product of bytes from which something is taken off");
  auto [first, second] = *factors;
  const std::vector<Operation> operations = products.joiner->operations;
  for (const Factor& factor : {first, second})
    if (!operations[factor.load].operands.empty())
      refuse("what counts outside is not what is read less that");
  if (second.less)
    takeOff(nest, products, first, operations[*second.less], arguments[0]);
  if (first.less)
    takeOff(nest, products, second, operations[*first.less], arguments[0]);
  Statement &maker = *products.maker, &joiner = *products.joiner;
  if (first.less && second.less) {
    Form count = nest.table.number(1);
    for (const Loop& loop : products.summed)
      count = nest.table.product(count, loop.end);
    uint32_t number = addOperation(
        maker, {.kind = OperationKind::Position, .dtype = runtime::Int64, .position = count});
    uint32_t both =
        addApply(maker, ScalarFunction::Multiply, addOperation(maker, operations[*first.less]),
                 addOperation(maker, operations[*second.less]));
    addToStart(maker, addApply(maker, ScalarFunction::Multiply, both,
                               addCast(maker, number, runtime::Int32)));
  }
  joiner.stores[0].value = addApply(joiner, ScalarFunction::Multiply, first.cast, second.cast);
}

} // namespace loops::rewrites
