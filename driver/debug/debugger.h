// `baton debug`: lets a run of the interpreter stand still and answers commands meanwhile.
//
// The commands are in commands.cpp. A run stops before a binding is evaluated, or where a
// call begins, inside of the observer's functions; so all that the run holds is there to look at.
#pragma once

#include "driver/debug/breakpoints.h"
#include "driver/debug/evaluate.h"
#include "driver/debug/interrupt.h"
#include "driver/debug/tensor_dump.h"
#include "driver/debug/view.h"
#include "driver/session/answer.h"
#include "driver/session/derived_code.h"
#include "driver/session/options.h"
#include "driver/session/session.h"

namespace driver {

class Debugger {
public:
  /// All must outlive this.
  Debugger(Session& session, const Program& program, Evaluator& evaluator, const Look& look,
           std::function<void(const std::string&)> tell);
  Debugger(const Debugger&) = delete;
  Debugger& operator=(const Debugger&) = delete;

  /// Answers commands until the program is to run; false when there are no more.
  bool awaitStart();
  const interp::Observer& observer() const { return observer_; }
  /// Tells what a run gave; one that failed was told of already.
  void end(const runtime::Value* result);

private:
  /// Where a run that goes on stops next, beside breakpoints.
  enum class Until : uint8_t { Breakpoint, AnyBinding, SameCall, Caller };
  struct Command {
    std::string_view name, brief, operand, doc;
    void (Debugger::*function)(std::string_view operand);
  };
  static const std::vector<Command>& commands();

  // The run.
  void onEntered(const interp::State& state);
  bool onBefore(const interp::State& state, const lang::Binding& binding);
  void onBound(const interp::State& state, const lang::Binding& binding,
               const runtime::Value& value);
  void onLeft(const interp::State& state, const runtime::Value& value);
  void onFailed(const interp::State& state, const runtime::RunFault& fault);
  void onApplied(const interp::State& state, const lang::OperatorRow& row,
                 std::span<const runtime::Value> arguments, const runtime::Value& result);
  bool isReached(const interp::State& state) const;
  bool holds(const Breakpoint& point, const interp::State& state);
  void stop(const interp::State& state, const std::string& heading);
  void record(const lang::Var& var, lang::SourceRange range, const runtime::Value& value);
  void writeRecord();

  // Commands.
  void answerCommands();
  void answer(std::string_view line);
  void refuse(const std::string& problem);
  bool isRunning();
  void resume(Until until);
  void addBreakpoint(std::string_view where);
  void removeBreakpoint(std::string_view number);
  void listBreakpoints(std::string_view);
  void start(std::string_view);
  void goOn(std::string_view);
  void step(std::string_view);
  void stepOver(std::string_view);
  void finish(std::string_view);
  void print(std::string_view what);
  void printAll();
  void printPart(const Local& local, std::string_view name, std::string_view path);
  void printExpression(std::string_view expression, const std::vector<Local>& locals);
  std::vector<Named> namedIn(std::string_view expression, const std::vector<Local>& locals) const;
  void select(std::string_view number);
  void selectOuter(std::string_view);
  void selectInner(std::string_view);
  void backtrace(std::string_view);
  void list(std::string_view line);
  void dump(std::string_view path);
  void recordTo(std::string_view path);
  void help(std::string_view);
  void quit(std::string_view);

  std::vector<OpenCall> calls();
  std::optional<OpenCall> selectedCall();
  void showSelected();
  std::vector<Local> shownLocals(const OpenCall& call) const;
  std::string callText(size_t number, const OpenCall& call) const;
  std::string valueLine(const lang::Var& var, const runtime::Value& value) const;
  std::string brief(const runtime::Value& value) const;
  std::string at(lang::SourceRange range) const;
  std::string spanText(lang::SourceRange range) const;

  Session& session_;
  const Program& program_;
  Evaluator& evaluator_;
  const Look& look_;
  std::function<void(const std::string&)> tell_;
  RunNames names_;
  DerivedCode code_;
  Breakpoints breakpoints_;
  interp::Observer observer_;
  std::optional<InterruptWatch> watch_;

  /// The run that stands still, or null; whether it has failed; the call that is looked at.
  const interp::State* state_ = nullptr;
  bool hasFailed_ = false;
  size_t selected_ = 0;
  /// Whether commands are over for now, and why.
  bool goesOn_ = false, wantsStart_ = false, wantsEnd_ = false;
  Until until_ = Until::Breakpoint;
  /// Where the run stood still last: how many calls were open, which was the innermost, and what
  /// was to be evaluated.
  size_t depth_ = 0;
  uint64_t call_ = UINT64_MAX;
  const lang::Binding* binding_ = nullptr;
  /// Whether the last step was on the way back.
  bool wasOnWayBack_ = false;
  /// By depth: the line where each call was last.
  std::vector<uint32_t> lines_;
  /// The command that an empty line repeats.
  std::string repeated_;
  uint32_t listed_ = 0;

  struct Record {
    std::string path;
    TensorDump dump = {};
    /// By what is recorded: how often it was.
    std::unordered_map<std::string, uint64_t> counts = {};
  };
  std::optional<Record> record_;
};

} // namespace driver
