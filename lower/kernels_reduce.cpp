// Reductions and scans on own types.
//
// The order in which floats are added is not that of the axes: strips keep several partial sums.
// Positions of extreme values do not depend on the order, because ties are broken by position.
#include "lower/kernels.h"
#include "lower/scalar_ops.h"

#include <limits>

namespace lower {

namespace {

using enum ScalarFunction;

/// What sums and products of `T` are kept in.
template <typename T>
using Accumulator = std::conditional_t<std::is_same_v<T, float>, double, Compute<T>>;

template <typename A, typename T>
T narrowFrom(const A& value) {
  return narrow<T>(Compute<T>(value));
}

/// A reduction by a scalar function with an identity; accumulators are of type `A`.
template <ScalarFunction function, typename T, typename A>
struct Fold {
  static A identity() {
    if constexpr (function == Add)
      return A(0);
    else if constexpr (function == Multiply)
      return A(1);
    else {
      using Limits = std::numeric_limits<A>;
      A low = Limits::has_infinity ? A(-Limits::infinity()) : Limits::lowest();
      A high = Limits::has_infinity ? Limits::infinity() : Limits::max();
      if constexpr (std::is_same_v<T, Bit>)
        high = 1;
      return function == Maximum ? low : high;
    }
  }
  static void start(std::byte* accumulators, size_t count) {
    auto* to = reinterpret_cast<A*>(accumulators);
    for (size_t j = 0; j < count; ++j)
      to[j] = identity();
  }
  static void addLanes(std::byte* accumulators, const std::byte* in, size_t count, int64_t,
                       int64_t) {
    auto* to = reinterpret_cast<A*>(accumulators);
    auto* from = reinterpret_cast<const T*>(in);
    for (size_t j = 0; j < count; ++j)
      to[j] = runtime::applied<function, A>(to[j], A(widen(from[j])));
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
        parts[k] = runtime::applied<function, A>(parts[k], A(widen(from[j + k])));
    A total = *reinterpret_cast<const A*>(accumulator);
    for (; j < count; ++j)
      total = runtime::applied<function, A>(total, A(widen(from[j])));
    for (const A& part : parts)
      total = runtime::applied<function, A>(total, part);
    *reinterpret_cast<A*>(accumulator) = total;
  }
  static void finish(std::byte* out, const std::byte* accumulators, size_t count) {
    auto* result = reinterpret_cast<T*>(out);
    auto* from = reinterpret_cast<const A*>(accumulators);
    for (size_t j = 0; j < count; ++j)
      result[j] = narrowFrom<A, T>(from[j]);
  }
};

/// All and Any: the accumulator is a byte, the result 0 or 1 of the element type.
template <bool all, typename T>
struct Quantifier {
  static void start(std::byte* accumulators, size_t count) {
    for (size_t j = 0; j < count; ++j)
      accumulators[j] = std::byte(all);
  }
  static void addLanes(std::byte* accumulators, const std::byte* in, size_t count, int64_t,
                       int64_t) {
    auto* from = reinterpret_cast<const T*>(in);
    for (size_t j = 0; j < count; ++j) {
      auto holds = std::byte(widen(from[j]) != 0);
      accumulators[j] = all ? accumulators[j] & holds : accumulators[j] | holds;
    }
  }
  static void addAll(std::byte* accumulator, const std::byte* in, size_t count, int64_t, int64_t) {
    auto* from = reinterpret_cast<const T*>(in);
    for (size_t j = 0; j < count; ++j)
      if ((widen(from[j]) != 0) != all)
        *accumulator = std::byte(!all);
  }
  static void finish(std::byte* out, const std::byte* accumulators, size_t count) {
    auto* result = reinterpret_cast<T*>(out);
    for (size_t j = 0; j < count; ++j)
      result[j] = narrow<T>(Compute<T>(accumulators[j] != std::byte(0)));
  }
};

template <typename C>
struct Best {
  C value;
  int64_t position;
};

/// The position of the extreme value. NaN beats every number; position -1 means none seen yet.
template <bool maximum, bool last, typename T, typename R>
struct Argument {
  using C = Compute<T>;

  static void join(Best<C>& best, C value, int64_t position) {
    if (best.position >= 0) {
      bool beats = maximum ? value > best.value : value < best.value;
      bool equal = value == best.value;
      if (isNan(value) || isNan(best.value)) {
        beats = isNan(value) && !isNan(best.value);
        equal = isNan(value) && isNan(best.value);
      }
      bool wins = beats || (equal && (last ? position > best.position : position < best.position));
      if (!wins)
        return;
    }
    best = {value, position};
  }
  static void start(std::byte* accumulators, size_t count) {
    auto* to = reinterpret_cast<Best<C>*>(accumulators);
    for (size_t j = 0; j < count; ++j)
      to[j] = {C(0), -1};
  }
  static void addLanes(std::byte* accumulators, const std::byte* in, size_t count, int64_t position,
                       int64_t) {
    auto* to = reinterpret_cast<Best<C>*>(accumulators);
    auto* from = reinterpret_cast<const T*>(in);
    for (size_t j = 0; j < count; ++j)
      join(to[j], widen(from[j]), position);
  }
  static void addAll(std::byte* accumulator, const std::byte* in, size_t count, int64_t position,
                     int64_t positionStep) {
    auto* from = reinterpret_cast<const T*>(in);
    Best<C> best = *reinterpret_cast<Best<C>*>(accumulator);
    for (size_t j = 0; j < count; ++j)
      join(best, widen(from[j]), position + int64_t(j) * positionStep);
    *reinterpret_cast<Best<C>*>(accumulator) = best;
  }
  static void finish(std::byte* out, const std::byte* accumulators, size_t count) {
    auto* result = reinterpret_cast<R*>(out);
    auto* from = reinterpret_cast<const Best<C>*>(accumulators);
    for (size_t j = 0; j < count; ++j)
      result[j] = R(from[j].position < 0 ? 0 : from[j].position);
  }
};

template <typename Reduction>
ReduceKernels kernelsOf(size_t accumulatorBytes) {
  return {accumulatorBytes, Reduction::start, Reduction::addLanes, Reduction::addAll,
          Reduction::finish};
}

template <ScalarFunction function, typename T, typename A>
ReduceKernels foldKernels() {
  return kernelsOf<Fold<function, T, A>>(sizeof(A));
}

template <typename T, typename R>
ReduceKernels argumentKernels(Combiner combiner) {
  constexpr size_t bytes = sizeof(Best<Compute<T>>);
  switch (combiner) {
  case Combiner::ArgMaximum:
    return kernelsOf<Argument<true, false, T, R>>(bytes);
  case Combiner::ArgMaximumLast:
    return kernelsOf<Argument<true, true, T, R>>(bytes);
  case Combiner::ArgMinimum:
    return kernelsOf<Argument<false, false, T, R>>(bytes);
  default:
    return kernelsOf<Argument<false, true, T, R>>(bytes);
  }
}

template <typename T>
ReduceKernels valueKernels(Combiner combiner) {
  switch (combiner) {
  case Combiner::Sum:
    return foldKernels<Add, T, Accumulator<T>>();
  case Combiner::Product:
    return foldKernels<Multiply, T, Accumulator<T>>();
  case Combiner::Maximum:
    return foldKernels<Maximum, T, Compute<T>>();
  case Combiner::Minimum:
    return foldKernels<Minimum, T, Compute<T>>();
  case Combiner::All:
    return kernelsOf<Quantifier<true, T>>(1);
  default:
    return kernelsOf<Quantifier<false, T>>(1);
  }
}

template <ScalarFunction function, typename T>
void scanLoop(std::byte* out, const std::byte* in, const ScanShape& shape) {
  using A = Accumulator<T>;
  for (int64_t row = 0; row < shape.outer; ++row)
    for (int64_t column = 0; column < shape.inner; ++column) {
      int64_t first = row * shape.extent * shape.inner + column;
      auto* result = reinterpret_cast<T*>(out) + first;
      auto* from = reinterpret_cast<const T*>(in) + first;
      A running = Fold<function, T, A>::identity();
      for (int64_t k = 0; k < shape.extent; ++k) {
        A next = runtime::applied<function, A>(running, A(widen(from[k * shape.inner])));
        result[k * shape.inner] = narrowFrom<A, T>(shape.exclusive ? running : next);
        running = next;
      }
    }
}

} // namespace

ReduceKernels reduceKernels(Combiner combiner, Element element, Element result) {
  return withOwnElement(element, [&](auto tag) -> ReduceKernels {
    using T = typename decltype(tag)::type;
    if (combiner < Combiner::ArgMaximum)
      return element == result ? valueKernels<T>(combiner) : ReduceKernels{};
    return result == Element::Int64   ? argumentKernels<T, int64_t>(combiner)
           : result == Element::Int32 ? argumentKernels<T, int32_t>(combiner)
                                      : ReduceKernels{};
  });
}

ScanKernel scanKernel(Combiner combiner, Element element) {
  return withOwnElement(element, [&](auto tag) -> ScanKernel {
    using T = typename decltype(tag)::type;
    return combiner == Combiner::Product ? scanLoop<Multiply, T> : scanLoop<Add, T>;
  });
}

} // namespace lower
