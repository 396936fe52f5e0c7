// The loop over instructions, and what they do to numbers.
#include "codegen/strips/run.h"

#include "codegen/strips/arithmetic.h"
#include "codegen/strips/thread.h"
#include "runtime/parts.h"

#include <algorithm>
#include <cstring>

namespace strips {

namespace {

/// Where an element of a buffer begins, or would: a row that nobody reads may be anywhere, so this
/// is not computed as a pointer.
std::byte* rowAt(std::byte* buffer, int64_t element, size_t bytes) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(buffer) +
                                      uint64_t(element) * bytes);
}

constexpr size_t alignment = 64;

size_t aligned(size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

} // namespace

Kernel kernelOf(const KernelName& name) {
  switch (name.kind) {
  case KernelKind::Apply:
    return {.apply = lower::applyKernel(name.function, name.from)};
  case KernelKind::Cast:
    return {.apply = lower::castKernel(name.from, name.to)};
  case KernelKind::AddLanes:
    return {.addLanes = lower::reduceKernels(name.combiner, name.from).addLanes};
  case KernelKind::AddAll:
    return {.addAll = lower::reduceKernels(name.combiner, name.from).addAll};
  }
  return {};
}

LinkedProgram linked(Program program, bool isForeign) {
  LinkedProgram made{std::move(program), {}, lower::rowLoops(), isForeign};
  for (const KernelName& name : made.program.kernels)
    made.kernels.push_back(kernelOf(name));
  return made;
}

Prepared prepared(const Program& program, std::span<const int64_t> sizes) {
  Prepared made{program.numbers};
  std::ranges::copy(sizes, made.numbers.begin());
  for (; makesNumber(program.code[made.start]); ++made.start)
    makeNumber(program.code[made.start], made.numbers.data());
  return made;
}

std::optional<runtime::Fault> run(const LinkedProgram& linked, const Prepared& prepared,
                                  std::span<std::byte* const> buffers,
                                  std::span<const int64_t> bytes) {
  try {
    Thread thread(linked, prepared, buffers, bytes);
    if (!thread.run(prepared.start, UINT32_MAX))
      return std::move(thread.fault());
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return runtime::Fault{runtime::FaultKind::Memory, "there is no memory for a kernel"};
  }
}

size_t Thread::tableBytes() const {
  return aligned(program_.numbers.size() * sizeof(int64_t) +
                 (program_.registers.size() + program_.buffers.size()) * sizeof(std::byte*));
}

Thread::Thread(const LinkedProgram& linked, const Prepared& prepared,
               std::span<std::byte* const> buffers, std::span<const int64_t> bytes)
    : linked_(linked), program_(linked.program),
      memory_(tableBytes() + linked.program.memoryBytes) {
  placeMemory();
  std::ranges::copy(prepared.numbers, numbers_);
  std::ranges::copy(buffers, buffers_);
  for (uint32_t i = 0; i < program_.registers.size(); ++i)
    registers_[i] = own(i);
  for (uint32_t i = program_.givenBuffers; i < program_.buffers.size(); ++i)
    buffers_[i] = own_ + program_.buffers[i].offset;
  if (linked.isForeign)
    limits_ = Limits(program_, bytes, prepared.mostIterations);
}

Thread::Thread(const Thread& around, uint32_t from, uint32_t to)
    : linked_(around.linked_), program_(around.program_),
      memory_(tableBytes() + around.program_.memoryBytes), limits_(around.limits_) {
  placeMemory();
  std::copy_n(around.numbers_, program_.numbers.size(), numbers_);
  std::copy_n(around.registers_, program_.registers.size(), registers_);
  std::copy_n(around.buffers_, program_.buffers.size(), buffers_);
  takeRegisters(from, to);
}

void Thread::placeMemory() {
  numbers_ = reinterpret_cast<int64_t*>(memory_.bytes());
  registers_ = reinterpret_cast<std::byte**>(numbers_ + program_.numbers.size());
  buffers_ = registers_ + program_.registers.size();
  own_ = memory_.bytes() + tableBytes();
}

void Thread::takeRegisters(uint32_t from, uint32_t to) {
  for (uint32_t pc = from; pc < to; ++pc) {
    const Instruction& at = program_.code[pc];
    if (at.code >= Code::Row && at.code <= Code::Apply) {
      registers_[at.out] = own(at.out);
      if (limits_)
        limits_->own(program_, at.out);
    }
    if (at.code == Code::Contract) {
      const Contraction& contraction = program_.contractions[at.a];
      for (const Side* side : {&contraction.rows, &contraction.columns})
        takeRegisters(side->begin, side->end);
    }
  }
}

bool Thread::run(uint32_t pc, uint32_t end) {
  int64_t* n = numbers_;
  std::byte** r = registers_;
  const Instruction* code = program_.code.data();
  const Kernel* kernels = linked_.kernels.data();
  for (; pc != end; ++pc) {
    const Instruction& at = code[pc];
    if (limits_ && at.code >= Code::Row && !isSafe(at))
      return refuse();
    switch (at.code) {
    case Code::Sum:
      n[at.out] = sumOf(n[at.a], n[at.b], n[at.c]);
      break;
    case Code::Loop:
      if (at.flags == 1) {
        if (!runParallel(pc, at))
          return false;
        pc += uint32_t(at.target) - 1;
      } else if (!begins(at)) {
        pc += uint32_t(at.target) - 1;
      }
      break;
    case Code::Next:
      if (limits_ && --limits_->iterations < 0)
        return refuse();
      if (goesOn(at))
        pc += uint32_t(at.target);
      break;
    case Code::Unless:
      if (n[at.a] >= n[at.b])
        pc += uint32_t(at.target) - 1;
      break;
    case Code::Row:
      r[at.out] = rowAt(buffers_[at.a], n[at.b], lower::elementBytes(at.element));
      break;
    case Code::Apply: {
      const std::byte* in[] = {r[at.a], at.b == none ? nullptr : r[at.b],
                               at.c == none ? nullptr : r[at.c]};
      kernels[at.kernel].apply(r[at.out], in, size_t(n[at.count]));
      break;
    }
    case Code::Join:
      kernels[at.kernel].addLanes(r[at.out], r[at.a], size_t(n[at.count]), 0);
      break;
    case Code::Stop:
      return true;
    case Code::Quotient:
    case Code::Least:
    case Code::Greatest:
    case Code::Count:
    case Code::Allocate:
    case Code::Contract:
      compute(at);
      break;
    default:
      if (!runStrip(at))
        return false;
    }
  }
  return true;
}

/// What is computed rarely.
void Thread::compute(const Instruction& at) {
  if (makesNumber(at))
    makeNumber(at, numbers_);
  else if (at.code == Code::Allocate)
    allocate(at);
  else
    contract(*this, program_.contractions[at.a]);
}

/// Begins the next iteration, if there is one.
bool Thread::goesOn(const Instruction& next) {
  int64_t* n = numbers_;
  if (next.c == none)
    return ++n[next.out] < n[next.a];
  auto length = int64_t(program_.stripLength);
  n[next.out] += length;
  n[next.c] = std::min(length, n[next.a] - n[next.out]);
  return n[next.out] < n[next.a];
}

/// Begins the first iteration, if there is one.
bool Thread::begins(const Instruction& loop) {
  int64_t end = numbers_[loop.a];
  numbers_[loop.out] = 0;
  if (loop.c != none)
    numbers_[loop.c] = std::min(int64_t(program_.stripLength), end);
  return end > 0;
}

bool Thread::runParallel(uint32_t pc, const Instruction& loop) {
  int64_t extent = numbers_[loop.a], length = int64_t(program_.stripLength);
  if (extent <= 0)
    return true;
  int64_t grain = loop.c == none ? 1 : length;
  unsigned threads = runtime::threadsFor(program_.parallelCosts[loop.b] * double(extent));
  auto runPart = [&](Thread& thread, int64_t first, int64_t last) -> std::optional<runtime::Fault> {
    thread.setNumber(loop.out, first);
    thread.setNumber(loop.a, last);
    if (loop.c != none)
      thread.setNumber(loop.c, std::min(length, last - first));
    if (thread.run(pc + 1, pc + uint32_t(loop.target)))
      return std::nullopt;
    return std::move(thread.fault());
  };
  if (threads <= 1)
    fault_ = runPart(*this, 0, extent);
  else
    fault_ = runtime::runParts(extent, grain, threads, [&](int64_t first, int64_t last) {
      Thread thread(*this, pc + 1, pc + uint32_t(loop.target));
      return runPart(thread, first, last);
    });
  numbers_[loop.a] = extent;
  return !fault_;
}

void Thread::allocate(const Instruction& instruction) {
  uint32_t buffer = instruction.out;
  if (instruction.a == none) {
    buffers_[buffer] = own_ + program_.buffers[buffer].offset;
    if (limits_)
      limits_->buffers[buffer] = program_.buffers[buffer].bytes;
    return;
  }
  allocated_.resize(program_.buffers.size());
  allocatedBytes_.resize(program_.buffers.size());
  int64_t count = std::max<int64_t>(numbers_[instruction.a], 1);
  int64_t size = int64_t(lower::elementBytes(instruction.element));
  if (count > INT64_MAX / size)
    throw std::bad_alloc();
  if (allocatedBytes_[buffer] < count * size) {
    allocated_[buffer].reset(new runtime::Block(size_t(count * size)));
    allocatedBytes_[buffer] = count * size;
  }
  buffers_[buffer] = allocated_[buffer]->bytes();
  if (limits_)
    limits_->buffers[buffer] = allocatedBytes_[buffer];
}

} // namespace strips
