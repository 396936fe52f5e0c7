// Tensor functions as text. A line defines a tensor, a size that a call gives, or an operation that
// several others need, or that would make a line too deep to read back; what is defined stands in
// front of what uses it, so the text is as long as the graph, and not as its trees.
#include "lower/tensor/expression.h"
#include "lower/tensor/walk.h"
#include "lower/tensor/words.h"
#include "runtime/numbering.h"

#include <fmt/format.h>

namespace tensor {

namespace {

constexpr uint32_t deepestLine = 24;
constexpr uint32_t none = UINT32_MAX;

bool isLeaf(const ScalarNode& node) {
  return node.kind <= ScalarKind::Size;
}

/// The nodes that define one tensor, in the order of its line.
ScalarNodes rootsOf(const TensorFunction& function, size_t tensor) {
  if (tensor < function.inputCount)
    return function.tensors[tensor].shape;
  const Stage& stage = function.stages[tensor - function.inputCount];
  if (stage.kind != StageKind::Map)
    return function.tensors[tensor].shape;
  ScalarNodes roots;
  for (const LoopAxis& axis : stage.axes)
    roots.push_back(axis.extent);
  roots.push_back(stage.body);
  return roots;
}

class FunctionWriter {
public:
  explicit FunctionWriter(const TensorFunction& function) : function_(function) {
    for (size_t tensor = 0; tensor < function.tensors.size(); ++tensor) {
      for (const ScalarNode* root : rootsOf(function, tensor)) {
        list(root);
        ++known_[nodes_.find(root)].uses;
      }
      ends_.push_back(known_.size());
    }
    choose();
  }

  std::string run() {
    std::string text;
    for (size_t i = 0; i < function_.sizes.size(); ++i)
      text += sizeText(i);
    size_t next = 0;
    for (size_t tensor = 0; tensor < function_.tensors.size(); ++tensor) {
      for (; next < ends_[tensor]; ++next)
        define(known_[next], text);
      text += (tensor < function_.inputCount ? inputText(tensor) : stageText(tensor)) + "\n";
    }
    text += "result";
    for (size_t i = 0; i < function_.results.size(); ++i)
      text += fmt::format("{} t{}", i > 0 ? "," : "", function_.results[i]);
    return text + "\n";
  }

private:
  struct Known {
    const ScalarNode* node;
    uint32_t uses = 0;
    /// As which operation it is defined, or none.
    uint32_t name = none;
    /// What its users write.
    std::string text = {};
  };

  void list(const ScalarNode* root) {
    forEachUnknownNode(
        root, [&](const ScalarNode* node) { return nodes_.contains(node); },
        [&](const ScalarNode& node) {
          nodes_.add(&node);
          known_.push_back({&node});
          forEachOperand(node,
                         [&](const ScalarNode* operand) { ++known_[nodes_.find(operand)].uses; });
        });
  }

  void choose() {
    std::vector<uint32_t> depths;
    uint32_t next = 0;
    for (Known& known : known_) {
      uint32_t depth = 0;
      forEachOperand(*known.node, [&](const ScalarNode* operand) {
        uint32_t place = nodes_.find(operand);
        depth = std::max(depth, known_[place].name == none ? depths[place] + 1 : 1);
      });
      if (!isLeaf(*known.node) && (known.uses > 1 || depth >= deepestLine))
        known.name = next++;
      depths.push_back(depth);
    }
  }

  void define(Known& known, std::string& lines) {
    known.text = written(*known.node);
    if (known.name == none)
      return;
    lines += fmt::format("let %{} = {}\n", known.name, known.text);
    known.text = fmt::format("%{}", known.name);
  }

  const std::string& use(const ScalarNode* node) const { return known_[nodes_.find(node)].text; }

  template <typename Items, typename Text>
  static std::string listOf(const Items& items, Text&& textOf) {
    std::string text;
    for (const auto& item : items)
      text += (text.empty() ? "" : ", ") + textOf(item);
    return text;
  }

  std::string listOf(std::span<const ScalarNode* const> nodes) const {
    return listOf(nodes, [&](const ScalarNode* node) { return use(node); });
  }

  std::string loops(std::span<const LoopAxis> axes) const {
    return listOf(axes, [&](const LoopAxis& axis) {
      return fmt::format("i{} < {}", axis.number, operand(axis.extent));
    });
  }

  std::string inputText(size_t tensor) const {
    const TensorInfo& info = function_.tensors[tensor];
    return fmt::format("t{}({}): {} = input", tensor, listOf(info.shape),
                       runtime::dtypeName(info.dtype));
  }

  std::string stageText(size_t tensor) const {
    const Stage& stage = function_.stages[tensor - function_.inputCount];
    const TensorInfo& info = function_.tensors[tensor];
    std::string dtype = runtime::dtypeName(info.dtype);
    if (stage.kind == StageKind::Map)
      return fmt::format("t{}[{}]: {} = {}", tensor, loops(stage.axes), dtype, use(stage.body));
    std::string head = fmt::format("t{}({}): {} = ", tensor, listOf(info.shape), dtype);
    if (stage.kind == StageKind::Reshape)
      return head + fmt::format("reshape t{}", stage.source);
    return head + fmt::format("{}scan {} t{} axis {}", stage.exclusive ? "exclusive " : "",
                              combinerNoun(stage.combiner), stage.source, stage.axis);
  }

  std::string sizeText(size_t number) const {
    const SizeParameter& size = function_.sizes[number];
    return fmt::format("size n{}: dimension {} of {} {}\n", number, size.dim,
                       size.isOfResult ? "result" : "input", size.tensor);
  }

  std::string written(const ScalarNode& node) const {
    switch (node.kind) {
    case ScalarKind::Number:
      return numberText(*node.as<ScalarNumber>());
    case ScalarKind::Index:
      return fmt::format("i{}", node.as<ScalarIndex>()->axis);
    case ScalarKind::Size:
      return fmt::format("n{}", node.as<ScalarSize>()->number);
    case ScalarKind::Load: {
      const auto* load = node.as<ScalarLoad>();
      std::string outside = !load->outside           ? ""
                            : load->position.empty() ? "else " + use(load->outside)
                                                     : " else " + use(load->outside);
      return fmt::format("t{}[{}{}]", load->tensor, listOf(load->position), outside);
    }
    case ScalarKind::Apply:
      return applyText(*node.as<ScalarApply>());
    case ScalarKind::Cast:
      return castText(*node.as<ScalarCast>());
    case ScalarKind::Reduce:
      break;
    }
    return reduceText(*node.as<ScalarReduce>());
  }

  /// Whole numbers of 64 bits, which most are, go without their type.
  static std::string numberText(const ScalarNumber& number) {
    std::string text = textOfNumber(number.real, number.integer, number.dtype);
    return number.dtype == runtime::Int64
               ? text
               : fmt::format("{}({})", runtime::dtypeName(number.dtype), text);
  }

  /// A type in front of a number says what type that has; so what is converted may not start with
  /// a number.
  std::string castText(const ScalarCast& cast) const {
    std::string operand = use(cast.operand);
    bool startsWithNumber = operand[0] == '-' || ('0' <= operand[0] && operand[0] <= '9');
    if (startsWithNumber)
      operand = (cast.operand->kind == ScalarKind::Number ? "int64(" : "(") + operand + ")";
    return fmt::format("{}({})", runtime::dtypeName(cast.dtype), operand);
  }

  std::string applyText(const ScalarApply& apply) const {
    runtime::DType derived = resultTypeOf(apply.function, apply.operands.back()->dtype);
    bool isPlain = apply.dtype == derived && apply.function != ScalarFunction::Reinterpret;
    if (std::string_view sign = signOf(apply.function); !sign.empty() && isPlain)
      return fmt::format("{} {} {}", operand(apply.operands[0]), sign, operand(apply.operands[1]));
    return fmt::format("{}{}({})", wordOf(apply.function),
                       isPlain ? "" : fmt::format("<{}>", runtime::dtypeName(apply.dtype)),
                       listOf(apply.operands));
  }

  std::string reduceText(const ScalarReduce& reduce) const {
    bool isPlain = reduce.dtype == reduce.body->dtype && !findsPlace(reduce.combiner);
    return fmt::format("{}[{}]{}({})", combinerNoun(reduce.combiner), loops(reduce.axes),
                       isPlain ? "" : fmt::format("<{}>", runtime::dtypeName(reduce.dtype)),
                       use(reduce.body));
  }

  /// As an operand of a sign.
  std::string operand(const ScalarNode* node) const {
    const Known& known = known_[nodes_.find(node)];
    const auto* apply = node->as<ScalarApply>();
    bool isLoose = apply && known.name == none && !signOf(apply->function).empty();
    return isLoose ? "(" + known.text + ")" : known.text;
  }

  const TensorFunction& function_;
  runtime::Numbering nodes_;
  /// Operands before users; up to where each tensor needs them.
  std::vector<Known> known_;
  std::vector<size_t> ends_;
};

} // namespace

std::string tensorFunctionText(const TensorFunction& function) {
  return FunctionWriter(function).run();
}

} // namespace tensor
