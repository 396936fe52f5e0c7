// Logarithms of probabilities as they are differentiated: log(nn.softmax(%x)) becomes one operator,
// whose derivative does not divide by a probability that is too small to be told from zero.
//
// The numbers are nearer to what the program means than those that it gives, and not the same; so
// this is for the way to derivatives alone. Which operators do so is known where they live.
#include "transform/analysis/placement.h"
#include "transform/passes.h"

namespace transform {

std::unique_ptr<lang::Module> keepLogarithms(const lang::Module& module,
                                             const PassContext& context) {
  if (!context.keepLogarithms)
    return nullptr;
  auto made = context.keepLogarithms(module, context.operators);
  return place(*made, context.operators);
}

} // namespace transform
