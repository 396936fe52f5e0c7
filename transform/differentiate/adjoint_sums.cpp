// Sums that pull-backs add to: of tensors that are read in parts.
//
// The pull-back of a loop that reads one element of a tensor in each step would make a tensor of
// zeros for each, and add them all up. Instead what the tensor has gathered is handed to whatever
// adds parts to it. Where nothing is gathered there is nothing to hand on, and zeros are made once.
#include "transform/differentiate/adjoint.h"

#include <algorithm>

namespace transform {

using namespace lang;

/// Whether a variable has gathered something when the way back comes to a binding, for what is
/// known: `around` is how many of the bindings around it count.
bool Adjoint::willGather(const Var& var, size_t around) const {
  while (around-- > 0) {
    const Binding* binding = around_[around].binding;
    if (!binding)
      return false;
    if (later_.isUsedBehind(var, *binding))
      return true;
  }
  return std::ranges::count(ownSums_, &var) > 0;
}

/// The parameter of a pull-back that is what a variable outside has gathered.
Var* Adjoint::sumParameter(const Var& var, Way& way) {
  auto& [kept, parameter] = way.sums[var.number];
  if (!parameter) {
    const Type* type = code_.types.cotangent(code_.typing.of(var));
    parameter = code_.make.var(VarOrigin::Parameter, "gathered", type);
  }
  kept = &var;
  return parameter;
}

/// The cell of a tensor that the closure at hand captures and reads in parts, or null.
PartCells::Cell* Adjoint::cellOf(const Var& var) {
  auto isClosure = [](const Around& around) { return around.binding == nullptr; };
  auto closure = std::find_if(around_.rbegin(), around_.rend(), isClosure);
  return closure == around_.rend() ? nullptr : closure->cells->find(var);
}

/// What a variable that is a tensor has gathered so far, or null for zero. It has gathered nothing
/// then. What its cell holds, unless function values may be called meanwhile, is to be put back:
/// the cell is told.
Atom Adjoint::takeSum(const Var& var, bool mayCallFunctions, PartCells::Cell*& cell, Way& way) {
  if (Atom sum = take(var, way).sum)
    return sum;
  auto isPullBack = [](const Around& around) { return around.isPullBack; };
  auto innermost = std::find_if(around_.rbegin(), around_.rend(), isPullBack);
  if (!way.sums.contains(var.number) && willGather(var, size_t(around_.rend() - innermost)))
    return sumParameter(var, way);
  cell = mayCallFunctions ? nullptr : cellOf(var);
  return cell ? takeContent(code_.make, *cell, way.out) : nullptr;
}

/// Adds what a variable has gathered outside if that has not been done.
void Adjoint::addSum(const Var& var, Way& way) {
  if (!way.sums.contains(var.number))
    give(var, {sumParameter(var, way)}, way);
}

/// Which sums the pull-back of a call takes, and says so behind the mask.
void Adjoint::chooseSums(const Global& callee, std::span<const Operand> arguments,
                         std::vector<bool>& mask, Step& step, const Binding& binding) {
  std::vector<bool> takesSum(mask.size());
  for (size_t i = 0; i < mask.size(); ++i) {
    const auto* var = arguments[i].value->as<Var>();
    const Type* type = code_.typeOf(*arguments[i].value);
    takesSum[i] = mask[i] && var && code_.isVaried(*var) && type->isTensor() &&
                  !type->shape.empty() && partReads_.contains(callee, i) &&
                  std::ranges::count(step.sums, var) == 0 &&
                  (later_.isUsedBehind(*var, binding) || willGather(*var, around_.size()) ||
                   (!step.mayCallFunctions && cellOf(*var)));
    if (takesSum[i])
      step.sums.push_back(var);
  }
  if (!step.sums.empty())
    mask.insert(mask.end(), takesSum.begin(), takesSum.end());
}

} // namespace transform
