// Switching is a few instructions: registers that belong to callers are kept on the stack that is
// left.
#include "vm/native/stack.h"

#include <algorithm>
#include <new>
#include <sys/mman.h>

extern "C" {
uint64_t batonRunOnStack(uint64_t (*code)(uint64_t, vm::native::Frame*), uint64_t fuel,
                         vm::native::Frame* top, void* stack, void** outside);
[[noreturn]] void batonLeaveStack(void** outside);
}

#if defined(__x86_64__)
asm(R"(
.text
.type batonRunOnStack, @function
batonRunOnStack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%r8)
  movq %rcx, %rsp
  movq %r8, %rbx
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsi
  callq *%rax
  movq %rbx, %rdi
.type batonLeaveStack, @function
batonLeaveStack:
  movq (%rdi), %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
)");
#else
uint64_t batonRunOnStack(uint64_t (*)(uint64_t, vm::native::Frame*), uint64_t, vm::native::Frame*,
                         void*, void**) {
  __builtin_trap();
}
void batonLeaveStack(void**) {
  __builtin_trap();
}
#endif

namespace vm::native {

namespace {

/// What is kept free below: for calls until the next question, and for what the machine does.
constexpr size_t belowCounted = size_t(48) << 20;
constexpr size_t bytesOfOneGo = size_t(16) << 20;
constexpr size_t step = size_t(1) << 18;

} // namespace

bool Stack::isSupported() {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

/// As much as there are addresses for.
Stack::Stack(size_t bytesOfCall) : bytesOfCall_(bytesOfCall) {
  for (size_t gibibytes = 16; !memory_; gibibytes /= 2) {
    bytes_ = gibibytes > 0 ? gibibytes << 30 : belowCounted * 2;
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory != MAP_FAILED)
      memory_ = static_cast<std::byte*>(memory);
    else if (gibibytes == 0)
      throw std::bad_alloc();
  }
  constexpr size_t partOfFrames = 8;
  frames_ = reinterpret_cast<Frame*>(memory_ + bytes_ - bytes_ / partOfFrames);
  framesEnd_ = reinterpret_cast<Frame*>(memory_ + bytes_);
  end_ = reinterpret_cast<std::byte*>(frames_);
}

Stack::~Stack() {
  munmap(memory_, bytes_);
}

uint64_t Stack::run(uint64_t (*code)(uint64_t, Frame*), uint64_t fuel, Frame* top) {
  return batonRunOnStack(code, fuel, top, end_, &outside_);
}

void Stack::leave() {
  batonLeaveStack(&outside_);
}

size_t Stack::room(const void* place, const Frame* top) {
  auto used =
      size_t(end_ - static_cast<const std::byte*>(place)) + size_t(top - frames_) * sizeof(Frame);
  size_t most = size_t(end_ - memory_) - belowCounted;
  size_t wanted = std::min(most, used + std::max(bytesOfOneGo / 64, 4 * bytesOfCall_));
  if (wanted > held_.bytes())
    held_.add((wanted - held_.bytes() + step - 1) / step * step);
  size_t counted = std::min(held_.bytes(), most);
  if (counted <= used)
    return 0;
  size_t frames = size_t(framesEnd_ - top);
  return std::min({(counted - used) / bytesOfCall_, bytesOfOneGo / bytesOfCall_, frames});
}

} // namespace vm::native
