// Folding of scales: factors and summands of constants behind a convolution, or another sum of
// products with constant weights, go into the weights and one summand.
//
//   %0 = nn.conv2d(%x, [[[[1f]]], [[[2f]]]]);
//   %1 = nn.batch_norm(%0, [6f, 3f], [1f, 0f],   =>   %0 = nn.conv2d(%x, [[[[2f]]], [[[1f]]]]);
//          [0f, 4f], [9f, 9f], epsilon=0f);           %0 + [[[1f]], [[-4f]]]
//   %1.0
//
// Which factors go through, and what is a factor and a summand, is read off the tensor functions
// (lower/tensor/factor_paths.h, lower/tensor/affine.h); no operator says it of itself. All that is
// put in is computed here, so nothing is done where weights or statistics come with the run.
//
// Floats are rounded otherwise: each weight once more, as each of its products was, and the
// summands once. A mean that is taken off behind the weights cancels where the result is far below
// it; but there the subtraction loses as much, or the sum itself, whose terms are as large. So the
// error keeps its bound but for a small factor. A weight that would be no normal number stays, and
// with it all of the fold: it would overflow, or lose digits, where the result does not.
#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "lang/op/leaves.h"
#include "lower/tensor/affine.h"
#include "lower/tensor/factor_paths.h"
#include "transform/analysis/constant_values.h"
#include "transform/analysis/effects.h"
#include "transform/analysis/placement.h"
#include "transform/analysis/use_counts.h"
#include "transform/passes.h"

#include <algorithm>
#include <cmath>

namespace transform {

using namespace lang;
using runtime::Tensor;
using runtime::Value;

namespace {

/// A call whose weights change, and the values behind it that go with that.
struct Fold {
  const Binding* call;
  size_t weightsAt;
  Tensor weights;
  /// The first is used by the second, and so on; the last one is what is left, plus the summands.
  std::vector<const Binding*> chain;
  std::optional<Tensor> summands = {};
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

/// What all uses of values in a module come to, and which values are constants.
class Uses {
public:
  explicit Uses(const Module& module)
      : mentions(countUses(module).mentions), bindings(module.varCount),
        isConstant(module.varCount), users_(module.varCount) {
    forEachBody(module, [&](const Block& block) {
      for (const Binding& binding : block.bindings)
        add(binding);
    });
  }

  template <typename Visit>
  static void forEachBody(const Module& module, Visit&& visit) {
    std::vector<const Block*> blocks;
    for (const Global* global : module.globals)
      if (global->function)
        blocks.push_back(global->function->body);
    while (!blocks.empty()) {
      const Block& block = *blocks.back();
      blocks.pop_back();
      visit(block);
      for (const Binding& binding : block.bindings)
        forEachBlock(*binding.value, [&](const Block& inner) { blocks.push_back(&inner); });
    }
  }

  /// The binding that is the only use of a variable, or null.
  const Binding* userOf(const Var& var) const {
    return mentions[var.number] == 1 ? users_[var.number] : nullptr;
  }

  bool isConstantAtom(const Expr& atom) const {
    const auto* var = atom.as<Var>();
    return var ? isConstant[var->number] : atom.kind == ExprKind::Constant;
  }

  /// By Var::number.
  std::vector<uint32_t> mentions;
  std::vector<const Binding*> bindings;
  std::vector<bool> isConstant;

private:
  void add(const Binding& binding) {
    bindings[binding.var->number] = &binding;
    bool areConstant = true;
    forEachOperand(*binding.value, [&](const Operand& operand) {
      if (const auto* var = operand.value->as<Var>())
        users_[var->number] = &binding;
      areConstant &= operand.value->kind == ExprKind::Operator || isConstantAtom(*operand.value);
    });
    const auto* call = binding.value->as<Call>();
    const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
    ExprKind kind = binding.value->kind;
    bool isData = kind == ExprKind::Tuple || kind == ExprKind::Project || binding.value->isAtom();
    isConstant[binding.var->number] =
        binding.value->isAtom()
            ? isConstantAtom(*binding.value)
            : areConstant && (isData || (op && op->row->action == Action::Compute));
  }

  std::vector<const Binding*> users_;
};

class Finder {
public:
  Finder(const Module& module, const PassContext& context)
      : typing_(context.typing), engine_(*context.engine), uses_(module),
        values_(module, context.typing, context.operators, engine_), isLearnt_(module.varCount) {
    Uses::forEachBody(module, [&](const Block& block) {
      for (const Binding& binding : block.bindings)
        look(binding);
    });
  }

  std::vector<Fold> folds;

  /// Whether a variable is a constant that only what was folded used.
  bool isUnneeded(const Var& var) const {
    return uses_.isConstant[var.number] && uses_.mentions[var.number] == 0;
  }

private:
  static const OperatorRow* rowOf(const Binding& binding) {
    const auto* call = binding.value->as<Call>();
    const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
    bool computes = op && op->row->action == Action::Compute && op->row->compute &&
                    op->row->shapeNeeds == ShapeNeeds::Shapes && call->attributes;
    return computes ? op->row : nullptr;
  }

  static bool isWideFloat(const Type& type) {
    return type.isTensor() && (type.dtype == runtime::Float32 || type.dtype == runtime::Float64);
  }

  void look(const Binding& binding) {
    const Type* type = typing_.of(*binding.var);
    if (!rowOf(binding) || !type || !isWideFloat(*type) || uses_.isConstant[binding.var->number] ||
        !stepBehind(*binding.var))
      return;
    auto function = functionOf(binding);
    if (!function)
      return;
    const auto& call = static_cast<const Call&>(*binding.value);
    uint32_t input = 0;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const Type* operand = typing_.of(*call.arguments[i].value);
      if (uses_.isConstantAtom(*call.arguments[i].value) && operand->isTensor() &&
          operand->dtype == type->dtype)
        for (const tensor::FactorPath& path : tensor::factorPaths(*function, input, 0))
          if (foldBehind(binding, i, path))
            return;
      input += uint32_t(tensorCount(operand));
    }
  }

  std::optional<tensor::TensorFunction> functionOf(const Binding& binding) const {
    const auto& call = static_cast<const Call&>(*binding.value);
    std::vector<const Type*> types;
    for (const Operand& operand : call.arguments)
      types.push_back(typing_.of(*operand.value));
    auto function =
        tensorFunctionOf(*rowOf(binding), types, typing_.of(*binding.var), *call.attributes);
    return function ? std::optional(std::move(*function)) : std::nullopt;
  }

  /// The call of constants that is the only use of a value, or null.
  const Binding* stepBehind(const Var& var) const {
    const Binding* user = uses_.userOf(var);
    if (!user || !rowOf(*user))
      return nullptr;
    const auto& call = static_cast<const Call&>(*user->value);
    bool areConstant = std::ranges::all_of(call.arguments, [&](const Operand& operand) {
      return operand.value == &var || uses_.isConstantAtom(*operand.value);
    });
    return areConstant ? user : nullptr;
  }

  /// Folds what is behind a call into its weights; false where nothing scales it.
  bool foldBehind(const Binding& call, size_t weightsAt, const tensor::FactorPath& path) {
    const Type* type = typing_.of(*call.var);
    const Dim* extent = type->shape[path.resultDim];
    if (!extent->isConstant())
      return false;
    Affine whole{std::vector<double>(size_t(extent->value), 1),
                 std::vector<double>(size_t(extent->value), 0)};
    Fold fold{&call, weightsAt, {}, {}};
    for (const Var* value = call.var; const Binding* step = stepBehind(*value);) {
      const Binding* given = resultOf(*step, type);
      if (!given || !addStep(*step, *value, *given, path.resultDim, whole))
        break;
      fold.chain.push_back(step);
      if (given != step)
        fold.chain.push_back(given);
      value = given->var;
    }
    bool scales = std::ranges::any_of(whole.factors, [](double factor) { return factor != 1; });
    return scales && finish(std::move(fold), path, whole);
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
      const Binding* binding = var ? uses_.bindings[var->number] : nullptr;
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

  bool finish(Fold fold, const tensor::FactorPath& path, const Affine& whole) {
    const auto& call = static_cast<const Call&>(*fold.call->value);
    const Type& type = *typing_.of(*fold.call->var);
    Value weights = valueOf(*call.arguments[fold.weightsAt].value);
    if (!weights.isSet())
      return false;
    bool isFloat64 = type.dtype == runtime::Float64;
    auto made = isFloat64 ? scaled<double>(weights.tensor(), path, whole.factors)
                          : scaled<float>(weights.tensor(), path, whole.factors);
    if (!made)
      return false;
    fold.weights = *std::move(made);
    if (std::ranges::any_of(whole.summands, [](double summand) { return summand != 0; })) {
      runtime::Shape shape(type.shape.size() - path.resultDim, 1);
      shape[0] = int64_t(whole.summands.size());
      fold.summands = isFloat64 ? rounded<double>(type.dtype, shape, whole.summands)
                                : rounded<float>(type.dtype, shape, whole.summands);
      if (!fold.summands)
        return false;
    }
    forget(*call.arguments[fold.weightsAt].value);
    for (const Binding* step : fold.chain)
      forEachOperand(*step->value, [&](const Operand& operand) { forget(*operand.value); });
    folds.push_back(std::move(fold));
    return true;
  }

  /// Takes a use off a constant, and off what it is made of when that was the last one.
  void forget(const Expr& used) {
    std::vector<const Expr*> stack{&used};
    while (!stack.empty()) {
      const auto* var = stack.back()->as<Var>();
      stack.pop_back();
      if (!var || !uses_.isConstant[var->number] || --uses_.mentions[var->number] > 0)
        continue;
      const Expr& value = *uses_.bindings[var->number]->value;
      if (value.isAtom())
        stack.push_back(&value);
      forEachOperand(value, [&](const Operand& operand) { stack.push_back(operand.value); });
    }
  }

  const Typing& typing_;
  const tensor::TensorEngine& engine_;
  Uses uses_;
  ConstantValues values_;
  std::vector<bool> isLearnt_;
};

class ScaleFolder : public Rewriter {
public:
  ScaleFolder(const Module& from, Builder& into, const Finder& found)
      : Rewriter(from, into), found_(found) {
    for (const Fold& fold : found.folds) {
      byCall_.emplace(fold.call, &fold);
      for (const Binding* step : fold.chain)
        byStep_.emplace(step, &fold);
    }
  }

private:
  Fate enter(const Binding& binding) override {
    if (auto call = byCall_.find(&binding); call != byCall_.end())
      openCall(*binding.value->as<Call>(), *call->second);
    auto step = byStep_.find(&binding);
    if (step == byStep_.end())
      return found_.isUnneeded(*binding.var) ? Fate::Drop : Fate::Copy;
    return step->second->chain.back() == &binding ? Fate::Splice : Fate::Drop;
  }

  /// The last value of a chain is that of the call, before the summands.
  const Block& spliced(const Binding& binding, BlockBuilder&) override {
    const Fold& fold = *byStep_.at(&binding);
    return *arena_.make<Block>(std::span<const Binding>(),
                               Operand{fold.call->var, binding.value->range});
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    if (auto call = byCall_.find(&old); call != byCall_.end())
      return bindCall(old, *value->as<Call>(), *call->second, out);
    auto step = byStep_.find(&old);
    if (step == byStep_.end())
      return Rewriter::bind(old, value, out);
    if (!step->second->summands)
      return value;
    Atom summands = make.tensor(*step->second->summands);
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
  std::unordered_map<const Binding*, const Fold*> byCall_, byStep_;
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
