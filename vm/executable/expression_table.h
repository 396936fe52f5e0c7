// Tensor functions as tables: the nodes of their expressions in a list, operands before users, so
// that reading needs no recursion and no cycle can be written.
#pragma once

#include "vm/executable/fields.h"

namespace executable {

template <>
inline constexpr auto namesOf<tensor::ScalarKind> =
    std::to_array<std::string_view>({"number", "index", "size", "load", "apply", "cast", "reduce"});
template <>
inline constexpr auto namesOf<tensor::Combiner> = std::to_array<std::string_view>(
    {"sum", "product", "maximum", "minimum", "all", "any", "argMaximum", "argMaximumLast",
     "argMinimum", "argMinimumLast"});
template <>
inline constexpr auto
    namesOf<tensor::StageKind> = std::to_array<std::string_view>({"map", "reshape", "scan"});
template <>
inline constexpr auto namesOf<tensor::ScalarFunction> = std::to_array<std::string_view>({
#define SCALAR_FUNCTION(name, ...) #name,
#include "runtime/scalar_functions.def"
#undef SCALAR_FUNCTION
});

inline constexpr uint32_t noNode = UINT32_MAX;

struct AxisEntry {
  uint32_t number = 0;
  uint32_t extent = 0;
};

/// A node of any kind; operands are earlier entries.
struct NodeEntry {
  tensor::ScalarKind kind = tensor::ScalarKind::Number;
  runtime::DType dtype;
  double real = 0;
  int64_t integer = 0;
  /// Index: the axis. Size: which one. Load: the tensor.
  uint32_t number = 0;
  tensor::ScalarFunction function = {};
  tensor::Combiner combiner = {};
  std::vector<AxisEntry> axes;
  std::vector<uint32_t> operands;
  /// Load: the value outside, or none.
  uint32_t outside = noNode;
};

struct TensorEntry {
  runtime::DType dtype;
  std::vector<uint32_t> shape;
};

struct StageEntry {
  tensor::StageKind kind = {};
  std::vector<AxisEntry> axes;
  uint32_t body = noNode;
  uint32_t source = 0;
  tensor::Combiner combiner = {};
  uint64_t axis = 0;
  bool exclusive = false;
};

struct FunctionTable {
  std::vector<tensor::SizeParameter> sizes;
  std::vector<NodeEntry> nodes;
  uint32_t inputCount = 0;
  std::vector<TensorEntry> tensors;
  std::vector<StageEntry> stages;
  std::vector<uint32_t> results;
};

template <typename Archive>
void fields(Archive& archive, AxisEntry& axis) {
  archive("number", axis.number, "extent", axis.extent);
}
/// Each kind has its own parts.
template <typename Archive>
void fields(Archive& archive, NodeEntry& node) {
  archive("kind", node.kind, "dtype", node.dtype);
  switch (node.kind) {
  case tensor::ScalarKind::Number:
    return archive("real", node.real, "integer", node.integer);
  case tensor::ScalarKind::Index:
  case tensor::ScalarKind::Size:
    return archive("number", node.number);
  case tensor::ScalarKind::Load:
    return archive("number", node.number, "operands", node.operands, "outside", node.outside);
  case tensor::ScalarKind::Apply:
    return archive("function", node.function, "operands", node.operands);
  case tensor::ScalarKind::Cast:
    return archive("operands", node.operands);
  case tensor::ScalarKind::Reduce:
    return archive("combiner", node.combiner, "axes", node.axes, "operands", node.operands);
  }
}
template <typename Archive>
void fields(Archive& archive, tensor::SizeParameter& size) {
  archive("isOfResult", size.isOfResult, "tensor", size.tensor, "dim", size.dim);
}
template <typename Archive>
void fields(Archive& archive, TensorEntry& tensor) {
  archive("dtype", tensor.dtype, "shape", tensor.shape);
}
template <typename Archive>
void fields(Archive& archive, StageEntry& stage) {
  archive("kind", stage.kind, "axes", stage.axes, "body", stage.body, "source", stage.source,
          "combiner", stage.combiner, "axis", stage.axis, "exclusive", stage.exclusive);
}
template <typename Archive>
void fields(Archive& archive, FunctionTable& table) {
  archive("sizes", table.sizes, "nodes", table.nodes, "inputCount", table.inputCount, "tensors",
          table.tensors, "stages", table.stages, "results", table.results);
}

FunctionTable tableOf(const tensor::TensorFunction& function);

/// The function of a table that somebody may have made up. Throws runtime::Refused.
tensor::TensorFunction functionOf(const FunctionTable& table);

} // namespace executable
