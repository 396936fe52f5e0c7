// The gradient of a whole program: of the sum of all floats that a global gives, with respect to
// all floats that it takes.
#pragma once

#include "transform/differentiate/adjoint.h"
#include "transform/passes.h"

namespace transform {

/// The parameters of a global that have a gradient: they hold floats, and no functions or
/// references.
std::vector<size_t> parametersWithGradient(const lang::Function& function,
                                           const lang::Typing& typing);

/// The module with one more global, which is last: of the parameters of `entry` it gives the tuple
/// of the value and the tuple of the gradients. What stands in the way is in the findings of the
/// context. The module has no derivatives that are not written out. Where more orders follow and
/// `mayGoForward`, a gradient by one number is written forward, as those are, and in the place of
/// any other one stands the tangent along all ones, for withNextGradient: the global then gives a
/// tuple of one field, the pair of value and tangent.
std::unique_ptr<lang::Module> withEntryGradient(const lang::Module& module,
                                                const PassContext& context, std::string_view entry,
                                                bool mayGoForward);

/// The module with one more global, which is last: of what `gradient` gives, the value and the
/// gradients of the sum of all its gradients. Those of one order are the derivative of those of the
/// order before along all ones, so this is one more step forward; where forward mode does not know
/// the way, it is one backwards. Of a tangent it is the next tangent, and where this `isLast` the
/// gradients of the sum of all floats in it, which are the same: so only one step goes backwards,
/// behind all that go forward, and no pull-back is differentiated again.
std::unique_ptr<lang::Module> withNextGradient(const lang::Module& module,
                                               const PassContext& context,
                                               std::string_view gradient, bool mayGoForward,
                                               bool isLast);

/// Whether a module without derivatives that are still to be written out has rules of its own for
/// some. Nobody knows whether they are derivatives of what they stand for, and of other gradients
/// the order of differentiation counts: the next one is then to be found backwards.
bool hasOwnRules(const lang::Module& module);

/// The module with one more global, which is last: the derivative of a global, of that name with
/// `_grad`, or `_vjp` for a pull-back.
std::unique_ptr<lang::Module> withDerivative(const lang::Module& module, const PassContext& context,
                                             std::string_view global, Reverse kind,
                                             const WithRespectTo& wrt);

/// The module with one more global, which is last: of the parameters of a global and the tangents
/// of those `along` which it goes, behind them, the value and its tangent.
std::unique_ptr<lang::Module> withTangent(const lang::Module& module, const PassContext& context,
                                          std::string_view global,
                                          const std::vector<size_t>& along);

} // namespace transform
