// Reads, the flags of positions outside, and the words for faults.
//
// No memory outside of a buffer is read: where positions go on evenly the lanes inside are one
// interval, where they are values each lane is tested.
#include "codegen/strips/thread.h"
#include "lower/tensor/outside.h"

#include <algorithm>
#include <cstring>

namespace strips {

namespace {

using lower::elementBytes;

int64_t ceilQuotient(int64_t a, int64_t b) {
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

/// Narrows [low, high) to the lanes j where 0 <= first + j * stride < extent.
void clipLanes(int64_t first, int64_t stride, int64_t extent, int64_t& low, int64_t& high) {
  if (stride == 0) {
    if (first < 0 || first >= extent)
      high = low;
  } else if (stride == 1) {
    low = std::max(low, -first);
    high = std::min(high, extent - first);
  } else if (stride > 0) {
    low = std::max(low, ceilQuotient(-first, stride));
    high = std::min(high, ceilQuotient(extent - first, stride));
  } else {
    low = std::max(low, ceilQuotient(first - extent + 1, -stride));
    high = std::min(high, ceilQuotient(first + 1, -stride));
  }
}

constexpr int64_t zero = 0;

} // namespace

/// The lanes whose even positions lie inside; low <= high <= count.
void Thread::boundLanes(const Access& access, size_t count, size_t& low, size_t& high) const {
  int64_t from = 0, to = int64_t(count);
  for (const Place& place : placesOf(access))
    if (place.value == none)
      clipLanes(numbers_[place.position], numbers_[place.lane], numbers_[place.extent], from, to);
  low = size_t(std::clamp<int64_t>(from, 0, int64_t(count)));
  high = size_t(std::clamp<int64_t>(to, int64_t(low), int64_t(count)));
}

bool Thread::hasStripOfPlaces(const Access& access) const {
  return std::ranges::any_of(placesOf(access), [](const Place& place) {
    return place.value != none && place.isStrip;
  });
}

void Thread::load(const Instruction& at) {
  const Access& access = program_.accesses[at.a];
  size_t count = size_t(numbers_[at.count]), low = 0, high = count;
  int64_t first = numbers_[access.offset], stride = count == 1 ? 1 : numbers_[access.lane];
  boundLanes(access, count, low, high);
  if (!addSharedPlaces(access, first))
    high = low;
  bool isInPlace = at.flags == 1;
  std::byte* out = isInPlace ? registers_[at.out] : own(at.out);
  registers_[at.out] = out;
  if (hasStripOfPlaces(access))
    return loadIndexed(access, out, first, low, high, count);
  size_t size = elementBytes(access.element);
  // Where no lane is inside, the position of the first one may be any number.
  std::byte* from = nullptr;
  if (low < high)
    from = buffers_[access.buffer] + (first + int64_t(low) * stride) * int64_t(size);
  if (low == 0 && high == count && stride == 1) {
    if (!isInPlace)
      registers_[at.out] = from;
    else if (from != out)
      std::memmove(out, from, count * size);
    return;
  }
  const std::byte* fill =
      access.fill == none ? reinterpret_cast<const std::byte*>(&zero) : registers_[access.fill];
  if (low > 0)
    lower::splatKernel(access.element)(out, &fill, low);
  if (high < count)
    lower::splatKernel(access.element)(out + high * size, &fill, count - high);
  if (low < high)
    lower::stridedKernel(access.element)(out + low * size, from, stride, high - low);
}

/// Adds the positions that are values and the same in all lanes; false when one is outside.
bool Thread::addSharedPlaces(const Access& access, int64_t& first) const {
  bool isInside = true;
  for (const Place& place : placesOf(access))
    if (place.value != none && !place.isStrip) {
      int64_t position = valueAt(place, 0);
      isInside &= uint64_t(position) < uint64_t(numbers_[place.extent]);
      first += isInside ? position * numbers_[place.stride] : 0;
    }
  return isInside;
}

void Thread::loadIndexed(const Access& access, std::byte* out, int64_t first, size_t low,
                         size_t high, size_t count) {
  int64_t offsets[longestStrip];
  for (size_t j = 0; j < count; ++j)
    offsets[j] = j >= low && j < high ? first + int64_t(j) * numbers_[access.lane] : -1;
  for (const Place& place : placesOf(access)) {
    if (place.value == none || !place.isStrip)
      continue;
    auto* index = reinterpret_cast<const int64_t*>(registers_[place.value]);
    int64_t extent = numbers_[place.extent], stride = numbers_[place.stride];
    for (size_t j = 0; j < count; ++j) {
      bool isInside = offsets[j] >= 0 && uint64_t(index[j]) < uint64_t(extent);
      offsets[j] = isInside ? offsets[j] + index[j] * stride : -1;
    }
  }
  if (limits_) {
    int64_t elements = limits_->buffers[access.buffer] / int64_t(elementBytes(access.element));
    for (size_t j = 0; j < count; ++j)
      offsets[j] = offsets[j] < elements ? offsets[j] : -1;
  }
  const std::byte* fill =
      access.fill == none ? reinterpret_cast<const std::byte*>(&zero) : registers_[access.fill];
  lower::gatherKernel(access.element)(out, buffers_[access.buffer], offsets, fill, count);
}

void Thread::outside(const Instruction& at) {
  const Access& access = program_.accesses[at.a];
  size_t count = size_t(numbers_[at.count]), low = 0, high = count;
  boundLanes(access, count, low, high);
  auto* flags = reinterpret_cast<uint8_t*>(registers_[at.out]);
  std::memset(flags, 1, low);
  std::memset(flags + low, 0, high - low);
  std::memset(flags + high, 1, count - high);
  for (const Place& place : placesOf(access)) {
    if (place.value == none)
      continue;
    auto extent = uint64_t(numbers_[place.extent]);
    auto* positions = reinterpret_cast<const int64_t*>(registers_[place.value]);
    if (place.isStrip)
      for (size_t j = 0; j < count; ++j)
        flags[j] |= uint64_t(positions[j]) >= extent;
    else if (uint64_t(*positions) >= extent)
      std::memset(flags, 1, count);
  }
}

bool Thread::check(const Instruction& at) {
  auto count = size_t(numbers_[at.count]);
  const std::byte* flags = registers_[at.a];
  if (std::memchr(flags, 1, count) == nullptr)
    return true;
  for (size_t j = 0; j < count; ++j)
    if (flags[j] != std::byte(0) && (at.b == none || registers_[at.b][j] != std::byte(0))) {
      describe(at.c, j);
      return false;
    }
  return true;
}

void Thread::describe(uint32_t access, size_t lane) {
  std::string problem = "integer division by zero";
  if (access != none)
    for (const Place& place : placesOf(program_.accesses[access])) {
      int64_t position = place.value == none
                             ? numbers_[place.position] + int64_t(lane) * numbers_[place.lane]
                             : valueAt(place, lane);
      int64_t extent = numbers_[place.extent];
      if (position < 0 || position >= extent)
        problem = tensor::outsideText(position, place.dimension, extent);
    }
  fault_ = runtime::Fault{runtime::FaultKind::Data, std::move(problem)};
}

} // namespace strips
