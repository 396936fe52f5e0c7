// Numbers for the extents of a tensor function: from one expression for all sizes to the expression
// of one call.
#pragma once

#include "lower/tensor/expression.h"
#include "runtime/tensor.h"

namespace tensor {

/// Puts numbers into one function again and again: its nodes are listed once, so that for each call
/// one pass over the list is enough.
class ExtentBinder {
public:
  explicit ExtentBinder(TensorFunction function);

  const TensorFunction& function() const { return function_; }
  /// The function for inputs and results of these shapes, one each, with extents folded. It has no
  /// ScalarExtent.
  TensorFunction bind(std::span<const runtime::Shape> inputs,
                      std::span<const runtime::Shape> results) const;

private:
  friend class NodeLister;
  friend class Binding;

  /// A node and where its operands stand in `operands_`, which are places in this list. The
  /// operands of a reduction are the extents of its loops and its body, that of the index of a sum
  /// is the extent of its loop.
  struct Entry {
    const ScalarNode* node;
    uint32_t firstOperand;
    uint32_t operandCount;
  };

  TensorFunction function_;
  /// Operands before users.
  std::vector<Entry> entries_;
  std::vector<uint32_t> operands_;
  /// The entries that the input shapes need, then those up to the end of each stage.
  std::vector<size_t> ends_;
  /// What those shapes and stages are made of: extents of tensors, extents of loops, bodies.
  std::vector<uint32_t> roots_;
};

} // namespace tensor
