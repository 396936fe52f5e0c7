// The computation of pools and of their gradients.
//
// A gradient is gathered, not scattered: each element asks the windows that may contain it.
#include "stdlib/ops/pool/pool_call.h"

#include "stdlib/ops/averages.h"
#include "stdlib/ops/common.h"

#include <fmt/format.h>

namespace stdlib {

using lang::ComputeCall;
using lang::Dim;
using lang::Extents;
using lang::Position;
using lang::RelationCall;
using lang::RelationResult;
using lang::Scalar;
using lang::TensorHandle;
using runtime::Checked;
using runtime::DType;
using runtime::Problem;
using tensor::Combiner;

namespace {

/// The conjunction of conditions, of which there may be none.
std::optional<Scalar> both(std::optional<Scalar> left, std::optional<Scalar> right) {
  return left && right ? std::optional(*left && *right) : left ? left : right;
}

Scalar ifHolds(std::optional<Scalar> condition, Scalar then, Scalar otherwise) {
  return condition ? select(*condition, then, otherwise) : then;
}

/// The element that tap `tap` of the window at `at` reads, or `outside` where there is none.
Scalar tapped(const Pool& pool, TensorHandle data, const Position& at, const Position& tap,
              Scalar outside) {
  Position from = at;
  std::optional<Scalar> condition;
  bool mayLeave = false;
  for (size_t i = 0; i < pool.dims.size(); ++i) {
    const PoolDim& dim = pool.dims[i];
    from[dim.dim] = dim.position(at[dim.dim], tap[i]);
    mayLeave |= dim.mayLeave;
    if (dim.hasTap)
      condition = both(condition, dim.hasTap(at[dim.dim], tap[i]));
  }
  return ifHolds(condition, mayLeave ? data.orElse(from, outside) : data(from), outside);
}

Extents tapExtents(const Pool& pool) {
  Extents extents;
  for (const PoolDim& dim : pool.dims)
    extents.push_back(dim.taps);
  return extents;
}

/// How many elements the windows average over, per spatial position of a window; at least 1.
TensorHandle windowCounts(ComputeCall& call, const Pool& pool, const Extents& result) {
  Extents windows;
  for (const PoolDim& dim : pool.dims)
    windows.push_back(result[dim.dim]);
  return call.define(windows, [&](const Position& at) {
    Scalar total = call.integer(1);
    for (size_t i = 0; i < at.size(); ++i)
      total = total * pool.dims[i].count(at[i]);
    return maximum(total, call.integer(1));
  });
}

/// `sum`, which is wide, over the count of the window at `at`.
Scalar averageOf(const Pool& pool, const TensorHandle& counts, const Position& at, Scalar sum,
                 DType dtype) {
  Position window;
  for (const PoolDim& dim : pool.dims)
    window.push_back(at[dim.dim]);
  Scalar count = counts(window);
  return average(sum, count, dtype);
}

/// The shape of the pool in the layout of the data.
Extents pooledExtents(const Pool& pool, const Extents& result) {
  return convertExtents(pool.result, pool.data, result);
}

} // namespace

TensorHandle pooled(ComputeCall& call, const Pool& pool, const TensorHandle& data) {
  Extents taps = tapExtents(pool), shape = pooledExtents(pool, call.outputShape());
  DType dtype = data.dtype();
  std::optional<TensorHandle> counts;
  if (pool.kind == PoolKind::Average)
    counts = windowCounts(call, pool, shape);
  Scalar outside = counts ? call.number(dtype, 0) : lowestOf(call, dtype);
  return call.define(shape, [&](const Position& at) {
    auto body = [&](const Position& tap) { return tapped(pool, data, at, tap, outside); };
    if (!counts)
      return call.maximumOver(taps, body);
    Scalar sum = call.sumOver(taps, [&](const Position& tap) { return widened(body(tap)); });
    return averageOf(pool, *counts, at, sum, dtype);
  });
}

void poolResult(ComputeCall& call, const Pool& pool) {
  TensorHandle result = pooled(call, pool, call.input(0));
  if (pool.data == pool.result)
    return call.result(result);
  call.result(
      [&](const Position& at) { return result(convertPosition(pool.result, pool.data, at)); });
}

namespace {

/// The tap of the first greatest element of each window, as a row-major number.
TensorHandle greatestTaps(ComputeCall& call, const Pool& pool, const Extents& shape) {
  TensorHandle data = call.input(1);
  Scalar outside = lowestOf(call, data.dtype());
  return call.define(shape, [&](const Position& at) {
    return call.reduce(
        Combiner::ArgMaximum, tapExtents(pool),
        [&](const Position& tap) { return tapped(pool, data, at, tap, outside); }, runtime::Int64);
  });
}

} // namespace

void poolGradientResult(ComputeCall& call, const Pool& pool) {
  TensorHandle gradient = call.input(0);
  DType dtype = call.outputDType();
  Extents shape = pooledExtents(pool, gradient.shape()), covers, taps = tapExtents(pool);
  auto gradientAt = [&](const Position& at) {
    return cast(gradient(convertPosition(pool.data, pool.result, at)), dtype);
  };
  std::optional<TensorHandle> greatest;
  if (pool.kind == PoolKind::Maximum)
    greatest = greatestTaps(call, pool, shape);
  std::optional<TensorHandle> counts;
  if (!greatest)
    counts = windowCounts(call, pool, shape);
  TensorHandle share = call.define(shape, [&](const Position& at) {
    return counts ? averageOf(pool, *counts, at, widened(gradientAt(at)), dtype) : gradientAt(at);
  });
  for (const PoolDim& dim : pool.dims)
    covers.push_back(dim.covers);
  Scalar zero = call.number(dtype, 0);
  call.result([&](const Position& at) {
    return call.sumOver(covers, [&](const Position& cover) {
      Position window = at, tap;
      std::optional<Scalar> condition;
      for (size_t i = 0; i < pool.dims.size(); ++i) {
        const PoolDim& dim = pool.dims[i];
        Scalar element = at[dim.dim];
        window[dim.dim] = dim.window(element, cover[i]);
        tap.push_back(dim.tap(element, cover[i]));
        if (dim.isWindow)
          condition = both(condition, dim.isWindow(element, cover[i]));
      }
      if (greatest)
        condition =
            both(condition, greatest->orElse(window, call.integer(-1)) == flatten(tap, taps));
      return ifHolds(condition, share.orElse(window, zero), zero);
    });
  });
}

void poolTakenResult(ComputeCall& call, const Pool& pool) {
  TensorHandle values = call.input(0);
  Extents shape = pooledExtents(pool, call.outputShape()), taps = tapExtents(pool);
  TensorHandle greatest = greatestTaps(call, pool, shape);
  Scalar zero = call.number(values.dtype(), 0);
  TensorHandle taken = call.define(shape, [&](const Position& at) {
    Position from = at, tap = unflatten(greatest(at), taps);
    for (size_t i = 0; i < pool.dims.size(); ++i)
      from[pool.dims[i].dim] = pool.dims[i].position(at[pool.dims[i].dim], tap[i]);
    return values.orElse(from, zero);
  });
  call.result(
      [&](const Position& at) { return taken(convertPosition(pool.result, pool.data, at)); });
}

namespace {

/// The windows that an element may be in. Taps next to each other are read by windows next to each
/// other, from the last one that begins at the element or before it; else each tap is asked for the
/// window that reads the element there.
void setSlidingCovers(PoolDim& dim, ComputeCall& call, int64_t taps, int64_t before, int64_t stride,
                      int64_t dilation) {
  if (dilation == 1) {
    auto place = [=](Scalar element) { return element + double(before); };
    dim.covers = call.integer((taps + stride - 1) / stride);
    dim.window = [=](Scalar element, Scalar cover) {
      return floorDivide(place(element), stride) - cover;
    };
    dim.tap = [=](Scalar element, Scalar cover) {
      return floorMod(place(element), stride) + cover * double(stride);
    };
    if (taps % stride != 0)
      dim.isWindow = [tap = dim.tap, taps](Scalar element, Scalar cover) {
        return tap(element, cover) < double(taps);
      };
    return;
  }
  auto offset = [=](Scalar element, Scalar cover) {
    return element + double(before) - cover * double(dilation);
  };
  dim.covers = call.integer(taps);
  dim.window = [=](Scalar element, Scalar cover) {
    return floorDivide(offset(element, cover), stride);
  };
  if (stride != 1)
    dim.isWindow = [=](Scalar element, Scalar cover) {
      return floorMod(offset(element, cover), stride) == 0.0;
    };
  dim.tap = [](Scalar, Scalar cover) { return cover; };
}

} // namespace

PoolDim slidingDim(ComputeCall& call, const Window& window, size_t i, int64_t taps, Scalar extent,
                   bool includePad, bool ceilMode) {
  int64_t stride = window.strides[i], dilation = window.dilation[i];
  int64_t before = window.before[i], after = window.after[i];
  PoolDim dim;
  dim.taps = call.integer(taps);
  bool isExact = before == 0 && after == 0 && !ceilMode;
  dim.mayLeave = !isExact;
  bool isEven = isExact || (includePad && !ceilMode);
  Scalar first = call.integer(-before);
  auto startOf = [=](Scalar o) { return o * double(stride) + first; };
  dim.position = [=](Scalar o, Scalar tap) { return startOf(o) + tap * double(dilation); };
  Scalar allTaps = dim.taps, zero = call.integer(0);
  dim.count = [=](Scalar o) {
    if (isEven)
      return allTaps;
    Scalar start = startOf(o), end = includePad ? extent + double(after) : extent;
    Scalar stop = minimum(floorDivide(end - start - 1.0, dilation) + 1.0, allTaps);
    if (includePad)
      return maximum(stop, zero);
    Scalar skipped = maximum(floorDivide(double(dilation) - 1.0 - start, dilation), zero);
    return maximum(stop - skipped, zero);
  };
  setSlidingCovers(dim, call, taps, before, stride, dilation);
  return dim;
}

namespace {

/// floor(index * from / to).
Scalar spanStart(Scalar index, Scalar from, Scalar to) {
  return floorDivide(index * from, to);
}

/// ceil((index + 1) * from / to).
Scalar spanEnd(Scalar index, Scalar from, Scalar to) {
  return floorDivide((index + 1.0) * from + to - 1.0, to);
}

/// An extent as a divisor.
Scalar asDivisor(Scalar extent) {
  return maximum(extent, number(extent, 1));
}

/// Whether one extent divides another.
Scalar divides(Scalar divisor, Scalar extent) {
  return floorMod(extent, asDivisor(divisor)) == 0.0;
}

/// The greatest length of a span, which is one more where spans differ.
Scalar spanLength(Scalar from, Scalar to, Scalar isEven) {
  Scalar quotient = floorDivide(from + asDivisor(to) - 1.0, asDivisor(to));
  return quotient + cast(!isEven, runtime::Int64);
}

} // namespace

PoolDim adaptiveDim(Scalar extent, Scalar windows) {
  // When the windows divide the extent, they are neighbours and start at multiples; when one
  // divides the other, all are equally long.
  Scalar isPartition = divides(windows, extent), isEven = isPartition || divides(extent, windows);
  PoolDim dim;
  dim.taps = spanLength(extent, windows, isEven);
  dim.covers = spanLength(windows, extent, isEven);
  Scalar taps = dim.taps;
  auto start = [=](Scalar o) {
    return select(isPartition, o * taps, spanStart(o, extent, windows));
  };
  dim.position = [=](Scalar o, Scalar tap) { return start(o) + tap; };
  dim.window = [=](Scalar i, Scalar cover) { return spanStart(i, windows, extent) + cover; };
  auto window = dim.window;
  dim.tap = [=](Scalar i, Scalar cover) { return i - start(window(i, cover)); };
  dim.hasTap = [=](Scalar o, Scalar tap) {
    return isEven || start(o) + tap < spanEnd(o, extent, windows);
  };
  dim.isWindow = [=](Scalar i, Scalar cover) {
    return isEven || window(i, cover) < spanEnd(i, windows, extent);
  };
  dim.count = [=](Scalar o) {
    return select(isEven, taps, spanEnd(o, extent, windows) - start(o));
  };
  return dim;
}

Checked<PoolLayouts> readPoolLayouts(const lang::Attributes& attributes, size_t dims) {
  auto data = parseLayout(attributes.text("layout"));
  if (!data)
    return data.failure();
  for (char axis : spatialAxes(dims))
    if (!data->find(axis) || data->tileOf(axis) != 1)
      return Problem{fmt::format("the layout `{}` must have the axes `{}`, not tiled",
                                 attributes.text("layout"), spatialAxes(dims))};
  auto result = readLayout(attributes, "out_layout", *data, *data);
  if (!result)
    return result.failure();
  return PoolLayouts{*data, *result};
}

std::optional<RelationResult> requirePoolRank(const RelationCall& call, size_t operand,
                                              const Layout& layout) {
  if (call.rank(operand) == layout.rank())
    return std::nullopt;
  return call.failedAt(operand,
                       fmt::format("the layout `{}` has {} dimensions, but the shape `{}` has {}",
                                   layoutText(layout), layout.rank(),
                                   shapeText(call.shape(operand)), call.rank(operand)));
}

RelationResult solvedPool(const RelationCall& call, size_t operand, const PoolLayouts& layouts,
                          const std::vector<const Dim*>& spatial) {
  std::vector<const Dim*> shape(call.shape(operand).begin(), call.shape(operand).end());
  std::string_view axes = spatialAxes(spatial.size());
  for (size_t i = 0; i < spatial.size(); ++i)
    shape[*layouts.data.find(axes[i])] = spatial[i];
  auto tiled = tiledShape(call.types, layouts.data, layouts.result, shape);
  if (!tiled)
    return call.failedAt(operand, tiled.failure());
  RelationResult result = call.solved(*tiled, call.dtype(operand));
  requireTiles(result, call.types, layouts.data, layouts.result, shape);
  return result;
}

RelationResult solvedPoolGradient(const RelationCall& call, const RelationResult& pooled) {
  if (pooled.outcome != RelationResult::Outcome::Solved)
    return pooled;
  lang::Dims expected = pooled.output->shape, given = call.shape(0);
  bool agrees = expected.size() == given.size();
  for (size_t i = 0; agrees && i < given.size(); ++i)
    agrees = !call.differ(expected[i], given[i]);
  if (!agrees)
    return call.failedAt(0,
                         fmt::format("the pool of the data has shape {}, but the gradient has {}",
                                     shapeText(expected), shapeText(given)));
  if (call.dtype(0).isFloat() != call.dtype(1).isFloat())
    return call.failedAt(
        0, words("the gradient is `{}`, but the data is `{}`", call.dtype(0), call.dtype(1)));
  RelationResult result = call.solved(call.operands[1]);
  result.bounds = pooled.bounds;
  for (size_t i = 0; i < given.size(); ++i)
    requireSame(result, call.types, expected[i], given[i]);
  return result;
}

RelationResult solvedPoolTaken(const RelationCall& call, const RelationResult& pooled) {
  if (pooled.outcome != RelationResult::Outcome::Solved)
    return pooled;
  lang::Dims given = call.shape(0), expected = call.shape(1);
  bool agrees = expected.size() == given.size();
  for (size_t i = 0; agrees && i < given.size(); ++i)
    agrees = !call.differ(expected[i], given[i]);
  if (!agrees)
    return call.failedAt(0, fmt::format("the shapes `{}` and `{}` of values and data differ",
                                        shapeText(given), shapeText(expected)));
  if (call.dtype(0).isFloat() != call.dtype(1).isFloat())
    return call.failedAt(
        0, words("the values are `{}`, but the data is `{}`", call.dtype(0), call.dtype(1)));
  RelationResult result = call.solved(pooled.output->shape, call.dtype(0));
  result.bounds = pooled.bounds;
  for (size_t i = 0; i < given.size(); ++i)
    requireSame(result, call.types, expected[i], given[i]);
  return result;
}

} // namespace stdlib
