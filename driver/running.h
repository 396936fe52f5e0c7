// A run while it goes on: what it shows meanwhile and what is said of its end, the same whatever
// machine runs the program.
#pragma once

#include "driver/commands.h"
#include "driver/debug/interrupt.h"
#include "driver/debug/trace.h"
#include "driver/progress.h"
#include "driver/values/files.h"
#include "interp/interpret.h"
#include "vm/bytecode/run.h"
#include "vm/profile/recorder.h"

#include <map>

namespace driver {

/// Takes the interrupt from the beginning to where the run ended.
class Running {
public:
  using Outcome = std::variant<runtime::Value, runtime::RunFault>;

  /// All must outlive this.
  Running(Session& session, const Program& program, const RunOptions& options, const Look& look,
          Answer& answer);
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  /// Calls a function of the program, on the machine where that runs it.
  Outcome call(const lang::Global& entry, std::vector<runtime::Value> arguments,
               const tensor::TensorEngine& engine);
  /// How the machine and the interpreter are to run the program.
  bytecode::Options onMachine(const tensor::TensorEngine& engine);
  interp::Options onInterpreter(const tensor::TensorEngine& engine);

  /// What calls of a timed run took, for the answer.
  void giveTiming();

  /// Tells how the run ended: what the engine has to say, the profile, what was found, and the
  /// fault, if it is one. The value is null after a fault.
  const runtime::Value* end(Outcome& outcome, const tensor::TensorEngine& engine);

private:
  void write(const std::string& text);
  std::string place(lang::SourceRange range) const;
  void show(const runtime::Value& value, const runtime::Shown& shown);

  Session& session_;
  const Program& program_;
  const RunOptions& options_;
  const Look& look_;
  Answer& answer_;
  lang::Diagnostics findings_;
  profile::Recorder recorder_;
  bytecode::Repetition repetition_;
  Progress progress_;
  std::optional<InterruptWatch> watch_;
  std::optional<Tracer> tracer_;
  /// By places that show only some values: how many there were.
  std::map<uint32_t, int64_t> shownAt_;
};

/// A value that a program shows, behind its label or in the places that it has for values. `text`
/// writes a value.
std::string shownText(const runtime::Shown& shown, const runtime::Value& value,
                      const std::function<std::string(const runtime::Value&)>& text);

/// Shows what a run gave, a value of a type, and writes it where the options say.
void giveResult(Session& session, const Program& program, const RunOptions& options,
                const RunResult& result, const lang::Type* type, Answer& answer);

} // namespace driver
