// Folding of scales: factors and summands of constants behind a convolution, or another sum of
// products with constant weights, go into the weights and one summand, and factors before it into
// the weights.
//
//   %0 = nn.conv2d(%x, [[[[1f]], [[2f]]], [[[3f]], [[4f]]]]);
//   %1 = nn.batch_norm(%0, [6f, 3f], [1f, 0f], [0f, 4f], [9f, 9f], epsilon=0f);
//   %1.0
// =>
//   %0 = nn.conv2d(%x, [[[[2f]], [[4f]]], [[[3f]], [[4f]]]]);
//   %0 + [[[1f]], [[-4f]]]
//
// Which factors go through, and what is a factor and a summand, is read off the tensor functions
// (lower/tensor/factor_paths.h, lower/tensor/affine.h); no operator says it of itself. All that is
// put in is computed here, so nothing is done where weights or statistics come with the run.
//
// Floats are rounded otherwise: each weight once more, as each of its products was, and the
// summands once. A mean that is taken off behind the weights cancels where the result is far below
// it; but there the subtraction loses as much, or the sum itself, whose terms are as large. So the
// error keeps its bound but for a small factor. A weight that would be no normal number stays, and
// with it all of the fold: it would overflow, or lose digits, where the result does not. What
// overflowed on the way alone may be finite now.
#include "lang/calls/call_function.h"
#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "lang/op/leaves.h"
#include "lower/tensor/affine.h"
#include "lower/tensor/factor_paths.h"
#include "transform/analysis/constant_uses.h"
#include "transform/analysis/constant_values.h"
#include "transform/analysis/effects.h"
#include "transform/analysis/placement.h"
#include "transform/passes.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace transform {

using namespace lang;
using runtime::Tensor;
using runtime::Value;

namespace {

/// A call whose weights change, and the values around it that go with that.
struct Fold {
  const Binding* call;
  size_t weightsAt;
  Tensor weights;
  /// Values behind the call: the first is used by the second, and so on; the last one is what the
  /// call gives, plus the summands.
  std::vector<const Binding*> behind = {};
  std::optional<Tensor> summands = {};
  /// Values before it: the call uses the first, that the second, and so on, and the last `source`,
  /// which takes their place.
  std::vector<const Binding*> before = {};
  const Var* source = nullptr;
};

/// Factors and summands along one dimension, so far.
struct Affine {
  std::vector<double> factors;
  std::vector<double> summands;
};

std::vector<double> numbersOf(const Tensor& tensor) {
  auto list = [](auto elements) { return std::vector<double>(elements.begin(), elements.end()); };
  return tensor.dtype() == runtime::Float64 ? list(tensor.elements<double>())
                                            : list(tensor.elements<float>());
}

/// The tensor of these numbers, each rounded once; nothing where one is not finite.
template <typename Float>
std::optional<Tensor> rounded(runtime::DType dtype, runtime::Shape shape,
                              std::span<const double> numbers) {
  Tensor made(dtype, std::move(shape));
  std::ranges::transform(numbers, made.elements<Float>().begin(),
                         [](double number) { return Float(number); });
  bool areFinite = std::ranges::all_of(made.elements<Float>(),
                                       [](Float number) { return std::isfinite(number); });
  return areFinite ? std::optional(std::move(made)) : std::nullopt;
}

/// The weights times factors, which stand along some dimensions; nothing where one of them is no
/// normal number any more.
template <typename Float>
std::optional<Tensor> scaled(const Tensor& weights, const tensor::FactorPath& path,
                             std::span<const double> factors) {
  Tensor made(weights.dtype(), weights.shape());
  size_t inner = 1;
  for (size_t i = path.firstDim + path.dimCount; i < weights.rank(); ++i)
    inner *= size_t(weights.shape()[i]);
  auto from = weights.elements<Float>();
  auto to = made.elements<Float>();
  for (size_t i = 0; i < from.size(); ++i) {
    to[i] = Float(double(from[i]) * factors[i / inner % factors.size()]);
    if (!std::isnormal(to[i]) && from[i] != 0)
      return std::nullopt;
  }
  return made;
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

  std::vector<Fold> folds;

  /// Whether a variable is a constant that only what was folded used.
  bool isUnneeded(const Var& var) const { return uses_.isForgotten(var); }

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
    Fold fold{&binding, weightsAt, weights.tensor()};
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
  bool foldBehind(Fold& fold, const tensor::FactorPath& path) {
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
      summands = type->dtype == runtime::Float64
                     ? rounded<double>(type->dtype, shape, whole.summands)
                     : rounded<float>(type->dtype, shape, whole.summands);
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
  bool foldBefore(Fold& fold, size_t operand, const tensor::FactorTrade& trade) {
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
  static bool scale(Fold& fold, const tensor::FactorPath& path, const Affine& affine) {
    auto made = fold.weights.dtype() == runtime::Float64
                    ? scaled<double>(fold.weights, path, affine.factors)
                    : scaled<float>(fold.weights, path, affine.factors);
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
    if (engine_.compile(std::move(function)).run(inputs, outputs))
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

  void finish(Fold fold) {
    const auto& call = static_cast<const Call&>(*fold.call->value);
    uses_.forget(*call.arguments[fold.weightsAt].value);
    for (const auto* steps : {&fold.behind, &fold.before})
      for (const Binding* step : *steps) {
        folded_.insert(step);
        forEachOperand(*step->value, [&](const Operand& operand) { uses_.forget(*operand.value); });
      }
    folds.push_back(std::move(fold));
  }

  const Typing& typing_;
  const tensor::TensorEngine& engine_;
  ConstantUses uses_;
  /// Steps of folds.
  std::unordered_set<const Binding*> folded_;
  ConstantValues values_;
  std::vector<bool> isLearnt_;
};

class ScaleFolder : public Rewriter {
public:
  ScaleFolder(const Module& from, Builder& into, const Finder& found)
      : Rewriter(from, into), found_(found) {
    for (const Fold& fold : found.folds) {
      byCall_.emplace(fold.call, &fold);
      for (const Binding* step : fold.behind)
        byStep_[step] = {};
      for (const Binding* step : fold.before)
        byStep_[step] = {};
      if (!fold.behind.empty())
        byStep_[fold.behind.back()] = {fold.call->var, fold.summands ? &*fold.summands : nullptr};
      if (!fold.before.empty())
        byStep_[fold.before.front()] = {fold.source};
    }
  }

private:
  /// What a step becomes: nothing, or a value, plus summands.
  struct Step {
    const Var* value = nullptr;
    const Tensor* summands = nullptr;
  };

  Fate enter(const Binding& binding) override {
    if (auto call = byCall_.find(&binding); call != byCall_.end())
      openCall(*binding.value->as<Call>(), *call->second);
    auto step = byStep_.find(&binding);
    if (step == byStep_.end())
      return found_.isUnneeded(*binding.var) ? Fate::Drop : Fate::Copy;
    return step->second.value ? Fate::Splice : Fate::Drop;
  }

  const Block& spliced(const Binding& binding, BlockBuilder&) override {
    return *arena_.make<Block>(std::span<const Binding>(),
                               Operand{byStep_.at(&binding).value, binding.value->range});
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    if (auto call = byCall_.find(&old); call != byCall_.end())
      return bindCall(old, *value->as<Call>(), *call->second, out);
    auto step = byStep_.find(&old);
    if (step == byStep_.end())
      return Rewriter::bind(old, value, out);
    if (!step->second.summands)
      return value;
    Atom summands = make.tensor(*step->second.summands);
    return Rewriter::bind(old, make.call(*make.operators.findInfix("+"), {value, summands}), out);
  }

  /// What made the old weights is gone, unless others use it.
  void openCall(const Call& call, const Fold& fold) {
    weights_ = make.tensor(fold.weights);
    const auto* old = call.arguments[fold.weightsAt].value->as<Var>();
    if (old && found_.isUnneeded(*old))
      substitute(*old, weights_);
  }

  Atom bindCall(const Binding& old, const Call& call, const Fold& fold, BlockBuilder& out) {
    std::vector<Operand> arguments(call.arguments.begin(), call.arguments.end());
    arguments[fold.weightsAt].value = weights_;
    Call* scaled = make.arena.make<Call>(call);
    scaled->arguments = make.arena.copy(arguments);
    return Rewriter::bind(old, scaled, out);
  }

  const Finder& found_;
  std::unordered_map<const Binding*, const Fold*> byCall_;
  std::unordered_map<const Binding*, Step> byStep_;
  /// Those of the call that is being copied.
  const Constant* weights_ = nullptr;
  Arena arena_;
};

} // namespace

std::unique_ptr<Module> foldScales(const Module& module, const PassContext& context) {
  if (!context.engine || writesTensors(module))
    return nullptr;
  Finder found(module, context);
  if (found.folds.empty())
    return nullptr;
  auto folded = rewritten<ScaleFolder>(module, context.operators, found);
  return place(*folded, context.operators, {.keepsFaults = true});
}

} // namespace transform
