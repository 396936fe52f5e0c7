// Logarithms of probabilities, as they are differentiated.
//
//   log(nn.softmax(%x, axis=1))                  =>    nn.log_softmax(%x, axis=1)
//   nn.cross_entropy(nn.softmax(%x), %y)         =>
//   nn.cross_entropy_with_logits(nn.log_softmax(%x), %y)
//
// A probability that is too small to be told from zero has lost its logarithm, and the derivative
// divides by it; one that is not is divided by itself. So derivatives are made of the operators
// that keep the logarithms. Their numbers are nearer to what the program means than those that it
// gives, and not the same, so this is no simplification.
#pragma once

#include "lang/ir/module.h"
#include "lang/op/op.h"

#include <memory>

namespace stdlib {

std::unique_ptr<lang::Module> withLogarithmsKept(const lang::Module& module,
                                                 const lang::OperatorTable& operators);

} // namespace stdlib
