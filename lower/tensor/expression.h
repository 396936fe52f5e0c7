// Tensor expressions: what an operator computes, in index notation.
//
// lower/tensor/ has these expressions as data, and what whoever reads them needs: folding, numbers
// for extents, the contract of engines. It knows nothing of the language.
//
// A TensorFunction maps input tensors to result tensors through stages; each stage defines every
// element of one tensor by a scalar expression over its position. The interpreter evaluates stages
// as they stand; code generators fuse and schedule them. Writers of operators use the handles of
// lang/op/compute.h; only engines look at the nodes here.
//
// Index arithmetic is ordinary scalar arithmetic in int64; an extent is an int64 scalar too: a
// number where the types of the call have one, else made of sizes. Those are parameters of the
// function, each with a dimension that has it: whoever runs the function knows the shapes of its
// inputs, and those of its results by asking the operator's relation. What bind.h has puts numbers
// in their place. Loop axes are numbered uniquely within a TensorFunction.
#pragma once

#include "runtime/arena.h"
#include "runtime/dtype.h"
#include "runtime/scalar_function.h"

#include <memory>
#include <vector>

namespace tensor {

using runtime::Arena;
using runtime::ScalarFunction;
using runtime::scalarFunctionArity;
using runtime::scalarFunctionDivides;
using runtime::scalarFunctionGivesBool;
using runtime::scalarFunctionName;

/// How a reduction joins values. The Arg kinds give the row-major position over the reduced axes of
/// the extreme value (the first or the last of equal ones), as an integer of the node's type.
enum class Combiner : uint8_t {
  Sum,
  Product,
  Maximum,
  Minimum,
  All,
  Any,
  ArgMaximum,
  ArgMaximumLast,
  ArgMinimum,
  ArgMinimumLast
};

enum class ScalarKind : uint8_t { Number, Index, Size, Load, Apply, Cast, Reduce };

/// Base of the nodes; `dtype` is the type of the value.
struct ScalarNode {
  ScalarKind kind;
  runtime::DType dtype;

  template <typename T>
  const T* as() const {
    return kind == T::kindOf ? static_cast<const T*>(this) : nullptr;
  }
};

/// A constant: `integer` when the type is integer or bool, else `real`, already rounded to the
/// type.
struct ScalarNumber : ScalarNode {
  static constexpr ScalarKind kindOf = ScalarKind::Number;
  double real;
  int64_t integer;
};

/// The position along a loop axis, int64.
struct ScalarIndex : ScalarNode {
  static constexpr ScalarKind kindOf = ScalarKind::Index;
  uint32_t axis;
};

/// The size with that number among those of the function, int64.
struct ScalarSize : ScalarNode {
  static constexpr ScalarKind kindOf = ScalarKind::Size;
  uint32_t number;
};

/// An element of a tensor. `position` has one int64 scalar per dimension. When `outside` is set it
/// is the value at positions outside the tensor; otherwise such a position is a run-time fault.
struct ScalarLoad : ScalarNode {
  static constexpr ScalarKind kindOf = ScalarKind::Load;
  uint32_t tensor;
  std::span<const ScalarNode* const> position;
  const ScalarNode* outside;
};

/// A scalar function of operands. Of Select only the chosen side counts, so the other one may
/// load outside its tensor or divide by zero.
struct ScalarApply : ScalarNode {
  static constexpr ScalarKind kindOf = ScalarKind::Apply;
  ScalarFunction function;
  std::span<const ScalarNode* const> operands;
};

/// A conversion to `dtype`, as in C: floats to integers truncate (saturating outside the range, NaN
/// to 0), integers wrap, anything to bool is "not zero".
struct ScalarCast : ScalarNode {
  static constexpr ScalarKind kindOf = ScalarKind::Cast;
  const ScalarNode* operand;
};

/// One loop: its number and how often it runs, an int64 scalar without indices and loads.
struct LoopAxis {
  uint32_t number;
  const ScalarNode* extent;
};

/// A reduction of `body` over all positions of `axes`.
struct ScalarReduce : ScalarNode {
  static constexpr ScalarKind kindOf = ScalarKind::Reduce;
  Combiner combiner;
  std::span<const LoopAxis> axes;
  const ScalarNode* body;
};

enum class StageKind : uint8_t { Map, Reshape, Scan };

/// Defines one tensor. Map: element at `axes` is `body`. Reshape: the elements of `source` in
/// row-major order under a new shape. Scan: running `combiner` (Sum or Product) of `source` along
/// dimension `axis`; an exclusive scan starts with the identity.
struct Stage {
  StageKind kind = StageKind::Map;
  std::span<const LoopAxis> axes = {};
  const ScalarNode* body = nullptr;
  uint32_t source = 0;
  Combiner combiner = Combiner::Sum;
  size_t axis = 0;
  bool exclusive = false;
};

/// Element type and extents of a tensor in a TensorFunction; extents as in LoopAxis.
struct TensorInfo {
  runtime::DType dtype;
  std::vector<const ScalarNode*> shape;
};

/// A size that a call gives: the extent of dimension `dim` of input `tensor`, or of that result.
struct SizeParameter {
  bool isOfResult = false;
  uint32_t tensor = 0;
  uint32_t dim = 0;
};

/// Inputs are tensors 0 .. inputCount-1; stage k defines tensor inputCount+k from tensors before
/// it. A result may be an input, a stage, or the same tensor twice.
struct TensorFunction {
  /// Of the nodes, which copies of the function share.
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();
  std::vector<SizeParameter> sizes = {};
  size_t inputCount = 0;
  std::vector<TensorInfo> tensors;
  std::vector<Stage> stages;
  std::vector<uint32_t> results;
};

/// A node for a further size of the function.
const ScalarNode* addSize(TensorFunction& function, SizeParameter size);

/// The tensors whose extents a call gives: inputs, then results.
std::vector<uint32_t> givenTensors(const TensorFunction& function);

/// The function in readable index notation, for `--print` options and tests.
std::string tensorFunctionText(const TensorFunction& function);

} // namespace tensor
