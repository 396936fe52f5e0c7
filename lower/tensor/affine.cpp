// The body of the stage that makes the result is taken apart node by node, operands first.
#include "lower/tensor/affine.h"

#include "lower/tensor/access.h"
#include "lower/tensor/fold.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace tensor {

namespace {

/// A value as the element of the input times a factor plus a summand. A factor of null is 0, a
/// summand of null too.
struct Parts {
  const ScalarNode* factor = nullptr;
  const ScalarNode* summand = nullptr;
};

class Splitter {
public:
  Splitter(TensorFunction& function, uint32_t input, const Stage& stage)
      : function_(function), input_(input), stage_(stage) {}

  std::optional<Parts> run() {
    forEachUnknownNode(
        stage_.body, [&](const ScalarNode* node) { return parts_.contains(node); },
        [&](const ScalarNode& node) { parts_.emplace(&node, partsOf(node)); });
    return parts_.at(stage_.body);
  }

private:
  /// Nothing where a value hangs on the input in another way.
  std::optional<Parts> partsOf(const ScalarNode& node) {
    bool isFree = true;
    forEachOperand(node, [&](const ScalarNode* operand) {
      const auto& parts = parts_.at(operand);
      isFree &= parts && !parts->factor;
    });
    const auto* load = node.as<ScalarLoad>();
    if (load && load->tensor == input_)
      return isFree && isOwnElement(*load) ? std::optional(Parts{one(node.dtype)}) : std::nullopt;
    if (isFree)
      return Parts{nullptr, &node};
    const auto* apply = node.as<ScalarApply>();
    return apply && node.dtype.isFloat() ? partsOfApply(*apply) : std::nullopt;
  }

  std::optional<Parts> partsOfApply(const ScalarApply& apply) {
    const auto &a = parts_.at(apply.operands[0]), &b = parts_.at(apply.operands.back());
    if (!a || !b)
      return std::nullopt;
    switch (apply.function) {
    case ScalarFunction::Add:
    case ScalarFunction::Subtract:
      return Parts{sum(apply, a->factor, b->factor), sum(apply, a->summand, b->summand)};
    case ScalarFunction::Negative:
      return times(ScalarFunction::Multiply, *a, makeNumber(arena(), apply.dtype, -1));
    case ScalarFunction::Multiply:
      if (a->factor && b->factor)
        return std::nullopt;
      return a->factor ? times(apply.function, *a, b->summand)
                       : times(apply.function, *b, a->summand);
    case ScalarFunction::Divide:
      return b->factor ? std::nullopt : std::optional(times(apply.function, *a, b->summand));
    default:
      return std::nullopt;
    }
  }

  const ScalarNode* sum(const ScalarApply& apply, const ScalarNode* a, const ScalarNode* b) {
    if (a && b)
      return makeApply(arena(), apply.function, apply.dtype, std::array{a, b});
    bool isNegative = b && apply.function == ScalarFunction::Subtract;
    return !isNegative ? (a ? a : b)
                       : makeApply(arena(), ScalarFunction::Negative, apply.dtype, std::array{b});
  }

  Parts times(ScalarFunction function, const Parts& parts, const ScalarNode* by) {
    auto each = [&](const ScalarNode* part) {
      return part ? makeApply(arena(), function, by->dtype, std::array{part, by}) : nullptr;
    };
    return {each(parts.factor), each(parts.summand)};
  }

  /// Whether a load is of the element that stands where the result does.
  bool isOwnElement(const ScalarLoad& load) const {
    if (load.outside || load.position.size() != stage_.axes.size())
      return false;
    for (size_t i = 0; i < load.position.size(); ++i) {
      const auto* index = load.position[i]->as<ScalarIndex>();
      bool isOnly = integerOf(load.position[i]) == 0 && integerOf(stage_.axes[i].extent) == 1;
      if (!isOnly && !(index && index->axis == stage_.axes[i].number))
        return false;
    }
    return true;
  }

  const ScalarNode* one(runtime::DType dtype) { return makeNumber(arena(), dtype, 1); }
  Arena& arena() { return *function_.arena; }

  TensorFunction& function_;
  uint32_t input_;
  const Stage& stage_;
  std::unordered_map<const ScalarNode*, std::optional<Parts>> parts_;
};

bool reads(const Stage& stage, const std::set<uint32_t>& tensors) {
  if (stage.kind != StageKind::Map)
    return tensors.contains(stage.source);
  bool found = false;
  forEachNode(stage.body, [&](const ScalarNode& node) {
    const auto* load = node.as<ScalarLoad>();
    found |= load && tensors.contains(load->tensor);
  });
  return found;
}

/// Whether a part hangs on no place but that along one loop.
bool dependsOnlyOn(const LoopAxis& axis, const Stage& stage, const ScalarNode* part) {
  bool isOther = false;
  forEachNode(part, [&](const ScalarNode& node) {
    const auto* index = node.as<ScalarIndex>();
    isOther |= index && index->axis != axis.number &&
               std::ranges::find(stage.axes, index->axis, &LoopAxis::number) != stage.axes.end();
  });
  return !isOther;
}

bool hasSizes(const TensorFunction& function) {
  bool found = false;
  auto look = [&](const ScalarNode& node) { found |= node.kind == ScalarKind::Size; };
  for (const TensorInfo& tensor : function.tensors)
    for (const ScalarNode* extent : tensor.shape)
      forEachNode(extent, look);
  for (const Stage& stage : function.stages) {
    for (const LoopAxis& axis : stage.axes)
      forEachNode(axis.extent, look);
    if (stage.body)
      forEachNode(stage.body, look);
  }
  return found;
}

} // namespace

std::optional<AffineParts> affineParts(const TensorFunction& function, uint32_t input,
                                       size_t result, size_t dim) {
  const uint32_t made = function.results[result];
  if (made < function.inputCount)
    return std::nullopt;
  TensorFunction parts = function;
  Stage& stage = parts.stages[made - function.inputCount];
  if (stage.kind != StageKind::Map || !function.tensors[made].dtype.isFloat() ||
      !std::ranges::equal(parts.tensors[input].shape, parts.tensors[made].shape, isSameExtent))
    return std::nullopt;
  const Stage whole = stage;
  for (const Stage& each : parts.stages)
    if (&each != &stage && reads(each, {input, made}))
      return std::nullopt;
  auto split = Splitter(parts, input, whole).run();
  if (!split || !split->factor)
    return std::nullopt;
  if (!split->summand)
    split->summand = makeNumber(*parts.arena, whole.body->dtype, 0);
  const LoopAxis& axis = whole.axes[dim];
  for (const ScalarNode* part : {split->factor, split->summand})
    if (!dependsOnlyOn(axis, whole, part))
      return std::nullopt;
  stage.axes = whole.axes.subspan(dim, 1);
  parts.tensors[made].shape = {axis.extent};
  parts.results = {made};
  parts.sizes.clear();
  for (const ScalarNode*& extent : parts.tensors[input].shape)
    extent = makeInteger(*parts.arena, 0);
  auto withBody = [&](const ScalarNode* body) {
    stage.body = body;
    return parts;
  };
  AffineParts both{withBody(split->factor), withBody(split->summand)};
  bool isOpen = hasSizes(both.factors) || hasSizes(both.summands);
  return isOpen ? std::nullopt : std::optional(std::move(both));
}

} // namespace tensor
