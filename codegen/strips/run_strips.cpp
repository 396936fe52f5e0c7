// What instructions do to strips, but for reads.
#include "codegen/strips/run_places.h"
#include "codegen/strips/thread.h"

#include <algorithm>
#include <cstring>

namespace strips {

namespace {

using lower::elementBytes;

template <bool multiplies, typename T>
T joined(T a, T b) {
  return multiplies ? a * b : a + b;
}

/// Few at once, so that only one step of each few waits for the total before.
template <bool multiplies, typename T>
size_t scanFews(T* out, const T* from, T& total, size_t count) {
  constexpr size_t few = 4;
  size_t whole = count / few * few;
  for (size_t j = 0; j < whole; j += few) {
    T first = from[j], two = joined<multiplies>(first, from[j + 1]), third = from[j + 2];
    T three = joined<multiplies>(two, third),
      all = joined<multiplies>(two, joined<multiplies>(third, from[j + 3]));
    out[j] = joined<multiplies>(total, first);
    out[j + 1] = joined<multiplies>(total, two);
    out[j + 2] = joined<multiplies>(total, three);
    out[j + 3] = total = joined<multiplies>(total, all);
  }
  return whole;
}

template <bool multiplies, typename T>
void scan(const Instruction& how, std::byte* const* registers, size_t count) {
  auto* out = reinterpret_cast<T*>(registers[how.out]);
  auto* from = reinterpret_cast<const T*>(registers[how.a]);
  T total = *reinterpret_cast<const T*>(registers[how.b]);
  size_t done = (how.flags & InOrder) != 0 ? 0 : scanFews<multiplies>(out, from, total, count);
  for (size_t j = done; j < count; ++j)
    out[j] = total = joined<multiplies>(total, from[j]);
}

template <typename T>
void scan(const Instruction& how, std::byte* const* registers, size_t count) {
  if ((how.flags & Multiplies) != 0)
    scan<true, T>(how, registers, count);
  else
    scan<false, T>(how, registers, count);
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
    else if (elementBytes(at.element) == 4)
      scan<uint32_t>(at, registers_, count);
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
    joinPlaces(at, registers_, count);
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
