// Code of a program in memory, bound to the machine that it runs for, and what it asks of that.
#pragma once

#include "codegen/image/image.h"
#include "vm/native/stack.h"

#include <exception>
#include <map>
#include <type_traits>

namespace vm::native {

class NativeRun {
public:
  /// An image with the entries of entryNames() for the program, which must outlive it. Throws
  /// std::bad_alloc.
  NativeRun(const Program& program, std::shared_ptr<const codegen::LoadedImage> image);

  /// Runs a function whose arguments are in the registers of the machine's state, where its result
  /// comes.
  void run(Machine& machine, uint32_t function);
  /// Makes a call of the machine's loop for which there are fuel and room; where the loop goes on.
  const Word* call(Machine& machine, const Word* at);

private:
  using Enter = uint64_t(uint64_t fuel, Frame* top);
  friend struct Asked;

  void bind(Machine& machine);
  /// Of the function that has the instruction there.
  Enter* enterOf(uint32_t position) const;
  void enter(Machine& machine, uint32_t position);
  template <typename Answer>
  std::invoke_result_t<Answer, Machine&, const Word*> answer(uint64_t position, Frame* top,
                                                             Answer&& answer);
  [[noreturn]] void end(Frame* top);

  const Program& program_;
  const std::shared_ptr<const codegen::LoadedImage> image_;
  NativeContext* context_;
  Stack stack_;
  Machine* machine_ = nullptr;
  std::vector<const void*> functions_;
  /// By where functions start.
  std::map<uint32_t, Enter*> enter_;
  /// By layout.
  std::vector<ClosureCode> closures_;
  /// Something that was thrown while code ran, which nothing may be thrown through.
  std::exception_ptr thrown_;
};

} // namespace vm::native
