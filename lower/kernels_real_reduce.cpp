// Reductions and scans on reals. Accumulators are reals that planning has made, one per lane.
#include "lower/kernels.h"
#include "lower/real.h"
#include "lower/scalar_ops.h"

namespace lower {

namespace {

using enum ScalarFunction;

const Real* reals(const std::byte* bytes) {
  return reinterpret_cast<const Real*>(bytes);
}

Real& valueAt(std::byte* accumulators, size_t j) {
  return reinterpret_cast<Real*>(accumulators)[j];
}

Real identityOf(Combiner combiner) {
  switch (combiner) {
  case Combiner::Sum:
  case Combiner::Any:
    return Real(0);
  case Combiner::Product:
  case Combiner::All:
    return Real(1);
  case Combiner::Maximum:
    return Real(-std::numeric_limits<double>::infinity());
  default:
    return Real(std::numeric_limits<double>::infinity());
  }
}

template <Combiner combiner>
void join(Real& to, const Real& from) {
  if constexpr (combiner == Combiner::Sum)
    to += from;
  else if constexpr (combiner == Combiner::Product)
    to *= from;
  else if constexpr (combiner == Combiner::Maximum)
    to = applyBinary<Maximum, Real>(to, from);
  else if constexpr (combiner == Combiner::Minimum)
    to = applyBinary<Minimum, Real>(to, from);
  else if constexpr (combiner == Combiner::All)
    to = applyTest<LogicalAnd, Real>(to, from) ? 1 : 0;
  else
    to = applyTest<LogicalOr, Real>(to, from) ? 1 : 0;
}

template <Combiner combiner>
struct RealFold {
  static void start(std::byte* accumulators, size_t count) {
    for (size_t j = 0; j < count; ++j)
      valueAt(accumulators, j) = identityOf(combiner);
  }
  static void addLanes(std::byte* accumulators, const std::byte* in, size_t count, int64_t,
                       int64_t) {
    for (size_t j = 0; j < count; ++j)
      join<combiner>(valueAt(accumulators, j), reals(in)[j]);
  }
  static void addAll(std::byte* accumulator, const std::byte* in, size_t count, int64_t, int64_t) {
    for (size_t j = 0; j < count; ++j)
      join<combiner>(valueAt(accumulator, 0), reals(in)[j]);
  }
  static void finish(std::byte* out, const std::byte* accumulators, size_t count) {
    for (size_t j = 0; j < count; ++j)
      valueAt(out, j) = reals(accumulators)[j];
  }
};

/// Positions ride in a second real per lane: exact, since reals have at least 64 bits.
template <bool maximum, bool last, typename R>
struct RealArgument {
  static void joinAt(Real* best, const Real& value, int64_t position) {
    if (best[1] >= 0) {
      bool beats = maximum ? value > best[0] : value < best[0];
      bool equal = value == best[0];
      if (isNan(value) || isNan(best[0])) {
        beats = isNan(value) && !isNan(best[0]);
        equal = isNan(value) && isNan(best[0]);
      }
      if (!beats && !(equal && (last ? position > best[1] : position < best[1])))
        return;
    }
    best[0] = value;
    best[1] = position;
  }
  static void start(std::byte* accumulators, size_t count) {
    for (size_t j = 0; j < count; ++j)
      valueAt(accumulators, 2 * j + 1) = -1;
  }
  static void addLanes(std::byte* accumulators, const std::byte* in, size_t count, int64_t position,
                       int64_t) {
    for (size_t j = 0; j < count; ++j)
      joinAt(&valueAt(accumulators, 2 * j), reals(in)[j], position);
  }
  static void addAll(std::byte* accumulator, const std::byte* in, size_t count, int64_t position,
                     int64_t positionStep) {
    for (size_t j = 0; j < count; ++j)
      joinAt(&valueAt(accumulator, 0), reals(in)[j], position + int64_t(j) * positionStep);
  }
  static void finish(std::byte* out, const std::byte* accumulators, size_t count) {
    for (size_t j = 0; j < count; ++j) {
      const Real& position = reals(accumulators)[2 * j + 1];
      reinterpret_cast<R*>(out)[j] = position < 0 ? R(0) : R(position.convert_to<int64_t>());
    }
  }
};

template <typename Reduction>
ReduceKernels kernelsOf(size_t realsPerLane) {
  return {realsPerLane * realBytes, Reduction::start, Reduction::addLanes, Reduction::addAll,
          Reduction::finish};
}

template <typename R>
ReduceKernels argumentKernels(Combiner combiner) {
  switch (combiner) {
  case Combiner::ArgMaximum:
    return kernelsOf<RealArgument<true, false, R>>(2);
  case Combiner::ArgMaximumLast:
    return kernelsOf<RealArgument<true, true, R>>(2);
  case Combiner::ArgMinimum:
    return kernelsOf<RealArgument<false, false, R>>(2);
  default:
    return kernelsOf<RealArgument<false, true, R>>(2);
  }
}

template <Combiner combiner>
void scanLoop(std::byte* out, const std::byte* in, const ScanShape& shape) {
  for (int64_t row = 0; row < shape.outer; ++row)
    for (int64_t column = 0; column < shape.inner; ++column) {
      Real running = identityOf(combiner);
      for (int64_t k = 0; k < shape.extent; ++k) {
        size_t at = size_t((row * shape.extent + k) * shape.inner + column);
        if (shape.exclusive)
          valueAt(out, at) = running;
        join<combiner>(running, reals(in)[at]);
        if (!shape.exclusive)
          valueAt(out, at) = running;
      }
    }
}

} // namespace

ReduceKernels realReduceKernels(Combiner combiner, Element result) {
  switch (combiner) {
  case Combiner::Sum:
    return kernelsOf<RealFold<Combiner::Sum>>(1);
  case Combiner::Product:
    return kernelsOf<RealFold<Combiner::Product>>(1);
  case Combiner::Maximum:
    return kernelsOf<RealFold<Combiner::Maximum>>(1);
  case Combiner::Minimum:
    return kernelsOf<RealFold<Combiner::Minimum>>(1);
  case Combiner::All:
    return kernelsOf<RealFold<Combiner::All>>(1);
  case Combiner::Any:
    return kernelsOf<RealFold<Combiner::Any>>(1);
  default:
    return result == Element::Int64   ? argumentKernels<int64_t>(combiner)
           : result == Element::Int32 ? argumentKernels<int32_t>(combiner)
                                      : ReduceKernels{};
  }
}

ScanKernel realScanKernel(Combiner combiner) {
  return combiner == Combiner::Product ? scanLoop<Combiner::Product> : scanLoop<Combiner::Sum>;
}

} // namespace lower
