// What instructions do to strips, but for reads.
#include "codegen/strips/run_places.h"
#include "codegen/strips/thread.h"

#include <algorithm>
#include <cstring>

namespace strips {

namespace {

using lower::elementBytes;

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
