// Tight loops over strips: runs of elements in a row, one element type each.
//
// A kernel knows nothing of expressions or shapes. Pointers are to elements of the type that the
// kernel was asked for; outputs never overlap inputs partly, though they may be the same strip.
//
// Only the types that programs compute with much have loops of their own. The others are converted
// to a wider one, strip by strip, and back, which gives the same bits: whole numbers wrap, and
// floats of 16 bits are computed in float anyway. Bool has its own loops, since it wraps at one bit
// but is converted by a comparison.
#pragma once

#include "lower/elements/element.h"
#include "lower/tensor/expression.h"

#include <memory>

namespace lower {

using tensor::Combiner;
using tensor::ScalarFunction;

/// out[j] = f(in[0][j], in[1][j], ...) for j < count.
using ApplyKernel = void (*)(std::byte* out, const std::byte* const* in, size_t count);

/// The type in which a function of operands of type `element` is computed: this one, or a wider one
/// from which the value is converted back.
Element computeElement(ScalarFunction function, Element element);

/// The loop of a function whose first operand (of Select, the second) has type `operand`, a
/// computeElement() of it; null when the function is not defined on it. The condition of Select
/// must be bool.
ApplyKernel applyKernel(ScalarFunction function, Element operand);

/// The loop of a conversion, as tensor::ScalarCast describes it; null when it takes more than one.
/// From Int64 and Float64 and to the same size of whole numbers there is always one.
ApplyKernel castKernel(Element from, Element to);
/// The type to convert to next on the way from one to another.
Element castStep(Element from, Element to);

/// out[j] = in[0][0].
ApplyKernel splatKernel(Element element);

/// out[j] = base[j * stride].
using StridedKernel = void (*)(std::byte* out, const std::byte* base, int64_t stride, size_t count);
StridedKernel stridedKernel(Element element);

/// out[j] = base[offsets[j]], or fill[0] where the offset is negative.
using GatherKernel = void (*)(std::byte* out, const std::byte* base, const int64_t* offsets,
                              const std::byte* fill, size_t count);
GatherKernel gatherKernel(Element element);

/// out[offsets[j]] = in[j].
using PlaceKernel = void (*)(std::byte* out, const int64_t* offsets, const std::byte* in,
                             size_t count);
PlaceKernel placeKernel(Element element);

/// out[j * stride] = in[j].
using ScatterKernel = void (*)(std::byte* out, int64_t stride, const std::byte* in, size_t count);
ScatterKernel scatterKernel(Element element);

/// How one combiner reduces one type.
struct ReduceKernels {
  /// What elements are converted to first.
  Element operand = Element::Bool;
  /// What accumulators are, which may be wider: float32 adds up in float64.
  Element accumulator = Element::Bool;
  /// An accumulator is so many in a row, each of which starts with the low bits of `start`.
  uint32_t perLane = 1;
  uint64_t start = 0;
  /// Joins element j into accumulator j. `position` is the row-major position of all of them.
  void (*addLanes)(std::byte* accumulators, const std::byte* in, size_t count,
                   int64_t position) = nullptr;
  /// Joins all elements into the one accumulator; element j has position + j * positionStep.
  void (*addAll)(std::byte* accumulator, const std::byte* in, size_t count, int64_t position,
                 int64_t positionStep) = nullptr;
  /// Whether positions are counted down from INT64_MAX, so that of equal values the first wins.
  bool countsDown = false;
  /// Makes values of type `accumulator` of accumulators; null when they are the values.
  ApplyKernel finish = nullptr;
};

/// The values of a reduction are converted to its type.
ReduceKernels reduceKernels(Combiner combiner, Element element);

} // namespace lower
