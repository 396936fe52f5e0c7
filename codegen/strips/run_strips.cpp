// What instructions do to strips, but for reads.
#include "codegen/strips/thread.h"

#include <algorithm>
#include <cstring>

namespace strips {

namespace {

using lower::elementBytes;

/// A value and its place.
template <typename T>
struct Best {
  int64_t place;
  T value;
};

/// The better of two. NaN beats every number; of equal values the place decides.
template <typename T>
void join(const Instruction& how, Best<T>& best, const Best<T>& other) {
  T a = other.value, b = best.value;
  bool isBetter = (how.flags & Largest) != 0 ? a > b : a < b;
  if (!isBetter && (a != a || a == b)) {
    bool isFurther =
        (how.flags & LastWins) != 0 ? other.place > best.place : other.place < best.place;
    isBetter = (a != a && b == b) || ((a == b || b != b) && isFurther);
  } else if (b != b) {
    isBetter = false;
  }
  if (isBetter)
    best = other;
}

/// Whether no value of a few can take the place of the best one; when not, it may be so.
template <typename T>
bool areWorse(const Instruction& how, const Best<T>& best, const int64_t* places, const T* values,
              size_t count) {
  bool isLargest = (how.flags & Largest) != 0, isLast = (how.flags & LastWins) != 0;
  T bound = best.value;
  unsigned reaches = 0;
  if (isLargest)
    for (size_t j = 0; j < count; ++j)
      reaches |= unsigned(isLast ? !(values[j] < bound) : !(values[j] <= bound));
  else
    for (size_t j = 0; j < count; ++j)
      reaches |= unsigned(isLast ? !(values[j] > bound) : !(values[j] >= bound));
  for (size_t j = 0; j < count && !isLast; ++j)
    reaches |= unsigned(places[j] < best.place);
  return reaches == 0;
}

template <typename T>
void joinPlaces(const Instruction& how, std::byte* const* registers, size_t count) {
  auto* bestPlaces = reinterpret_cast<int64_t*>(registers[how.out]);
  auto* bestValues = reinterpret_cast<T*>(registers[how.c]);
  auto* places = reinterpret_cast<const int64_t*>(registers[how.a]);
  auto* values = reinterpret_cast<const T*>(registers[how.b]);
  if ((how.flags & EachLane) != 0) {
    for (size_t j = 0; j < count; ++j) {
      Best<T> best{bestPlaces[j], bestValues[j]};
      join(how, best, {places[j], values[j]});
      bestPlaces[j] = best.place;
      bestValues[j] = best.value;
    }
    return;
  }
  constexpr size_t few = 16;
  Best<T> best{bestPlaces[0], bestValues[0]};
  for (size_t first = 0; first < count; first += few) {
    size_t end = std::min(first + few, count);
    if (areWorse(how, best, places + first, values + first, end - first))
      continue;
    for (size_t j = first; j < end; ++j)
      join(how, best, {places[j], values[j]});
  }
  bestPlaces[0] = best.place;
  bestValues[0] = best.value;
}

template <typename T>
void scan(const Instruction& how, std::byte* const* registers, size_t count) {
  auto* out = reinterpret_cast<T*>(registers[how.out]);
  auto* from = reinterpret_cast<const T*>(registers[how.a]);
  T total = *reinterpret_cast<const T*>(registers[how.b]);
  for (size_t j = 0; j < count; ++j) {
    total = how.flags == 1 ? total * from[j] : total + from[j];
    out[j] = total;
  }
}

} // namespace

bool Thread::runStrip(const Instruction& at) {
  auto count = size_t(numbers_[at.count]);
  switch (at.code) {
  case Code::Load:
    load(at);
    return true;
  case Code::Outside:
    outside(at);
    return true;
  case Code::Position: {
    auto* out = reinterpret_cast<int64_t*>(registers_[at.out]);
    int64_t first = numbers_[at.a], step = numbers_[at.b];
    for (size_t j = 0; j < count; ++j)
      out[j] = int64_t(uint64_t(first) + j * uint64_t(step));
    return true;
  }
  case Code::Number:
    std::memcpy(registers_[at.out], numbers_ + at.a, sizeof(int64_t));
    return true;
  case Code::Splat: {
    const std::byte* from = registers_[at.a];
    lower::splatKernel(at.element)(registers_[at.out], &from, count);
    return true;
  }
  case Code::Check:
    return check(at);
  default:
    store(at);
    return true;
  }
}

void Thread::store(const Instruction& at) {
  auto count = size_t(numbers_[at.count]);
  auto size = int64_t(elementBytes(at.element));
  switch (at.code) {
  case Code::Store: {
    std::byte* to = buffers_[at.a] + numbers_[at.b] * size;
    int64_t stride = count == 1 ? 1 : numbers_[at.c];
    if (stride != 1)
      lower::scatterKernel(at.element)(to, stride, registers_[at.out], count);
    else if (to != registers_[at.out])
      std::memmove(to, registers_[at.out], count * size_t(size));
    break;
  }
  case Code::StoreAt:
    lower::placeKernel(at.element)(buffers_[at.a],
                                   reinterpret_cast<const int64_t*>(registers_[at.b]),
                                   registers_[at.out], count);
    break;
  case Code::Scan:
    if (at.element == Element::Float64)
      scan<double>(at, registers_, count);
    else
      scan<uint64_t>(at, registers_, count);
    break;
  case Code::Reduce:
    reduce(at);
    break;
  case Code::AddProducts: {
    auto sumOfProducts = linked_.rowLoops.sumOfProducts;
    *reinterpret_cast<double*>(registers_[at.out]) +=
        sumOfProducts(reinterpret_cast<const float*>(registers_[at.a]),
                      reinterpret_cast<const float*>(registers_[at.b]), count);
    break;
  }
  case Code::AddScaled:
    linked_.rowLoops.addStrip(reinterpret_cast<float*>(registers_[at.out]),
                              reinterpret_cast<const float*>(registers_[at.a]),
                              *reinterpret_cast<const float*>(registers_[at.b]), count);
    break;
  case Code::JoinPlaces:
    if (at.element == Element::Float64)
      joinPlaces<double>(at, registers_, count);
    else if (at.element == Element::Float32)
      joinPlaces<float>(at, registers_, count);
    else if (at.element == Element::UInt64)
      joinPlaces<uint64_t>(at, registers_, count);
    else
      joinPlaces<int64_t>(at, registers_, count);
    break;
  default:
    break;
  }
}

void Thread::reduce(const Instruction& at) {
  auto count = size_t(numbers_[at.count]);
  auto addAll = linked_.kernels[at.kernel].addAll;
  if (at.flags == 0)
    return addAll(registers_[at.out], registers_[at.a], count, 0, 0);
  for (size_t j = 0; j < count; ++j)
    addAll(registers_[at.out], registers_[at.a] + j * elementBytes(at.element), 1, 0, 0);
}

} // namespace strips
