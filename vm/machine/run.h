// Running a program: the machine, and what its code asks for that no instruction does. Only
// what neither a kernel nor a native function does is left to whoever runs it.
#pragma once

#include "runtime/run_limits.h"
#include "runtime/shown.h"
#include "vm/machine/machine.h"
#include "vm/machine/value.h"

#include <variant>

namespace vm {

using runtime::RunFault;

/// How to run.
struct RunOptions {
  /// Called now and then with the number of calls so far, of functions and operators.
  std::function<void(uint64_t)> progress = {};
  /// Told of the values that the program shows, and of the places that do.
  std::function<void(const runtime::Value&, const runtime::Shown&)> show = {};
  /// Who watches the run, or null.
  const Observer* observer = nullptr;
  /// Asked now and then; true ends the run.
  std::function<bool()> isInterrupted = {};
  runtime::RunLimits limits = {};
  /// What makes kernels of tensor functions; without it the language applies their operators.
  tensor::MakeKernel makeKernel = nullptr;
  Runner runner = {};
  /// As of Host.
  uint64_t callsOfOneGo = Host().callsOfOneGo;
};

/// Applies the operator of a site of kind Language to its operands; a result that is a reference is
/// owned, and an object of the machine. `found` is what a native function found wrong with them, if
/// there was one, for whoever does not know it better.
using Language = std::function<std::optional<runtime::Fault>(
    uint32_t site, std::span<const Slot> operands, Machine& machine, Slot& result,
    std::optional<runtime::Fault> found)>;

/// One run of a program that the verifier accepts.
class Run {
public:
  /// What is handed in must outlive the run.
  Run(const Program& program, const RunOptions& options, Language language);

  Machine& machine() { return machine_; }
  /// Calls one of the program's entries, which takes over the arguments it owns; the result is
  /// owned.
  std::variant<Slot, RunFault> call(size_t entry, std::span<const Slot> arguments);

private:
  Host host();
  runtime::Shown shownBy(const HostSite& site) const;
  bool doCall(uint32_t number, std::span<const Slot> operands, Slot& result);
  bool apply(uint32_t number, std::span<const Slot> operands, Slot& result);
  bool checkArguments(const HostSite& site, std::span<const Slot> operands, Slot& result);
  bool outerSizes(const HostSite& site, std::span<const Slot> operands, Slot& result);
  bool checkFields(const HostSite& site, std::span<const Slot> operands);
  bool deliver(const HostSite& site, std::span<const Slot> operands);
  bool unbox(const HostSite& site, std::span<const Slot> operands, Slot& result);
  bool failUnmatched(const HostSite& site, Slot value);
  bool readSizes(std::span<const Slot> operands, size_t i, checks::KnownSizes& sizes);
  bool passes(std::optional<RunFault> fault);
  bool fail(runtime::Fault fault, runtime::SourceRange range, uint32_t op = checks::none);
  bool isInterrupted(runtime::SourceRange range);
  const Caller* notedCall(uint32_t callee);
  const Origin& originOf(uint32_t at) const;
  std::string operatorName(uint32_t number) const;
  RunFault faultOf(Trap trap);
  runtime::Fault trapFault(Trap trap) const;

  const Program& program_;
  const RunOptions& options_;
  Language language_;
  runtime::Stopwatch watch_;
  Machine machine_;
  std::optional<RunFault> fault_;
  /// The call whose arguments do not fit.
  const Caller* refusedCall_ = nullptr;
  uint64_t calls_ = 0;
  /// Whether the clock ended the run.
  bool isLate_ = false;
};

} // namespace vm
