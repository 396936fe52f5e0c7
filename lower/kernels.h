// Tight loops over strips: runs of elements in a row, one element type each.
//
// A kernel knows nothing of expressions or shapes. Pointers are to elements of the type that the
// kernel was asked for; outputs never overlap inputs partly, though they may be the same strip.
#pragma once

#include "lower/element.h"
#include "tensor/expression.h"

#include <memory>

namespace lower {

using tensor::Combiner;
using tensor::ScalarFunction;

/// out[j] = f(in[0][j], in[1][j], ...) for j < count.
using ApplyKernel = void (*)(std::byte* out, const std::byte* const* in, size_t count);

/// The loop of a function whose first operand (of Select, the second) has type `operand`; null when
/// the function is not defined on it. The condition of Select must be bool.
ApplyKernel applyKernel(ScalarFunction function, Element operand);

/// The loop of a conversion, as tensor::ScalarCast describes it.
ApplyKernel castKernel(Element from, Element to);

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

/// How one combiner reduces one type. Accumulators may be wider than the elements: 16-bit floats
/// add up in float, float32 in double.
struct ReduceKernels {
  size_t accumulatorBytes = 0;
  void (*start)(std::byte* accumulators, size_t count) = nullptr;
  /// Joins element j into accumulator j. `position` is the row-major position of all of them.
  void (*addLanes)(std::byte* accumulators, const std::byte* in, size_t count, int64_t position,
                   int64_t positionStep) = nullptr;
  /// Joins all elements into the one accumulator; element j has position + j * positionStep.
  void (*addAll)(std::byte* accumulator, const std::byte* in, size_t count, int64_t position,
                 int64_t positionStep) = nullptr;
  void (*finish)(std::byte* out, const std::byte* accumulators, size_t count) = nullptr;
};

/// `result` is the type of the reduction; it differs from `element` for the Arg combiners. `addAll`
/// is null when the combination is not defined.
ReduceKernels reduceKernels(Combiner combiner, Element element, Element result);

/// Running sum or product along the middle of three extents.
struct ScanShape {
  int64_t outer, extent, inner;
  bool exclusive;
};
using ScanKernel = void (*)(std::byte* out, const std::byte* in, const ScanShape& shape);
ScanKernel scanKernel(Combiner combiner, Element element);

} // namespace lower
