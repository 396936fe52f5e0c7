// What making a program ready may use before a run: the limits of the run, which passes ask for by
// their steps.
//
// Passes are many and small, and their work is in a few loops: nodes that are made, bindings that
// are copied, placed and checked. These take a step each, and whoever set a budget for the thread
// hears of it by an exception, since nothing in between has anything to say. Without a budget a
// step is nothing.
#pragma once

#include "runtime/run_limits.h"

#include <exception>
#include <string>
#include <string_view>

namespace runtime {

/// What is thrown when a budget is spent.
struct BudgetSpent : std::exception {
  explicit BudgetSpent(Fault of) : fault(std::move(of)), text_(fault.problem.plain()) {}
  const char* what() const noexcept override { return text_.c_str(); }

  Fault fault;

private:
  std::string text_;
};

class Budget {
public:
  /// The budget of this thread for as long as it lives. So much memory is for everybody, however
  /// small the limit: it is meant for what a run holds, and passes need some for themselves.
  static constexpr int64_t leastMemory = 16'000'000;

  explicit Budget(const RunLimits& limits);
  ~Budget();
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  /// Says what goes on from here; a text that lives as long as the budget.
  static void begin(std::string_view what);
  /// Asks now and then whether the budget is spent, and throws BudgetSpent.
  static void step() {
    if (current_ && --current_->stepsLeft_ == 0)
      current_->check();
  }

private:
  static constexpr uint32_t stepsBetween = 4096;

  void check();

  static thread_local Budget* current_;
  RunLimits limits_;
  Stopwatch watch_;
  int64_t memoryBefore_;
  std::string_view doing_;
  uint32_t stepsLeft_ = stepsBetween;
};

} // namespace runtime
