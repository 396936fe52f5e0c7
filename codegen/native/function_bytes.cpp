// Nodes are listed by a stack, operands first, each once; loops are numbered as they come up. The
// list stands apart from what refers to it, so that there is one way to read the bytes.
#include "codegen/native/function_bytes.h"

#include "lower/tensor/walk.h"

#include <bit>
#include <unordered_map>
#include <utility>

namespace codegen {

namespace {

using tensor::LoopAxis;
using tensor::ScalarNode;

class Writer {
public:
  explicit Writer(const tensor::TensorFunction& function) {
    add(function.sizes.size());
    for (const tensor::SizeParameter& size : function.sizes)
      add(size.isOfResult, size.tensor, size.dim);
    add(function.inputCount, function.tensors.size());
    for (const tensor::TensorInfo& info : function.tensors) {
      add(info.dtype);
      nodes(info.shape);
    }
    add(function.stages.size());
    for (const tensor::Stage& stage : function.stages) {
      axes(stage.axes);
      uint64_t body = stage.body ? node(stage.body) : noNode;
      add(stage.kind, body, stage.source, stage.combiner, stage.axis, stage.exclusive);
    }
    add(function.results.size());
    for (uint32_t result : function.results)
      add(result);
    add(places_.size());
  }

  std::string take() {
    std::string count;
    to_ = &count;
    add(places_.size());
    return count + nodes_ + function_;
  }

private:
  static constexpr uint64_t noNode = UINT64_MAX;

  template <typename... Numbers>
  void add(Numbers... numbers) {
    (addWord(uint64_t(numbers)), ...);
  }
  void add(runtime::DType dtype) { add(dtype.code, dtype.bits, dtype.lanes); }
  void addWord(uint64_t word) { to_->append(reinterpret_cast<const char*>(&word), sizeof word); }

  uint64_t axis(uint32_t number) { return axes_.emplace(number, axes_.size()).first->second; }

  void nodes(std::span<const ScalarNode* const> all) {
    for (const ScalarNode* each : all)
      node(each);
    add(all.size());
    for (const ScalarNode* each : all)
      add(places_.at(each));
  }

  void axes(std::span<const LoopAxis> all) {
    for (const LoopAxis& each : all)
      node(each.extent);
    add(all.size());
    for (const LoopAxis& each : all)
      add(axis(each.number), places_.at(each.extent));
  }

  /// The place of a node, which is written if it is not yet.
  uint64_t node(const ScalarNode* root) {
    tensor::forEachUnknownNode(
        root, [&](const ScalarNode* each) { return places_.contains(each); },
        [&](const ScalarNode& each) { write(each); });
    return places_.at(root);
  }

  void write(const ScalarNode& node) {
    std::string* before = std::exchange(to_, &nodes_);
    add(node.kind);
    add(node.dtype);
    if (const auto* number = node.as<tensor::ScalarNumber>()) {
      add(std::bit_cast<uint64_t>(number->real), number->integer);
    } else if (const auto* index = node.as<tensor::ScalarIndex>()) {
      add(axis(index->axis));
    } else if (const auto* size = node.as<tensor::ScalarSize>()) {
      add(size->number);
    } else if (const auto* load = node.as<tensor::ScalarLoad>()) {
      add(load->tensor, load->outside ? places_.at(load->outside) : noNode);
      nodes(load->position);
    } else if (const auto* apply = node.as<tensor::ScalarApply>()) {
      add(apply->function);
      nodes(apply->operands);
    } else if (const auto* cast = node.as<tensor::ScalarCast>()) {
      add(places_.at(cast->operand));
    } else if (const auto* reduce = node.as<tensor::ScalarReduce>()) {
      add(reduce->combiner, places_.at(reduce->body));
      axes(reduce->axes);
    }
    places_.emplace(&node, places_.size());
    to_ = before;
  }

  std::string nodes_, function_;
  std::string* to_ = &function_;
  std::unordered_map<const ScalarNode*, uint64_t> places_;
  std::unordered_map<uint32_t, uint64_t> axes_;
};

} // namespace

std::string bytesOf(const tensor::TensorFunction& function) {
  return Writer(function).take();
}

} // namespace codegen
