// A call is looked at when it is met, and so are the steps around it: the calls of constants and
// one value that lead to it and away from it, as long as each has one use.
#include "transform/passes/scale_folds.h"

#include "lang/calls/call_function.h"
#include "lang/ir/walk.h"
#include "lang/op/leaves.h"
#include "lang/op/op.h"
#include "lower/tensor/affine.h"
#include "lower/tensor/factor_paths.h"
#include "transform/analysis/constant_values.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace transform {

using namespace lang;
using runtime::Tensor;
using runtime::Value;

namespace {

/// Factors and summands along one dimension, so far.
struct Affine {
  std::vector<double> factors;
  std::vector<double> summands;
};

/// Calls `visit` with the elements of a tensor of float32 or float64.
template <typename Floats, typename Visit>
auto withFloats(Floats& tensor, Visit&& visit) {
  return tensor.dtype() == runtime::Float64 ? visit(tensor.template elements<double>())
                                            : visit(tensor.template elements<float>());
}

std::vector<double> numbersOf(const Tensor& tensor) {
  return withFloats(
      tensor, [](auto elements) { return std::vector<double>(elements.begin(), elements.end()); });
}

/// The tensor of these numbers, each rounded once; nothing where one is not finite.
std::optional<Tensor> rounded(runtime::DType dtype, runtime::Shape shape,
                              std::span<const double> numbers) {
  Tensor made(dtype, std::move(shape));
  bool areFinite = withFloats(made, [&](auto elements) {
    std::ranges::copy(numbers, elements.begin());
    return std::ranges::all_of(elements, [](auto element) { return std::isfinite(element); });
  });
  return areFinite ? std::optional(std::move(made)) : std::nullopt;
}

/// The weights times factors, which stand along some dimensions; nothing where one of them is no
/// normal number any more.
std::optional<Tensor> scaled(const Tensor& weights, const tensor::FactorPath& path,
                             std::span<const double> factors) {
  size_t inner = 1;
  for (size_t i = path.firstDim + path.dimCount; i < weights.rank(); ++i)
    inner *= size_t(weights.shape()[i]);
  std::vector<double> numbers = numbersOf(weights);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] *= factors[i / inner % factors.size()];
  auto made = rounded(weights.dtype(), weights.shape(), numbers);
  bool areNormal =
      made && withFloats(*made, [&](auto elements) {
        return std::ranges::equal(elements, numbersOf(weights), [](auto element, double before) {
          return std::isnormal(element) || before == 0;
        });
      });
  return areNormal ? std::move(made) : std::nullopt;
}

class Finder {
public:
  Finder(const Module& module, const PassContext& context)
      : typing_(context.typing), engine_(*context.engine), uses_(module),
        values_(module, context.typing, context.operators, engine_), isLearnt_(module.varCount) {
    auto lookAt = [&](const Block& block) {
      for (const Binding& binding : block.bindings)
        look(binding);
    };
    forEachBlockOf(module, lookAt);
  }

  ScaleFolds take() { return {std::move(folds_), std::move(uses_)}; }

private:
  static bool isWideFloat(const Type& type) {
    return type.isTensor() && (type.dtype == runtime::Float32 || type.dtype == runtime::Float64);
  }

  void look(const Binding& binding) {
    const Type* type = typing_.of(*binding.var);
    if (!tensorFunctionRow(*binding.value) || !type || !isWideFloat(*type) ||
        uses_.isConstant(*binding.var) || !isScaled(binding))
      return;
    auto function = functionOf(binding);
    if (!function)
      return;
    const auto& call = static_cast<const Call&>(*binding.value);
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const Type* operand = typing_.of(*call.arguments[i].value);
      if (uses_.isConstant(*call.arguments[i].value) && operand->isTensor() &&
          operand->dtype == type->dtype && foldInto(binding, *function, i))
        return;
    }
  }

  /// Folds what is around a call into weights; false where nothing scales it.
  bool foldInto(const Binding& binding, const tensor::TensorFunction& function, size_t weightsAt) {
    const auto& call = static_cast<const Call&>(*binding.value);
    Value weights = valueOf(*call.arguments[weightsAt].value);
    if (!weights.isSet())
      return false;
    ScaleFold fold{&binding, weightsAt, weights.tensor()};
    const uint32_t input = inputOf(call, weightsAt);
    bool isFolded = false;
    for (const tensor::FactorPath& path : tensor::factorPaths(function, input, 0))
      isFolded = isFolded || foldBehind(fold, path);
    for (size_t i = 0; i < call.arguments.size(); ++i)
      if (stepBefore(call, i))
        for (const auto& trade : tensor::factorTrades(function, inputOf(call, i), input, 0))
          if (fold.before.empty() && foldBefore(fold, i, trade))
            isFolded = true;
    if (isFolded)
      finish(std::move(fold));
    return isFolded;
  }

  /// The first tensor of an operand among those of all.
  uint32_t inputOf(const Call& call, size_t operand) const {
    size_t input = 0;
    for (size_t i = 0; i < operand; ++i)
      input += tensorCount(typing_.of(*call.arguments[i].value));
    return uint32_t(input);
  }

  std::optional<tensor::TensorFunction> functionOf(const Binding& binding) const {
    const auto& call = static_cast<const Call&>(*binding.value);
    return functionOfCall(call, typing_.of(*binding.var), typing_);
  }

  /// Whether there is a call of constants around a call.
  bool isScaled(const Binding& binding) const {
    const auto& call = static_cast<const Call&>(*binding.value);
    bool found = stepBehind(*binding.var) != nullptr;
    for (size_t i = 0; i < call.arguments.size(); ++i)
      found |= stepBefore(call, i) != nullptr;
    return found;
  }

  /// The call of constants that is the only use of a value, or null.
  const Binding* stepBehind(const Var& var) const {
    const Binding* user = uses_.userOf(var);
    return user && isStep(*user) && operandOf(*user) == &var ? user : nullptr;
  }

  /// The call of constants and one value that gives an operand, which has no other use, or null.
  const Binding* stepBefore(const Call& call, size_t operand) const {
    const auto* var = call.arguments[operand].value->as<Var>();
    const Binding* made = var && uses_.userOf(*var) ? uses_.bindingOf(*var) : nullptr;
    const Var* source = made && isStep(*made) ? operandOf(*made) : nullptr;
    return source && typing_.of(*source) == typing_.of(*var) && isWideFloat(*typing_.of(*var))
               ? made
               : nullptr;
  }

  bool isStep(const Binding& binding) const {
    return tensorFunctionRow(*binding.value) && !folded_.contains(&binding);
  }

  /// The one operand of a call that is no constant, or null.
  const Var* operandOf(const Binding& step) const {
    const Var* found = nullptr;
    for (const Operand& operand : static_cast<const Call&>(*step.value).arguments) {
      if (uses_.isConstant(*operand.value))
        continue;
      if (found || operand.value->kind != ExprKind::Var)
        return nullptr;
      found = operand.value->as<Var>();
    }
    return found;
  }

  static Affine nothing(size_t size) {
    return {std::vector<double>(size, 1), std::vector<double>(size, 0)};
  }

  static bool scales(const Affine& affine) {
    return std::ranges::any_of(affine.factors, [](double factor) { return factor != 1; });
  }

  static bool adds(const Affine& affine) {
    return std::ranges::any_of(affine.summands, [](double summand) { return summand != 0; });
  }

  /// Folds what is behind a call; false where nothing scales it.
  bool foldBehind(ScaleFold& fold, const tensor::FactorPath& path) {
    const Type* type = typing_.of(*fold.call->var);
    const Dim* extent = type->shape[path.resultDim];
    if (!extent->isConstant())
      return false;
    Affine whole = nothing(size_t(extent->value));
    std::vector<const Binding*> steps;
    for (const Var* value = fold.call->var; const Binding* step = stepBehind(*value);) {
      const Binding* given = resultOf(*step, type);
      if (!given || !addStep(*step, *value, *given, path.resultDim, whole))
        break;
      steps.push_back(step);
      if (given != step)
        steps.push_back(given);
      value = given->var;
    }
    if (!scales(whole))
      return false;
    std::optional<Tensor> summands;
    if (adds(whole)) {
      runtime::Shape shape(type->shape.size() - path.resultDim, 1);
      shape[0] = int64_t(whole.summands.size());
      summands = rounded(type->dtype, std::move(shape), whole.summands);
      if (!summands)
        return false;
    }
    if (!scale(fold, path, whole))
      return false;
    fold.behind = std::move(steps);
    fold.summands = std::move(summands);
    return true;
  }

  /// Folds factors of another operand. With summands they would not be the same at the border of
  /// what a window slides over.
  bool foldBefore(ScaleFold& fold, size_t operand, const tensor::FactorTrade& trade) {
    size_t count = size_t(fold.weights.shape()[trade.toDim]);
    Affine whole = nothing(count);
    std::vector<const Binding*> steps;
    const Var* source = nullptr;
    const auto* call = fold.call->value->as<Call>();
    for (const Binding* step = stepBefore(*call, operand); step;) {
      Affine next = whole;
      if (!addStep(*step, *operandOf(*step), *step, trade.fromDim, next) || adds(next))
        break;
      whole = std::move(next);
      steps.push_back(step);
      source = operandOf(*step);
      call = step->value->as<Call>();
      auto at = std::ranges::find(call->arguments, source, &Operand::value);
      step = stepBefore(*call, size_t(at - call->arguments.begin()));
    }
    if (!scales(whole) || !scale(fold, {trade.toDim, 1, 0}, whole))
      return false;
    fold.before = std::move(steps);
    fold.source = source;
    return true;
  }

  /// Multiplies weights, if all stay normal numbers.
  static bool scale(ScaleFold& fold, const tensor::FactorPath& path, const Affine& affine) {
    auto made = scaled(fold.weights, path, affine.factors);
    if (made)
      fold.weights = *std::move(made);
    return made.has_value();
  }

  /// Where the result of a call that has the type of its operand is bound: there, or where it is
  /// the one part that is taken of a tuple.
  const Binding* resultOf(const Binding& step, const Type* type) const {
    if (typing_.of(*step.var) == type)
      return &step;
    const Binding* user = typing_.of(*step.var)->isTuple() ? uses_.userOf(*step.var) : nullptr;
    return user && user->value->kind == ExprKind::Project && typing_.of(*user->var) == type
               ? user
               : nullptr;
  }

  bool addStep(const Binding& step, const Var& value, const Binding& given, size_t dim,
               Affine& whole) {
    auto function = functionOf(step);
    if (!function)
      return false;
    const auto* part = given.value->as<Project>();
    size_t result = 0;
    for (uint32_t i = 0; part && i < part->index; ++i)
      result += tensorCount(typing_.of(*step.var)->parts[i]);
    std::vector<Value> inputs;
    uint32_t input = 0;
    for (const Operand& operand : static_cast<const Call&>(*step.value).arguments) {
      if (operand.value == &value) {
        input = uint32_t(inputs.size());
        const Type& type = *typing_.of(value);
        inputs.push_back(runtime::tensorValue({type.dtype, runtime::Shape(type.shape.size(), 0)}));
        continue;
      }
      Value known = valueOf(*operand.value);
      if (!known.isSet() || !appendTensors(known, inputs))
        return false;
    }
    auto parts = tensor::affineParts(*function, input, result, dim);
    auto factors = parts ? computed(std::move(parts->factors), inputs) : std::nullopt;
    auto summands = factors ? computed(std::move(parts->summands), inputs) : std::nullopt;
    if (!summands || factors->size() != whole.factors.size())
      return false;
    for (size_t i = 0; i < factors->size(); ++i) {
      whole.factors[i] *= (*factors)[i];
      whole.summands[i] = whole.summands[i] * (*factors)[i] + (*summands)[i];
    }
    return true;
  }

  std::optional<std::vector<double>> computed(tensor::TensorFunction function,
                                              std::span<const Value> inputs) const {
    std::vector<Value> outputs;
    if (tensor::OwnedKernel(std::move(function), engine_.makeKernel).run(inputs, outputs))
      return std::nullopt;
    return numbersOf(outputs[0].tensor());
  }

  /// The value of an atom that follows from constants, with all that it is made of.
  Value valueOf(const Expr& atom) {
    std::vector<const Expr*> stack{&atom};
    while (!stack.empty()) {
      const auto* var = stack.back()->as<Var>();
      size_t before = stack.size();
      const Binding* binding = var ? uses_.bindingOf(*var) : nullptr;
      if (binding && !isLearnt_[var->number]) {
        auto push = [&](const Expr& operand) {
          if (const auto* other = operand.as<Var>(); other && !isLearnt_[other->number])
            stack.push_back(other);
        };
        if (binding->value->isAtom())
          push(*binding->value);
        forEachOperand(*binding->value, [&](const Operand& operand) { push(*operand.value); });
      }
      if (stack.size() > before)
        continue;
      stack.pop_back();
      if (binding && !isLearnt_[var->number]) {
        values_.learn(*binding);
        isLearnt_[var->number] = true;
      }
    }
    return values_.of(atom);
  }

  void finish(ScaleFold fold) {
    const auto& call = static_cast<const Call&>(*fold.call->value);
    uses_.forget(*call.arguments[fold.weightsAt].value);
    for (const auto* steps : {&fold.behind, &fold.before})
      for (const Binding* step : *steps) {
        folded_.insert(step);
        forEachOperand(*step->value, [&](const Operand& operand) { uses_.forget(*operand.value); });
      }
    folds_.push_back(std::move(fold));
  }

  const Typing& typing_;
  const tensor::TensorEngine& engine_;
  ConstantUses uses_;
  std::vector<ScaleFold> folds_;
  /// Steps of folds.
  std::unordered_set<const Binding*> folded_;
  ConstantValues values_;
  std::vector<bool> isLearnt_;
};

} // namespace

ScaleFolds scaleFolds(const Module& module, const PassContext& context) {
  return Finder(module, context).take();
}

} // namespace transform
