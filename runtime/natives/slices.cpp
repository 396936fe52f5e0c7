// Writes nothing but the slice where the data is its own.
#include "runtime/natives/slices.h"

#include "runtime/natives/elements.h"
#include "runtime/natives/tensor_data.h"

#include <algorithm>

namespace natives {

bool AxisSlice::isWhole() const {
  return begin.value_or(0) == 0 && stride == 1 && (!end || *end >= INT32_MAX);
}

std::optional<SliceRange> resolveSlice(const AxisSlice& slice, int64_t extent) {
  bool forward = slice.stride > 0;
  int64_t low = forward ? 0 : -1, high = forward ? extent : extent - 1;
  auto place = [&](int64_t bound) {
    return std::clamp(bound < 0 ? bound + extent : bound, low, high);
  };
  int64_t begin = slice.begin ? place(*slice.begin) : forward ? low : high;
  int64_t end = forward ? high : low;
  if (slice.end && slice.endIsSize)
    end = begin + std::min(*slice.end, extent - begin);
  else if (slice.end)
    end = place(*slice.end);
  int64_t distance = forward ? end - begin : begin - end;
  if (distance < 0)
    return std::nullopt;
  int64_t step = forward ? slice.stride : -slice.stride;
  return SliceRange{begin, slice.stride, distance / step + (distance % step != 0)};
}

namespace {

/// Writes the runs of a value that lie along the last dimension.
struct SliceWriter {
  const Tensor& value;
  const std::vector<SliceRange>& ranges;
  Tensor& to;

  void run() const {
    size_t last = ranges.size() - 1;
    int64_t length = ranges[last].count;
    std::vector<int64_t> at(last);
    for (int64_t done = 0; done < value.size(); done += length) {
      int64_t row = 0;
      for (size_t i = 0; i < last; ++i)
        row = row * to.shape()[i] + ranges[i].begin + at[i] * ranges[i].stride;
      writeRow(done, row * to.shape()[last] + ranges[last].begin);
      for (size_t i = last; i-- > 0 && ++at[i] == ranges[i].count;)
        at[i] = 0;
    }
  }

private:
  void writeRow(int64_t from, int64_t place) const {
    const SliceRange& range = ranges.back();
    if (range.stride == 1)
      return copyElements(value, from, to, place, range.count);
    for (int64_t i = 0; i < range.count; ++i)
      copyElements(value, from + i, to, place + i * range.stride, 1);
  }
};

NativeResults setResults(NativeTypes inputs, const NoParameters&) {
  bool isGood = inputs.size() == 5 && isKnown(inputs[0].dtype) &&
                inputs[1].dtype == inputs[0].dtype && inputs[1].rank == inputs[0].rank;
  for (size_t i = 2; isGood && i < 5; ++i)
    isGood = inputs[i].dtype.isInteger() && isKnown(inputs[i].dtype) && inputs[i].rank == 1;
  return isGood ? NativeResults({inputs[0]}) : std::nullopt;
}

/// The slice of each dimension, or nothing where one has a stride of 0 or begins behind its end.
std::optional<std::vector<SliceRange>> rangesOf(const Shape& shape,
                                                const std::array<std::vector<int64_t>, 3>& bounds) {
  const auto& [begin, end, strides] = bounds;
  std::vector<SliceRange> ranges;
  for (size_t i = 0; i < shape.size(); ++i) {
    AxisSlice slice;
    if (i < begin.size())
      slice.begin = begin[i];
    if (i < end.size())
      slice.end = end[i];
    if (i < strides.size())
      slice.stride = std::max(strides[i], -INT64_MAX);
    auto range = slice.stride == 0 ? std::nullopt : resolveSlice(slice, shape[i]);
    if (!range)
      return std::nullopt;
    ranges.push_back(*range);
  }
  return ranges;
}

/// A slice that is none replaces nothing.
NativeFault runSet(const NativeCall& call, const NoParameters&) {
  const Shape& shape = call.inputs[0].shape();
  const Tensor& value = call.inputs[1];
  std::array<std::vector<int64_t>, 3> bounds;
  for (size_t i = 0; i < 3; ++i) {
    auto numbers = integerValues(call.inputs[2 + i]);
    if (!numbers)
      return {NativeFaultCode::IndexTooLarge};
    if (numbers->size() > shape.size())
      return {NativeFaultCode::Shapes};
    bounds[i] = *std::move(numbers);
  }
  auto ranges = rangesOf(shape, bounds);
  for (size_t i = 0; ranges && i < shape.size(); ++i)
    if ((*ranges)[i].count != value.shape()[i])
      return {NativeFaultCode::SliceShape, {int64_t(i), value.shape()[i], (*ranges)[i].count}};
  Tensor& result = call.outputs.emplace_back(ownElements(call.inputs[0]));
  if (result.rank() == 0)
    copyElements(value, 0, result, 0, 1);
  else if (ranges && value.size() > 0)
    SliceWriter{value, *ranges, result}.run();
  return {};
}

} // namespace

constinit const NativeOf<NoParameters> setSlice =
    native<NoParameters, setResults, runSet>("setSlice");

} // namespace natives
