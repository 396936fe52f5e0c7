// Nodes are looked at once, operands first, by an explicit stack. Of each it is kept which loops
// must be around it and which tensor it loads last, so a stage asks its root alone.
#include "lower/tensor/verify.h"

#include "lower/tensor/walk.h"
#include "runtime/numbering.h"
#include "runtime/refused.h"

#include <algorithm>

namespace tensor {

namespace {

using runtime::demand;

class Verifier {
public:
  explicit Verifier(const TensorFunction& function) : function_(function) {}

  void run() {
    const size_t inputs = function_.inputCount, count = function_.tensors.size();
    demand(inputs <= count && count - inputs == function_.stages.size(),
           "an expression has not one tensor for each input and stage");
    for (uint32_t result : function_.results)
      demand(result < count, "a result is beyond the tensors of its expression");
    for (; at_ < function_.sizes.size(); ++at_)
      parameter(function_.sizes[at_]);
    for (size_t number = 0; number < count; ++number, ++at_) {
      const TensorInfo& tensor = function_.tensors[number];
      demand(tensor.dtype.isComputable(), "a tensor is of no element type to compute with");
      std::ranges::for_each(tensor.shape, [&](const ScalarNode* node) { extent(node); });
      if (number >= inputs)
        stage(function_.stages[number - inputs], number);
    }
    std::ranges::sort(bound_);
    demand(std::ranges::adjacent_find(bound_) == bound_.end(), "two loops have one number");
  }

  /// What is looked at: one of the sizes, or then of the tensors.
  size_t at() const { return at_; }

private:
  /// In order, each once.
  using Axes = runtime::List<uint32_t>;

  /// What is known of a node: the loops that it needs, one more than the last tensor that it loads,
  /// and whether it is arithmetic on sizes alone.
  struct Known {
    static constexpr bool movesAsBytes = true;

    Axes axes = {};
    size_t tensors = 0;
    bool isOfSizes = true;
  };

  void parameter(const SizeParameter& size) const {
    uint32_t tensor = size.tensor;
    if (size.isOfResult) {
      demand(tensor < function_.results.size(), "a size is of no result");
      tensor = function_.results[tensor];
    } else {
      demand(tensor < function_.inputCount, "a size is of no input");
    }
    demand(size.dim < function_.tensors[tensor].shape.size(), "a size is of no dimension");
  }

  void stage(const Stage& stage, size_t number) {
    const TensorInfo& tensor = function_.tensors[number];
    if (stage.kind != StageKind::Map) {
      demand(stage.source < number, "a stage reads what comes behind it");
      const TensorInfo& source = function_.tensors[stage.source];
      demand(source.dtype == tensor.dtype, "a stage does not have the type of its tensor");
      demand(stage.kind == StageKind::Reshape ||
                 (stage.axis < tensor.shape.size() && source.shape.size() == tensor.shape.size() &&
                  (stage.combiner == Combiner::Sum || stage.combiner == Combiner::Product)),
             "a scan does not fit its source");
      return;
    }
    demand(stage.body && stage.axes.size() == tensor.shape.size() &&
               stage.body->dtype == tensor.dtype,
           "the loops of a stage do not fit its tensor");
    Axes own = bind(stage.axes);
    const Known& body = look(stage.body);
    demand(std::ranges::includes(own, body.axes), "an index is used outside its loop");
    demand(body.tensors <= number, "a stage reads what comes behind it");
  }

  Axes bind(std::span<const LoopAxis> axes) {
    Axes own;
    for (const LoopAxis& axis : axes) {
      own.push_back(axis.number);
      extent(axis.extent);
    }
    bound_.append(own);
    std::ranges::sort(own);
    return own;
  }

  void extent(const ScalarNode* node) {
    demand(node->dtype == runtime::Int64 && look(node).isOfSizes,
           "an extent is made of more than sizes");
  }

  const Known& look(const ScalarNode* root) {
    forEachUnknownNode(
        root, [&](const ScalarNode* node) { return nodes_.contains(node); },
        [&](const ScalarNode& node) {
          known_.push_back(read(node));
          nodes_.add(&node);
        });
    return known_[nodes_.find(root)];
  }

  Known read(const ScalarNode& node) {
    demand(node.dtype.isComputable(), "a value is of no element type to compute with");
    Known own;
    forEachOperand(node, [&](const ScalarNode* operand) {
      const Known& known = known_[nodes_.find(operand)];
      own.axes.append(known.axes);
      own.tensors = std::max(own.tensors, known.tensors);
      own.isOfSizes &= known.isOfSizes;
    });
    std::ranges::sort(own.axes);
    auto repeated = std::ranges::unique(own.axes);
    own.axes.erase(repeated.begin(), repeated.end());
    if (const auto* index = node.as<ScalarIndex>())
      readIndex(*index, own);
    else if (const auto* size = node.as<ScalarSize>())
      demand(size->number < function_.sizes.size() && size->dtype == runtime::Int64,
             "an expression names a size that its function does not have");
    else if (const auto* load = node.as<ScalarLoad>())
      readLoad(*load, own);
    else if (const auto* apply = node.as<ScalarApply>())
      demand(apply->operands.size() == scalarFunctionArity(apply->function),
             "a scalar function has the wrong number of operands");
    else if (const auto* reduce = node.as<ScalarReduce>())
      readReduce(*reduce, own);
    return own;
  }

  static void readIndex(const ScalarIndex& index, Known& own) {
    demand(index.dtype == runtime::Int64, "an index is no int64");
    own.axes = {index.axis};
    own.isOfSizes = false;
  }

  void readLoad(const ScalarLoad& load, Known& own) const {
    demand(load.tensor < function_.tensors.size(), "a load is of no tensor");
    const TensorInfo& tensor = function_.tensors[load.tensor];
    demand(load.position.size() == tensor.shape.size() && load.dtype == tensor.dtype &&
               (!load.outside || load.outside->dtype == tensor.dtype) &&
               std::ranges::all_of(
                   load.position,
                   [](const ScalarNode* position) { return position->dtype == runtime::Int64; }),
           "a load does not fit its tensor");
    own.tensors = std::max<size_t>(own.tensors, load.tensor + size_t(1));
    own.isOfSizes = false;
  }

  void readReduce(const ScalarReduce& reduce, Known& own) {
    Axes bound = bind(reduce.axes);
    own.axes.eraseIf([&](uint32_t axis) { return std::ranges::binary_search(bound, axis); });
    own.isOfSizes = false;
  }

  const TensorFunction& function_;
  size_t at_ = 0;
  runtime::Numbering nodes_;
  /// Of each of the nodes.
  runtime::List<Known> known_;
  /// The numbers of all loops.
  Axes bound_;
};

} // namespace

const char* problemOf(const TensorFunction& function, size_t* at) {
  Verifier verifier(function);
  try {
    verifier.run();
    return nullptr;
  } catch (const runtime::Refused& refused) {
    if (at)
      *at = verifier.at();
    return refused.problem;
  }
}

} // namespace tensor
