// Tensor functions put together: what one gives the next one takes, in one function.
//
// A tensor that is made element by element and read at few places is written into its readers and
// is never made: a chain of element-wise functions becomes one stage. Kept are stages whose
// elements would be computed again and again: sums, what a sum reads several times, what is dear
// and read at several places. Equal nodes become one, so engines see where readers read the same.
#pragma once

#include "lower/tensor/rewrite.h"

#include <unordered_set>
#include <vector>

namespace tensor {

/// An operand of a function: a tensor, or a constant in place of a tensor without dimensions.
struct Composed {
  uint32_t tensor = 0;
  const ScalarNode* everywhere = nullptr;
};

class Composition {
public:
  /// Where extents and constants are made.
  Arena& arena() { return *function_.arena; }

  /// A size of the whole: the extent of a dimension of an input.
  const ScalarNode* addSize(SizeParameter size) { return tensor::addSize(function_, size); }

  /// Inputs come before all functions. Extents are made of numbers and sizes.
  Composed addInput(runtime::DType dtype, ScalarNodes shape);

  /// Adds a function with one operand for each of its inputs; the extents of its results are in
  /// terms of the sizes of the whole, as those of addInput(). Gives its results.
  std::vector<Composed> add(const TensorFunction& function, std::span<const Composed> operands,
                            std::span<const ScalarNodes> resultShapes);

  /// Says that a tensor is made in any case, so that its readers need not compute it again.
  void keep(const Composed& tensor) { kept_.insert(tensor.tensor); }

  /// The whole with these results, without what they do not need; the composition is used up.
  TensorFunction take(std::span<const Composed> results);

private:
  friend class Adder;

  uint32_t addStage(Stage stage, TensorInfo info);
  /// The tensor itself, made if it is a constant so far.
  uint32_t tensorOf(const Composed& operand, const ScalarNodes& shape);

  TensorFunction function_;
  UniqueNodes nodes_{*function_.arena};
  uint32_t nextAxis_ = 0;
  std::unordered_set<uint32_t> kept_;
};

} // namespace tensor
