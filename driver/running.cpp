// The line of progress gives way to whatever else is written.
#include "driver/running.h"

#include "driver/debug/place_text.h"
#include "driver/engines.h"
#include "driver/profile.h"
#include "driver/saves.h"
#include "driver/session/fault_text.h"
#include "driver/session/load.h"
#include "driver/timing.h"
#include "driver/values/text.h"
#include "lang/op/op.h"
#include "lang/source/utf8.h"
#include "runtime/formats/quote.h"
#include "runtime/memory.h"

namespace driver {

/// How long the parts of a timed run go on at least. Kernels become native in the warm-up.
static constexpr double secondsOfWarmUp = 0.3, secondsOfTiming = 0.5, secondsOfWatching = 0.1;
/// In how many calls kernels are watched at least.
static constexpr size_t leastWatched = 3;

using runtime::Value;

namespace {

ExitCode codeOf(runtime::FaultKind kind) {
  switch (kind) {
  case runtime::FaultKind::Memory:
    return ExitCode::World;
  case runtime::FaultKind::Interrupted:
    return ExitCode::Interrupted;
  default:
    return ExitCode::Program;
  }
}

} // namespace

namespace {

constexpr std::string_view valuePlace = "{}";

bool hasPlaces(const runtime::Shown& shown) {
  return shown.label.find(valuePlace) != std::string_view::npos;
}

bool isUnit(const Value& value) {
  return value.kind() == runtime::ValueKind::Tuple && value.fields().empty();
}

/// What stands in the places of a label: the value alone, or the fields of a tuple.
std::vector<Value> placedValues(std::string_view label, const Value& value) {
  size_t first = label.find(valuePlace);
  bool isOne = label.find(valuePlace, first + 1) == std::string_view::npos;
  if (isOne || value.kind() != runtime::ValueKind::Tuple)
    return {value};
  return {value.fields().begin(), value.fields().end()};
}

} // namespace

std::string shownText(const runtime::Shown& shown, const Value& value,
                      const std::function<std::string(const Value&)>& text) {
  std::string_view label = shown.label;
  if (label.empty())
    return text(value) + '\n';
  if (isUnit(value))
    return lang::printable(label) + '\n';
  if (!hasPlaces(shown))
    return lang::printable(label) + ": " + text(value) + '\n';
  std::string line;
  for (const Value& each : placedValues(label, value)) {
    size_t at = std::min(label.find(valuePlace), label.size());
    line += lang::printable(label.substr(0, at)) + text(each);
    label.remove_prefix(std::min(at + valuePlace.size(), label.size()));
  }
  return line + lang::printable(label) + '\n';
}

Running::Running(Session& session, const Program& program, const RunOptions& options,
                 const Look& look, Answer& answer)
    : session_(session), program_(program), options_(options), look_(look), answer_(answer),
      findings_(session.noFindings()), recorder_({}, profile::nanoseconds, runtime::heldMemory),
      progress_(look.progress && !options.trace) {
  watch_.emplace();
}

void Running::write(const std::string& text) {
  progress_.clear();
  look_.show ? look_.show(text) : void(answer_.errors += text);
}

std::string Running::place(lang::SourceRange range) const {
  return placeText(session_.sources(), range, program_.source);
}

void Running::giveTiming() {
  driver::giveTiming(
      repetition_, [this](lang::SourceRange range) { return place(range); }, options_, answer_);
}

/// A value that the program shows, after the place that does.
void Running::show(const Value& value, const runtime::Shown& shown) {
  if (shown.every > 1 && shownAt_[shown.where.begin]++ % shown.every != 0)
    return;
  lang::SourceRange where = shown.where;
  std::string text = shownText(shown, value, [this](const Value& each) {
    return valueText(each, session_.types(), program_.typing, {program_.isBare(), options_.isFull});
  });
  bool isWhole = hasPlaces(shown) || (isUnit(value) && !shown.label.empty());
  const lang::SourceFile* file = isWhole ? nullptr : session_.sources().find(where);
  if (file) {
    lang::LineColumn at = file->position(where.begin);
    text = fmt::format("{}:{}:{}: {}", file->name(), at.line, at.column, text);
  }
  write(text);
}

Running::Outcome Running::call(const lang::Global& entry, std::vector<Value> arguments,
                               const tensor::TensorEngine& engine) {
  if (isOnMachine(options_))
    try {
      return bytecode::run(*program_.module, program_.typing, session_.operators(), entry,
                           arguments, onMachine(engine));
    } catch (const bytecode::TooLarge& error) {
      answer_.errors += fmt::format("note: the machine has no code for {}, so the interpreter runs "
                                    "the program\n",
                                    error.what());
    }
  return interp::interpret(*program_.module, program_.typing, session_.operators(), entry,
                           std::move(arguments), onInterpreter(engine));
}

bytecode::Options Running::onMachine(const tensor::TensorEngine& engine) {
  bytecode::Options how{.engine = engine};
  how.makeRunner = runnersOf(options_);
  how.run = {
      .progress = [this](uint64_t calls) { progress_.step(calls); },
      .show = [this](const Value& value, const runtime::Shown& shown) { show(value, shown); },
      .isInterrupted = [this] { return watch_->isInterrupted(); },
      .limits = options_.limits};
  how.profile = wantsProfile(options_) ? &recorder_ : nullptr;
  how.trapsNonFinite = options_.trapsNonFinite;
  if (options_.isTimed) {
    repetition_.warmUp = {1, secondsOfWarmUp};
    repetition_.timed = {options_.rounds, secondsOfTiming};
    repetition_.watched = {leastWatched, secondsOfWatching};
    how.repetition = &repetition_;
  }
  how.texts.place = [this](lang::SourceRange range) { return place(range); };
  how.texts.function = [this](const std::string& name, lang::SourceRange range) {
    return writtenName(program_, range, name);
  };
  return how;
}

interp::Options Running::onInterpreter(const tensor::TensorEngine& engine) {
  interp::Options how{.engine = engine};
  how.progress = [this](uint64_t calls) { progress_.step(calls); };
  how.rounding = [this](const lang::OperatorRow& row, lang::SourceRange where) {
    findings_.report(lang::Message::Float64Result, where, row.name);
  };
  how.show = [this](const Value& value, const runtime::Shown& shown) { show(value, shown); };
  how.isInterrupted = [this] { return watch_->isInterrupted(); };
  how.trapsNonFinite = options_.trapsNonFinite;
  how.limits = options_.limits;
  auto trace = [this](const std::string& text) { write(text); };
  if (options_.trace)
    how.observer = &tracer_.emplace(session_, program_, options_.traced, trace).observer();
  return how;
}

const Value* Running::end(Outcome& outcome, const tensor::TensorEngine& engine) {
  watch_.reset();
  progress_.clear();
  if (tracer_)
    for (const std::string& name : tracer_->missing())
      answer_.errors +=
          fmt::format("note: nothing that is called {} was called\n", formats::backquoted(name));
  if (std::string note = engine.note ? engine.note() : ""; !note.empty())
    answer_.errors += fmt::format("note: {}\n", note);
  if (wantsProfile(options_))
    reportProfile(recorder_, options_, answer_);
  answer_.errors += findingsText(session_, findings_, options_.file, look_);
  auto* fault = std::get_if<runtime::RunFault>(&outcome);
  if (!fault)
    return &std::get<Value>(outcome);
  if (fault->kind == runtime::FaultKind::Interrupted)
    fault->problem = lang::words("{} and {} seconds", fault->problem,
                                 fmt::format("{:.1f}", progress_.seconds()));
  answer_.code = codeOf(fault->kind);
  answer_.errors += faultText(*fault, session_.sources(), look_);
  return nullptr;
}

void giveResult(Session& session, const Program& program, const RunOptions& options,
                const RunResult& result, const lang::Type* type, Answer& answer) {
  ValueStyle style{program.isBare(), options.isFull};
  answer.output = valueText(result.value, session.types(), program.typing, style) + '\n';
  for (const auto& [name, gradient] : result.gradients)
    answer.output += fmt::format("grad.{} = {}\n", lang::printable(name),
                                 valueText(gradient, session.types(), program.typing, style));
  if (options.output)
    if (auto saved = writeOutput(*options.output, result); !saved)
      answer.fail(ExitCode::World, saved.failure().message);
  if (std::string problem =
          saveParts(session.types(), type, options.saves, result.value, program.notation());
      !problem.empty())
    answer.fail(ExitCode::World, problem);
}

} // namespace driver
