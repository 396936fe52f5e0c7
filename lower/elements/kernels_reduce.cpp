// Reductions and scans on own types.
//
// The order in which floats are added is not that of the axes: strips keep several partial sums.
// Positions of extreme values do not depend on the order, because ties are broken by position.
#include "lower/elements/kernels.h"
#include "lower/elements/scalar_ops.h"

#include <bit>
#include <limits>

namespace lower {

namespace {

using enum ScalarFunction;

/// A reduction by a scalar function; accumulators are of type `A`.
template <ScalarFunction function, typename T, typename A>
struct Fold {
  static A identity() {
    using Limits = std::numeric_limits<A>;
    if constexpr (function == Multiply || function == BitAnd)
      return A(1);
    else if constexpr (function == Maximum)
      return Limits::has_infinity ? A(-Limits::infinity()) : Limits::lowest();
    else if constexpr (function == Minimum)
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    else
      return A(0);
  }
  static void addLanes(std::byte* accumulators, const std::byte* in, size_t count, int64_t) {
    auto* to = reinterpret_cast<A*>(accumulators);
    auto* from = reinterpret_cast<const T*>(in);
    for (size_t j = 0; j < count; ++j)
      to[j] = runtime::applied<function, A>(to[j], A(from[j]));
  }
  static void addAll(std::byte* accumulator, const std::byte* in, size_t count, int64_t, int64_t) {
    constexpr size_t width = 8;
    auto* from = reinterpret_cast<const T*>(in);
    A parts[width];
    for (A& part : parts)
      part = identity();
    size_t j = 0;
    for (; j + width <= count; j += width)
      for (size_t k = 0; k < width; ++k)
        parts[k] = runtime::applied<function, A>(parts[k], A(from[j + k]));
    A total = *reinterpret_cast<const A*>(accumulator);
    for (; j < count; ++j)
      total = runtime::applied<function, A>(total, A(from[j]));
    for (const A& part : parts)
      total = runtime::applied<function, A>(total, part);
    *reinterpret_cast<A*>(accumulator) = total;
  }
};

template <ScalarFunction function, typename T, typename A = T>
ReduceKernels foldKernels(Element operand, Element accumulator) {
  using Kind = Fold<function, T, A>;
  using Bits = std::conditional_t<sizeof(A) == 8, uint64_t,
                                  std::conditional_t<sizeof(A) == 4, uint32_t, uint8_t>>;
  return {.operand = operand,
          .accumulator = accumulator,
          .start = std::bit_cast<Bits>(Kind::identity()),
          .addLanes = Kind::addLanes,
          .addAll = Kind::addAll};
}

/// Sums and products wrap alike with a sign and without. float32 is added up in float64, what is
/// narrower in float32.
template <ScalarFunction function>
ReduceKernels totalKernels(Element element) {
  switch (wideElement(element)) {
  case Element::Int32:
    return foldKernels<function, int32_t>(Element::Int32, Element::Int32);
  case Element::Float64:
    return foldKernels<function, double>(Element::Float64, Element::Float64);
  case Element::Float32:
    return element == Element::Float32
               ? foldKernels<function, float, double>(Element::Float32, Element::Float64)
               : foldKernels<function, float>(Element::Float32, Element::Float32);
  default:
    return foldKernels<function, int64_t>(Element::Int64, Element::Int64);
  }
}

template <ScalarFunction function>
ReduceKernels extremeKernels(Element element) {
  switch (wideElement(element)) {
  case Element::Int32:
    return foldKernels<function, int32_t>(Element::Int32, Element::Int32);
  case Element::UInt64:
    return foldKernels<function, uint64_t>(Element::UInt64, Element::UInt64);
  case Element::Float32:
    return foldKernels<function, float>(Element::Float32, Element::Float32);
  case Element::Float64:
    return foldKernels<function, double>(Element::Float64, Element::Float64);
  default:
    return foldKernels<function, int64_t>(Element::Int64, Element::Int64);
  }
}

/// All and Any, and whatever reduces bools.
template <ScalarFunction function>
ReduceKernels boolKernels() {
  return foldKernels<function, uint8_t>(Element::Bool, Element::Bool);
}

/// A number in the order of the values: of the largest, or with `maximum` unset of the smallest one
/// it is the largest. NaN beats every number.
template <bool maximum, typename T>
int64_t rankOf(T value) {
  int64_t rank;
  if constexpr (std::is_same_v<T, double>) {
    if (value != value)
      return INT64_MAX;
    rank = std::bit_cast<int64_t>(value + 0.0);
    rank ^= rank < 0 ? INT64_MAX : 0;
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    rank = int64_t(value ^ uint64_t(INT64_MIN));
  } else {
    rank = value;
  }
  return maximum ? rank : ~rank;
}

/// The best value so far; position -1 means none.
struct Best {
  int64_t rank;
  int64_t position;
};

/// The position of the extreme value, of equal ones the last.
template <bool maximum, typename T>
struct Argument {
  static void join(Best& best, T value, int64_t position) {
    int64_t rank = rankOf<maximum>(value);
    if (best.position < 0 || rank > best.rank || (rank == best.rank && position > best.position))
      best = {rank, position};
  }
  static void addLanes(std::byte* accumulators, const std::byte* in, size_t count,
                       int64_t position) {
    auto* to = reinterpret_cast<Best*>(accumulators);
    auto* from = reinterpret_cast<const T*>(in);
    for (size_t j = 0; j < count; ++j)
      join(to[j], from[j], position);
  }
  static void addAll(std::byte* accumulator, const std::byte* in, size_t count, int64_t position,
                     int64_t positionStep) {
    auto* from = reinterpret_cast<const T*>(in);
    Best best = *reinterpret_cast<Best*>(accumulator);
    for (size_t j = 0; j < count; ++j)
      join(best, from[j], position + int64_t(j) * positionStep);
    *reinterpret_cast<Best*>(accumulator) = best;
  }
};

template <bool countsDown>
void positionsLoop(std::byte* out, const std::byte* const* in, size_t count) {
  auto* result = reinterpret_cast<int64_t*>(out);
  auto* from = reinterpret_cast<const Best*>(in[0]);
  for (size_t j = 0; j < count; ++j) {
    int64_t position = from[j].position;
    result[j] = countsDown && position >= 0 ? INT64_MAX - position : position;
  }
}

template <bool maximum, typename T>
ReduceKernels argumentOf(Element operand, bool last) {
  using Kind = Argument<maximum, T>;
  return {.operand = operand,
          .accumulator = Element::Int64,
          .perLane = sizeof(Best) / sizeof(int64_t),
          .start = uint64_t(-1),
          .addLanes = Kind::addLanes,
          .addAll = Kind::addAll,
          .countsDown = !last,
          .finish = last ? positionsLoop<false> : positionsLoop<true>};
}

template <bool maximum>
ReduceKernels argumentKernels(Element element, bool last) {
  if (isFloat(element))
    return argumentOf<maximum, double>(Element::Float64, last);
  return element == Element::UInt64 ? argumentOf<maximum, uint64_t>(element, last)
                                    : argumentOf<maximum, int64_t>(Element::Int64, last);
}

} // namespace

ReduceKernels reduceKernels(Combiner combiner, Element element) {
  bool isBool = element == Element::Bool;
  switch (combiner) {
  case Combiner::Sum:
    return isBool ? boolKernels<BitXor>() : totalKernels<Add>(element);
  case Combiner::Product:
    return isBool ? boolKernels<BitAnd>() : totalKernels<Multiply>(element);
  case Combiner::Maximum:
    return isBool ? boolKernels<BitOr>() : extremeKernels<Maximum>(element);
  case Combiner::Minimum:
    return isBool ? boolKernels<BitAnd>() : extremeKernels<Minimum>(element);
  case Combiner::All:
    return boolKernels<BitAnd>();
  case Combiner::Any:
    return boolKernels<BitOr>();
  case Combiner::ArgMaximum:
    return argumentKernels<true>(element, false);
  case Combiner::ArgMaximumLast:
    return argumentKernels<true>(element, true);
  case Combiner::ArgMinimum:
    return argumentKernels<false>(element, false);
  case Combiner::ArgMinimumLast:
    return argumentKernels<false>(element, true);
  }
  return {};
}

} // namespace lower
