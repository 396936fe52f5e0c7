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
#include "lang/ir/rewrite.h"
#include "lang/op/op.h"
#include "transform/analysis/effects.h"
#include "transform/analysis/placement.h"
#include "transform/passes/scale_folds.h"

#include <unordered_map>

namespace transform {

using namespace lang;

namespace {

/// Writes folds.
class ScaleFolder : public Rewriter {
public:
  ScaleFolder(const Module& from, Builder& into, const ScaleFolds& folds)
      : Rewriter(from, into), folds_(folds) {
    for (const ScaleFold& fold : folds.all) {
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
    const runtime::Tensor* summands = nullptr;
  };

  Fate enter(const Binding& binding) override {
    if (auto call = byCall_.find(&binding); call != byCall_.end())
      openCall(*binding.value->as<Call>(), *call->second);
    auto step = byStep_.find(&binding);
    if (step == byStep_.end())
      return folds_.uses.isForgotten(*binding.var) ? Fate::Drop : Fate::Copy;
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
  void openCall(const Call& call, const ScaleFold& fold) {
    weights_ = make.tensor(fold.weights);
    const auto* old = call.arguments[fold.weightsAt].value->as<Var>();
    if (old && folds_.uses.isForgotten(*old))
      substitute(*old, weights_);
  }

  Atom bindCall(const Binding& old, const Call& call, const ScaleFold& fold, BlockBuilder& out) {
    std::vector<Operand> arguments(call.arguments.begin(), call.arguments.end());
    arguments[fold.weightsAt].value = weights_;
    Call* scaled = make.arena.make<Call>(call);
    scaled->arguments = make.arena.copy(arguments);
    return Rewriter::bind(old, scaled, out);
  }

  const ScaleFolds& folds_;
  std::unordered_map<const Binding*, const ScaleFold*> byCall_;
  std::unordered_map<const Binding*, Step> byStep_;
  /// Those of the call that is being copied.
  const Constant* weights_ = nullptr;
  Arena arena_;
};

} // namespace

std::unique_ptr<Module> foldScales(const Module& module, const PassContext& context) {
  if (!context.engine || writesTensors(module))
    return nullptr;
  ScaleFolds folds = scaleFolds(module, context);
  if (folds.all.empty())
    return nullptr;
  auto folded = rewritten<ScaleFolder>(module, context.operators, folds);
  return place(*folded, context.operators, {.keepsFaults = true});
}

} // namespace transform
