// Code of a program that is made while the machine's loop runs it, and takes over its calls once it
// is there.
//
// When that is hangs on the clock, so nothing that a run says may hang on it: code counts calls,
// and tells faults, as the loop does.
#pragma once

#include "vm/native/native_run.h"
#include "vm/native/runner.h"

#include <atomic>
#include <thread>

namespace vm::native {

class LateCode {
public:
  /// The program must outlive it.
  LateCode(std::shared_ptr<const ControlCompiler> compiler, const Program& program,
           Patience patience);
  LateCode(const LateCode&) = delete;
  /// Waits for what is being made, which is kept for later runs.
  ~LateCode();

  /// As Runner says.
  bool run(Machine& machine, uint32_t function);
  const Word* call(Machine& machine, const Word* at, uint64_t calls);

private:
  enum class State : uint8_t { Early, Missing, InWork, Ended };

  bool isDue(const Worth& worth) const;
  void advance();
  void look();
  void begin();
  void make();
  void take(std::optional<codegen::Image> image);

  const std::shared_ptr<const ControlCompiler> compiler_;
  const Program& program_;
  const Patience patience_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  uint64_t calls_ = 0;
  State state_ = State::Early;
  WantedCode wanted_;
  std::thread maker_;
  /// What the maker made, once it says so.
  std::optional<codegen::Image> made_;
  std::atomic<bool> isMade_ = false;
  std::unique_ptr<NativeRun> run_;
};

} // namespace vm::native
