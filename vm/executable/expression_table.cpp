// From nodes to a list, by a stack, and back.
#include "vm/executable/expression_table.h"

#include "lower/tensor/verify.h"
#include "lower/tensor/walk.h"

#include <unordered_map>

namespace executable {

using runtime::demand;
using tensor::LoopAxis;
using tensor::ScalarKind;
using tensor::ScalarNode;

namespace {

/// Lists the nodes of a function.
class Lister {
public:
  explicit Lister(const tensor::TensorFunction& function) {
    table_.sizes = function.sizes;
    table_.inputCount = uint32_t(function.inputCount);
    for (const tensor::TensorInfo& tensor : function.tensors)
      table_.tensors.push_back({tensor.dtype, places(tensor.shape)});
    for (const tensor::Stage& stage : function.stages)
      table_.stages.push_back({stage.kind, axes(stage.axes),
                               stage.body ? place(stage.body) : noNode, stage.source,
                               stage.combiner, stage.axis, stage.exclusive});
    table_.results = function.results;
  }

  FunctionTable take() { return std::move(table_); }

private:
  std::vector<uint32_t> places(std::span<const ScalarNode* const> nodes) {
    std::vector<uint32_t> found;
    for (const ScalarNode* node : nodes)
      found.push_back(place(node));
    return found;
  }

  std::vector<AxisEntry> axes(std::span<const LoopAxis> axes) {
    std::vector<AxisEntry> found;
    for (const LoopAxis& axis : axes)
      found.push_back({axis.number, place(axis.extent)});
    return found;
  }

  uint32_t place(const ScalarNode* root) {
    tensor::forEachUnknownNode(
        root, [&](const ScalarNode* node) { return places_.contains(node); },
        [&](const ScalarNode& node) { add(node); });
    return places_.at(root);
  }

  void add(const ScalarNode& node) {
    NodeEntry entry;
    entry.kind = node.kind;
    entry.dtype = node.dtype;
    if (const auto* number = node.as<tensor::ScalarNumber>()) {
      entry.real = number->real;
      entry.integer = number->integer;
    } else if (const auto* index = node.as<tensor::ScalarIndex>()) {
      entry.number = index->axis;
    } else if (const auto* size = node.as<tensor::ScalarSize>()) {
      entry.number = size->number;
    } else if (const auto* load = node.as<tensor::ScalarLoad>()) {
      entry.number = load->tensor;
      entry.operands = places(load->position);
      entry.outside = load->outside ? places_.at(load->outside) : noNode;
    } else if (const auto* apply = node.as<tensor::ScalarApply>()) {
      entry.function = apply->function;
      entry.operands = places(apply->operands);
    } else if (const auto* cast = node.as<tensor::ScalarCast>()) {
      entry.operands = {places_.at(cast->operand)};
    } else if (const auto* reduce = node.as<tensor::ScalarReduce>()) {
      entry.combiner = reduce->combiner;
      entry.axes = axes(reduce->axes);
      entry.operands = {places_.at(reduce->body)};
    }
    places_.emplace(&node, uint32_t(table_.nodes.size()));
    table_.nodes.push_back(std::move(entry));
  }

  FunctionTable table_;
  std::unordered_map<const ScalarNode*, uint32_t> places_;
};

/// Makes the nodes of a table.
class Maker {
public:
  explicit Maker(const FunctionTable& table) : table_(table) {}

  tensor::TensorFunction run() {
    for (const NodeEntry& entry : table_.nodes)
      nodes_.push_back(make(entry));
    function_.sizes = table_.sizes;
    function_.inputCount = table_.inputCount;
    for (const TensorEntry& tensor : table_.tensors)
      function_.tensors.push_back({tensor.dtype, all(tensor.shape)});
    for (const StageEntry& stage : table_.stages)
      function_.stages.push_back({stage.kind, axes(stage.axes),
                                  stage.body == noNode ? nullptr : node(stage.body), stage.source,
                                  stage.combiner, size_t(stage.axis), stage.exclusive});
    function_.results = table_.results;
    const char* problem = tensor::problemOf(function_);
    demand(!problem, problem);
    return std::move(function_);
  }

private:
  runtime::Arena& arena() { return *function_.arena; }

  const ScalarNode* node(uint32_t place) {
    demand(place < nodes_.size(), "an expression is made of what comes behind it");
    return nodes_[place];
  }

  std::vector<const ScalarNode*> all(std::span<const uint32_t> places) {
    std::vector<const ScalarNode*> found;
    for (uint32_t place : places)
      found.push_back(node(place));
    return found;
  }

  std::span<const LoopAxis> axes(std::span<const AxisEntry> entries) {
    std::vector<LoopAxis> axes;
    for (const AxisEntry& entry : entries)
      axes.push_back({entry.number, node(entry.extent)});
    return arena().copy(axes);
  }

  const ScalarNode* only(const NodeEntry& entry) {
    demand(entry.operands.size() == 1, "an expression has not the operands of its kind");
    return node(entry.operands[0]);
  }

  const ScalarNode* make(const NodeEntry& entry) {
    ScalarNode base{entry.kind, entry.dtype};
    switch (entry.kind) {
    case ScalarKind::Number:
      return arena().make<tensor::ScalarNumber>(base, entry.real, entry.integer);
    case ScalarKind::Index:
      return arena().make<tensor::ScalarIndex>(base, entry.number);
    case ScalarKind::Size:
      return arena().make<tensor::ScalarSize>(base, entry.number);
    case ScalarKind::Load:
      return arena().make<tensor::ScalarLoad>(base, entry.number, arena().copy(all(entry.operands)),
                                              entry.outside == noNode ? nullptr
                                                                      : node(entry.outside));
    case ScalarKind::Apply:
      return arena().make<tensor::ScalarApply>(base, entry.function,
                                               arena().copy(all(entry.operands)));
    case ScalarKind::Cast:
      return arena().make<tensor::ScalarCast>(base, only(entry));
    case ScalarKind::Reduce:
      return arena().make<tensor::ScalarReduce>(base, entry.combiner, axes(entry.axes),
                                                only(entry));
    }
    return nullptr;
  }

  const FunctionTable& table_;
  tensor::TensorFunction function_;
  std::vector<const ScalarNode*> nodes_;
};

} // namespace

FunctionTable tableOf(const tensor::TensorFunction& function) {
  return Lister(function).take();
}

tensor::TensorFunction functionOf(const FunctionTable& table) {
  return Maker(table).run();
}

void fields(Writer& writer, tensor::TensorFunction& function) {
  FunctionTable table = tableOf(function);
  fields(writer, table);
}

void fields(Reader& reader, tensor::TensorFunction& function) {
  FunctionTable table;
  fields(reader, table);
  function = functionOf(table);
}

} // namespace executable
