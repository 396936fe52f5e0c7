// What is looked at while a program runs that somebody else may have made: that strips are no
// longer than the memory that they are read from or written to. A program of our own passes always.
#include "codegen/strips/thread.h"

#include <algorithm>

namespace strips {

namespace {

using lower::elementBytes;

/// Of one operand: bytes of an element, and of one of the value.
struct Widths {
  int64_t from, to;
};

Widths widthsOf(const KernelName& name) {
  auto from = int64_t(elementBytes(name.from));
  if (name.kind == KernelKind::Cast)
    return {from, int64_t(elementBytes(name.to))};
  return {from, runtime::scalarFunctionGivesBool(name.function) ? 1 : from};
}

constexpr size_t zeroBytes = longestStrip * sizeof(int64_t);
/// Where it takes no room in a file.
[[gnu::section(".bss.zeros")]] alignas(64) std::byte zeros[zeroBytes];

} // namespace

Limits::Limits(const Program& program, std::span<const int64_t> given, int64_t most)
    : iterations(most), readable(program.registers.size()), writable(program.registers.size()),
      widest(program.registers.size()), buffers(program.buffers.size()) {
  for (uint32_t i = 0; i < program.registers.size(); ++i)
    own(program, i);
  for (uint32_t i = 0; i < program.buffers.size(); ++i)
    buffers[i] = i < given.size() ? given[i] : program.buffers[i].bytes;
}

bool Thread::refuse() {
  fault_ = runtime::Fault{runtime::FaultKind::Internal, "a kernel goes beyond its memory"};
  return false;
}

const std::byte* Thread::registerAt(uint32_t number, size_t bytes, size_t elementBytes) const {
  if (!limits_ || (uint64_t(limits_->readable[number]) >= bytes &&
                   uint64_t(limits_->widest[number]) >= elementBytes))
    return registers_[number];
  return zeros;
}

bool Limits::hold(uint32_t buffer, __int128 first, __int128 last, int64_t size) const {
  int64_t count = buffers[buffer] / size;
  return std::min(first, last) >= 0 && std::max(first, last) < count;
}

bool Thread::isSafe(const Instruction& at) {
  int64_t count = at.code <= Code::Check ? numbers_[at.count] : 0;
  int64_t size = int64_t(elementBytes(at.element));
  if (count < 0 || count > int64_t(program_.stripLength))
    return false;
  switch (at.code) {
  case Code::Row:
    limitRow(at);
    return true;
  case Code::Load:
    return isSafeLoad(at);
  case Code::Outside:
    return limits_->write(at.out, count, 1) && arePlacesReadable(at.a, count);
  case Code::Position:
    return limits_->write(at.out, count, 8);
  case Code::Number:
    return limits_->write(at.out, 1, 8);
  case Code::Splat:
    return limits_->read(at.a, 1, size) && limits_->write(at.out, count, size);
  case Code::Apply:
    return isSafeApply(at);
  case Code::Scan:
    size = size == 4 ? 4 : 8;
    return limits_->read(at.a, count, size) && limits_->read(at.b, 1, size) &&
           limits_->write(at.out, count, size);
  case Code::AddProducts:
    return limits_->read(at.a, count, 4) && limits_->read(at.b, count, 4) &&
           limits_->write(at.out, 1, 8);
  case Code::AddScaled:
    return limits_->read(at.a, count, 4) && limits_->read(at.b, 1, 4) &&
           limits_->write(at.out, count, 4);
  case Code::Check:
    return limits_->read(at.a, count, 1) && limits_->read(at.b, count, 1) &&
           (at.c == none || arePlacesReadable(at.c, count));
  case Code::Store:
  case Code::StoreAt:
    return isSafeStore(at);
  case Code::Contract:
    return isSafe(program_.contractions[at.a]);
  case Code::Stop:
    return true;
  default:
    return isSafeJoin(at);
  }
}

bool Thread::isSafeApply(const Instruction& at) const {
  int64_t count = numbers_[at.count];
  const KernelName& name = program_.kernels[at.kernel];
  auto [from, to] = widthsOf(name);
  bool isSelect =
      name.kind == KernelKind::Apply && name.function == runtime::ScalarFunction::Select;
  return limits_->read(at.a, count, isSelect ? 1 : from) && limits_->read(at.b, count, from) &&
         limits_->read(at.c, count, from) && limits_->write(at.out, count, to);
}

bool Thread::isSafeJoin(const Instruction& at) const {
  int64_t count = numbers_[at.count];
  if (at.code == Code::JoinPlaces) {
    int64_t size = at.element == Element::Float32 || at.element == Element::Int32 ? 4 : 8;
    int64_t made = (at.flags & EachLane) != 0 ? count : 1;
    return limits_->read(at.a, count, 8) && limits_->read(at.b, count, size) &&
           limits_->write(at.out, made, 8) && limits_->write(at.c, made, size);
  }
  const KernelName& name = program_.kernels[at.kernel];
  lower::ReduceKernels kernels = lower::reduceKernels(name.combiner, name.from);
  auto total = int64_t(elementBytes(kernels.accumulator)),
       operand = int64_t(elementBytes(kernels.operand));
  int64_t lanes = at.code == Code::Join ? count : 1;
  return limits_->read(at.a, count, operand) &&
         limits_->read(at.a, count * int64_t(elementBytes(at.element)), 1) &&
         limits_->write(at.out, lanes * kernels.perLane, total);
}

bool Thread::isSafeStore(const Instruction& at) const {
  int64_t count = numbers_[at.count], size = int64_t(elementBytes(at.element));
  if (isInput(at.a))
    return false;
  if (count == 0)
    return true;
  if (!limits_->read(at.out, count, size))
    return false;
  if (at.code == Code::Store) {
    __int128 first = numbers_[at.b], stride = count == 1 ? 1 : numbers_[at.c];
    return limits_->hold(at.a, first, first + stride * (count - 1), size);
  }
  if (!limits_->read(at.b, count, 8))
    return false;
  auto* places = reinterpret_cast<const int64_t*>(registers_[at.b]);
  auto [least, most] = std::ranges::minmax(std::span(places, size_t(count)));
  return limits_->hold(at.a, least, most, size);
}

bool Thread::arePlacesReadable(uint32_t access, int64_t count) const {
  return std::ranges::all_of(placesOf(program_.accesses[access]), [&](const Place& place) {
    return limits_->read(place.value, place.isStrip ? count : 1, 8);
  });
}

void Thread::limitRow(const Instruction& at) {
  int64_t size = int64_t(elementBytes(at.element)), first = numbers_[at.b];
  int64_t& limit = limits_->readable[at.out];
  limit = limits_->hold(at.a, first, first, size) ? limits_->buffers[at.a] - first * size : 0;
  limits_->writable[at.out] = isInput(at.a) ? 0 : limit;
  limits_->widest[at.out] = size;
}

bool Thread::isSafeLoad(const Instruction& at) {
  const Access& access = program_.accesses[at.a];
  int64_t count = numbers_[at.count], size = int64_t(elementBytes(access.element));
  if (!limits_->read(access.fill, 1, size) || !arePlacesReadable(at.a, count))
    return false;
  bool isInPlace = at.flags == 1;
  if (isInPlace && !limits_->write(at.out, count, size))
    return false;
  int64_t& limit = limits_->readable[at.out];
  if (!isInPlace) {
    limits_->own(program_, at.out);
    limits_->writable[at.out] = 0;
  }
  if (count == 0) {
    limit = 0;
    return true;
  }
  size_t low = 0, high = size_t(count);
  int64_t first = numbers_[access.offset], stride = count == 1 ? 1 : numbers_[access.lane];
  boundLanes(access, size_t(count), low, high);
  if (!addSharedPlaces(access, first))
    high = low;
  bool isIndexed = hasStripOfPlaces(access);
  if (!isIndexed && low < high) {
    __int128 from = first + __int128(stride) * int64_t(low);
    if (!limits_->hold(access.buffer, from, from + __int128(stride) * int64_t(high - low - 1),
                       size))
      return false;
    if (!isInPlace && low == 0 && high == size_t(count) && stride == 1) {
      limit = limits_->buffers[access.buffer] - first * size;
      limits_->widest[at.out] = size;
      return true;
    }
  }
  return limit >= count * size;
}

/// Sums go to elements of the buffer, and there are not more products than may be.
bool Thread::isSafe(const Contraction& contraction) {
  if (isInput(contraction.buffer))
    return false;
  __int128 least = numbers_[contraction.offset], most = least;
  double products = 1;
  auto add = [&](uint32_t first, uint32_t count, bool isStored) {
    for (uint32_t i = first; i < first + count; ++i) {
      const Axis& axis = program_.axes[i];
      int64_t end = std::max<int64_t>(numbers_[axis.end], 0);
      products *= double(std::max<int64_t>(end, 1));
      __int128 reach = isStored && end > 0 ? __int128(numbers_[axis.stride]) * (end - 1) : 0;
      (reach < 0 ? least : most) += reach;
    }
  };
  add(contraction.firstBatch, contraction.batchCount, true);
  add(contraction.rows.firstAxis, contraction.rows.axisCount, true);
  add(contraction.columns.firstAxis, contraction.columns.axisCount, true);
  add(contraction.firstSummed, contraction.summedCount, false);
  constexpr double productsOfIteration = 64;
  double iterations = products / productsOfIteration;
  if (iterations >= double(limits_->iterations))
    return false;
  limits_->iterations -= int64_t(iterations);
  return limits_->hold(contraction.buffer, least, most, int64_t(elementBytes(contraction.element)));
}

} // namespace strips
