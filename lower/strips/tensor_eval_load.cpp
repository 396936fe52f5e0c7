// Loads, the flags of positions outside, and the report of faults.
//
// A load never reads outside its tensor: where the position is affine, the lanes inside are one
// interval per strip; where it is data, each lane is tested.
#include "lower/strips/tensor_eval_strip.h"
#include "lower/tensor/outside.h"

#include <algorithm>
#include <cstring>

namespace lower {

namespace {

int64_t ceilQuotient(int64_t a, int64_t b) {
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

/// Narrows [low, high) to the lanes j where 0 <= first + j * stride < extent.
void clipLanes(int64_t first, int64_t stride, int64_t extent, int64_t& low, int64_t& high) {
  if (stride == 0) {
    if (first < 0 || first >= extent)
      high = low;
  } else if (stride > 0) {
    low = std::max(low, ceilQuotient(-first, stride));
    high = std::min(high, ceilQuotient(extent - first, stride));
  } else {
    low = std::max(low, ceilQuotient(first - extent + 1, -stride));
    high = std::min(high, ceilQuotient(first + 1, -stride));
  }
}

} // namespace

/// The lanes whose affine positions lie inside; low <= high <= count.
void StripRunner::boundLanes(const Step& step, const GraphValue& load, size_t& low,
                             size_t& high) const {
  int64_t from = 0, to = int64_t(countOf(step.lane)), count = to;
  for (const AffineBound& bound : load.bounds) {
    int64_t stride = step.lane == none ? 0 : bound.position.coefficient(step.lane).number;
    clipLanes(valueOf(bound.position), stride, bound.extent.number, from, to);
  }
  low = size_t(std::clamp<int64_t>(from, 0, count));
  high = size_t(std::clamp<int64_t>(to, int64_t(low), count));
}

void StripRunner::runLoad(const Step& step) {
  const GraphValue& load = nest_.graph.values[step.value];
  size_t count = countOf(step.lane), low = 0, high = count;
  int64_t first = valueOf(load.affine);
  bool isInRow = !step.copies && (step.laneStride.number == 1 || count == 1);
  if (isInRow && load.bounds.empty() && load.indices.empty()) {
    int64_t offset = first * int64_t(elementBytes(load.element));
    registers_[step.out] = const_cast<std::byte*>(tensors_[load.tensor] + offset);
    return;
  }
  if (!load.bounds.empty())
    boundLanes(step, load, low, high);
  if (!addSharedIndices(load, first))
    high = low;
  if (std::ranges::any_of(load.indices, [&](const IndexTerm& term) { return !isShared(term); })) {
    loadIndexed(step, load, first, low, high);
    return;
  }
  // Where no lane is inside, the position of the first one may be any number.
  size_t size = elementBytes(load.element);
  const std::byte* from = nullptr;
  if (low < high)
    from = tensors_[load.tensor] + (first + int64_t(low) * step.laneStride.number) * int64_t(size);
  if (low == 0 && high == count && isInRow) {
    registers_[step.out] = const_cast<std::byte*>(from);
    return;
  }
  if (!step.copies)
    registers_[step.out] = own_[step.out];
  std::byte* out = registers_[step.out];
  const std::byte* fill = low > 0 || high < count ? registers_[load.fill] : nullptr;
  if (low > 0)
    splatKernel(load.element)(out, &fill, low);
  if (high < count)
    splatKernel(load.element)(out + high * size, &fill, count - high);
  if (low < high)
    stridedKernel(load.element)(out + low * size, from, step.laneStride.number, high - low);
}

/// Adds the positions that are data and the same in all lanes; false when one is outside.
bool StripRunner::addSharedIndices(const GraphValue& load, int64_t& first) const {
  bool isInside = true;
  for (const IndexTerm& term : load.indices)
    if (isShared(term)) {
      int64_t position = elementOfIndex(term.position, 0);
      isInside &= uint64_t(position) < uint64_t(term.extent.number);
      first += isInside ? position * term.stride.number : 0;
    }
  return isInside;
}

/// A load with positions that are data and differ between lanes: `low` and `high` bound the lanes
/// whose other positions are inside, `first` is what these make of the first lane.
void StripRunner::loadIndexed(const Step& step, const GraphValue& load, int64_t first, size_t low,
                              size_t high) {
  size_t count = countOf(step.lane);
  if (offsets_.size() < nest_.stripLength)
    offsets_.resize(nest_.stripLength);
  int64_t* offsets = offsets_.data();
  for (size_t j = 0; j < count; ++j)
    offsets[j] = j >= low && j < high ? first + int64_t(j) * step.laneStride.number : -1;
  for (const IndexTerm& term : load.indices) {
    if (isShared(term))
      continue;
    auto* index = reinterpret_cast<const int64_t*>(registers_[term.position]);
    for (size_t j = 0; j < count; ++j) {
      int64_t position = index[j];
      bool inside = offsets[j] >= 0 && uint64_t(position) < uint64_t(term.extent.number);
      offsets[j] = inside ? offsets[j] + position * term.stride.number : -1;
    }
  }
  if (!step.copies)
    registers_[step.out] = own_[step.out];
  gatherKernel(load.element)(registers_[step.out], tensors_[load.tensor], offsets,
                             registers_[load.fill], count);
}

void StripRunner::runOutside(const Step& step) {
  const GraphValue& load = nest_.graph.values[step.value];
  size_t count = countOf(step.lane), low = 0, high = count;
  boundLanes(step, load, low, high);
  auto* flags = reinterpret_cast<uint8_t*>(registers_[step.out]);
  std::memset(flags, 1, low);
  std::memset(flags + low, 0, high - low);
  std::memset(flags + high, 1, count - high);
  for (const IndexTerm& term : load.indices) {
    if (term.inside)
      continue;
    auto* index = reinterpret_cast<const int64_t*>(registers_[term.position]);
    if (!isShared(term))
      for (size_t j = 0; j < count; ++j)
        flags[j] |= uint64_t(index[j]) >= uint64_t(term.extent.number);
    else if (uint64_t(*index) >= uint64_t(term.extent.number))
      std::memset(flags, 1, count);
  }
}

bool StripRunner::runCheck(const Step& step) {
  auto laneStep = [&](uint32_t number) {
    return number == none || nest_.registers[number].lane == none ? size_t(0) : size_t(1);
  };
  uint32_t flag = step.operands[0], mask = step.operands[1];
  size_t flagStep = laneStep(flag), maskStep = laneStep(mask);
  size_t count = countOf(step.lane);
  const std::byte* flags = registers_[flag];
  if (flagStep == 1 && std::memchr(flags, 1, count) == nullptr)
    return true;
  for (size_t j = 0; j < count; ++j) {
    bool counts = mask == none || registers_[mask][j * maskStep] != std::byte(0);
    if (flags[j * flagStep] != std::byte(0) && counts) {
      describeFault(nest_.graph.checks[step.value].fault, j);
      return false;
    }
  }
  return true;
}

int64_t StripRunner::elementOfIndex(uint32_t id, size_t lane) const {
  size_t step = nest_.registers[id].lane == none ? 0 : 1;
  return reinterpret_cast<const int64_t*>(registers_[id])[lane * step];
}

void StripRunner::describeFault(const Faultable& fault, size_t lane) {
  const GraphValue& value = nest_.graph.values[fault.value];
  if (value.kind != GraphValueKind::Load) {
    problem_ = "integer division by zero";
    return;
  }
  auto report = [&](int64_t position, int64_t extent, uint32_t dimension) {
    if (position < 0 || position >= extent)
      problem_ = tensor::outsideText(position, dimension, extent);
  };
  for (const AffineBound& bound : value.bounds) {
    uint32_t axis = nest_.registers[fault.value].lane;
    int64_t stride = axis == none ? 0 : bound.position.coefficient(axis).number;
    report(valueOf(bound.position) + int64_t(lane) * stride, bound.extent.number, bound.dimension);
  }
  for (const IndexTerm& term : value.indices)
    if (!term.inside)
      report(elementOfIndex(term.position, lane), term.extent.number, term.dimension);
}

} // namespace lower
