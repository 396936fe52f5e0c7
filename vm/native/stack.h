// The stack that compiled code runs on, with the frames that say which calls are open.
//
// Calls of a program may be millions deep, so code does not run on the stack of its thread but on
// memory of its own, which costs nothing until it is used and counts for the limit of the run as it
// is. There is room below what is counted for what the machine does meanwhile.
#pragma once

#include "runtime/memory.h"
#include "vm/native/context.h"

namespace vm::native {

class Stack {
public:
  /// Whether there is code here for switching to one.
  static bool isSupported();
  /// For calls that take so many bytes each at most. Throws std::bad_alloc.
  explicit Stack(size_t bytesOfCall);
  Stack(const Stack&) = delete;
  ~Stack();

  Frame* frames() const { return frames_; }
  /// Calls there, until it returns, which gives what it gives, or somebody leaves.
  uint64_t run(uint64_t (*code)(uint64_t fuel, Frame* top), uint64_t fuel, Frame* top);
  /// Ends what runs there: nothing on it goes on, and nothing is destroyed.
  [[noreturn]] void leave();
  /// For how many calls more there is room when code stands at `place`.
  size_t room(const void* place, const Frame* top);

private:
  std::byte* memory_ = nullptr;
  size_t bytes_ = 0;
  std::byte* end_ = nullptr;
  Frame *frames_ = nullptr, *framesEnd_ = nullptr;
  size_t bytesOfCall_;
  /// What is counted of it.
  runtime::HeldMemory held_;
  /// Where the thread's own stack stands.
  void* outside_ = nullptr;
};

} // namespace vm::native
