// When a run stops. A call in tail position takes the place of the one around it, so calls are told
// apart by their numbers and not by how many are open.
#include "driver/debug/debugger.h"

#include "driver/debug/place_text.h"
#include "driver/session/fault_text.h"
#include "driver/values/text.h"
#include "lang/calls/non_finite.h"
#include "lang/op/op.h"
#include "lang/source/way_back.h"

#include <fmt/format.h>

namespace driver {

using runtime::Value;

Debugger::Debugger(Session& session, const Program& program, Evaluator& evaluator, const Look& look,
                   std::function<void(const std::string&)> tell)
    : session_(session), program_(program), evaluator_(evaluator), look_(look),
      tell_(std::move(tell)), names_(program, session.sources()), code_(program),
      breakpoints_(program, session.sources(), names_) {
  using interp::State;
  observer_.keepsValues = true;
  observer_.entered = [this](const State& state, bool) { onEntered(state); };
  observer_.left = [this](const State& state, const Value& value) { onLeft(state, value); };
  observer_.before = [this](const State& state, const lang::Binding& binding) {
    return onBefore(state, binding);
  };
  observer_.bound = [this](const State& state, const lang::Binding& binding, const Value& value) {
    onBound(state, binding, value);
  };
  observer_.applied = [this](const State& state, const lang::Call&, const lang::OperatorRow& row,
                             std::span<const Value> arguments,
                             const Value& result) { onApplied(state, row, arguments, result); };
  observer_.failed = [this](const State& state, const runtime::RunFault& fault) {
    onFailed(state, fault);
  };
}

bool Debugger::awaitStart() {
  if (!wantsStart_ && !wantsEnd_)
    answerCommands();
  wantsStart_ = hasFailed_ = false;
  binding_ = nullptr;
  call_ = UINT64_MAX;
  lines_.clear();
  watch_.emplace();
  return !wantsEnd_;
}

void Debugger::end(const Value* result) {
  watch_.reset();
  writeRecord();
  if (result && !wantsStart_ && !wantsEnd_)
    tell_(fmt::format("the run gives\n{}\n",
                      valueText(*result, session_.types(), program_.typing, {program_.isBare()})));
}

void Debugger::onEntered(const interp::State& state) {
  const interp::Activation& call = state.activations.back();
  lines_.resize(state.activations.size());
  lines_.back() = 0;
  if (call.number == 1)
    for (size_t i = 0; i < call.function->parameters.size(); ++i) {
      const lang::Var& parameter = *call.function->parameters[i];
      record(parameter, parameter.range, call.slots[i]);
    }
  auto holds = [&](const Breakpoint& point) { return this->holds(point, state); };
  if (const Breakpoint* point = breakpoints_.at(*call.function, holds)) {
    std::string arguments;
    for (size_t i = 0; i < call.function->parameters.size(); ++i)
      arguments += (i == 0 ? "" : ", ") + brief(call.slots[i]);
    binding_ = nullptr;
    stop(state, fmt::format("breakpoint {}, {}({}) begins\n", point->number,
                            names_.of(*call.function), arguments));
  }
}

/// Whether a run that was to go on to some place is there.
bool Debugger::isReached(const interp::State& state) const {
  size_t depth = state.activations.size();
  switch (until_) {
  case Until::Breakpoint:
    return false;
  case Until::AnyBinding:
    return true;
  case Until::SameCall:
    return depth < depth_ || (depth == depth_ && state.activations.back().number == call_);
  case Until::Caller:
    return depth < depth_;
  }
  return false;
}

bool Debugger::onBefore(const interp::State& state, const lang::Binding& binding) {
  if (wantsStart_ || wantsEnd_)
    return false;
  if (!code_.isStep(binding))
    return true;
  const interp::Activation& call = state.activations.back();
  uint32_t& line = lines_[state.activations.size() - 1];
  const Breakpoint* point =
      breakpoints_.at(binding, line, [&](const Breakpoint& each) { return holds(each, state); });
  line = breakpoints_.lineOf(binding);
  bool isInterrupted = watch_ && watch_->isInterrupted();
  if (!point && !isInterrupted && !isReached(state))
    return true;
  std::string heading = isInterrupted ? "interrupted, "
                        : point       ? fmt::format("breakpoint {}, ", point->number)
                                      : "";
  bool isBack = lang::isOnWayBack(binding.value->range);
  bool isNews = !heading.empty() || call.number != call_ || isBack != wasOnWayBack_;
  wasOnWayBack_ = isBack;
  binding_ = &binding;
  const std::string& name = names_.of(*call.function);
  bool isSaid = name.ends_with(RunNames::wayBack);
  stop(state, isNews ? fmt::format("{}{}in {} at {}\n", heading,
                                   isBack && !isSaid ? "on the way back, " : "", name,
                                   at(binding.value->range))
                     : "");
  return !wantsStart_ && !wantsEnd_;
}

/// Whether the condition of a breakpoint holds where the run is, or cannot be evaluated there,
/// which is told.
bool Debugger::holds(const Breakpoint& point, const interp::State& state) {
  if (point.condition.empty())
    return true;
  auto value = evaluator_.value(point.condition,
                                namedIn(point.condition, localsOf(state, innermostCall(state))));
  if (!value) {
    tell_(value.failure().message);
    return true;
  }
  bool isTruth = value->kind() == runtime::ValueKind::Tensor &&
                 value->tensor().dtype() == runtime::Bool && value->tensor().rank() == 0;
  if (!isTruth)
    tell_(fmt::format("error: the condition of breakpoint {} gives {} and no bool\n", point.number,
                      brief(*value)));
  return !isTruth || value->tensor().bytes()[0] != std::byte(0);
}

/// Stops where numbers that are none arise, if that is wanted.
void Debugger::onApplied(const interp::State& state, const lang::OperatorRow& row,
                         std::span<const Value> arguments, const Value& result) {
  if (wantsStart_ || wantsEnd_ || !breakpoints_.onNonFinite([](const Breakpoint&) { return true; }))
    return;
  auto fault = lang::nonFiniteFault(row.name, arguments, result);
  const Breakpoint* point =
      fault ? breakpoints_.onNonFinite([&](const Breakpoint& each) { return holds(each, state); })
            : nullptr;
  if (!point)
    return;
  const OpenCall call = innermostCall(state);
  binding_ = call.binding;
  wasOnWayBack_ = lang::isOnWayBack(call.place);
  stop(state, fmt::format("breakpoint {}, {}\nin {} at {}\n", point->number,
                          fault->problem.plain(),
                          names_.of(*call.activation->function), at(call.place)));
}

/// What was to be evaluated where the run stood still is told when it is known.
void Debugger::onBound(const interp::State& state, const lang::Binding& binding,
                       const Value& value) {
  if (!code_.isHidden(*binding.var))
    record(*binding.var, lang::inText(binding.value->range), value);
  bool isAwaited = &binding == binding_ && state.activations.back().number == call_;
  if (!isAwaited || until_ == Until::Breakpoint || until_ == Until::Caller)
    return;
  if (const lang::Binding* alone = code_.valueBinding(*binding.var))
    binding_ = alone;
  else
    tell_(valueLine(*binding.var, value));
}

void Debugger::onLeft(const interp::State& state, const Value& value) {
  bool isAwaited = until_ == Until::AnyBinding ||
                   (until_ != Until::Breakpoint && state.activations.size() <= depth_);
  if (isAwaited && !wantsStart_ && !wantsEnd_ && state.activations.size() > 1)
    tell_(fmt::format("{} -> {}\n", names_.of(*state.activations.back().function),
                      brief(DerivedCode::valueAlone(value))));
}

void Debugger::onFailed(const interp::State& state, const runtime::RunFault& fault) {
  if (wantsStart_ || wantsEnd_)
    return;
  hasFailed_ = true;
  tell_(faultText(fault, session_.sources(), look_));
  writeRecord();
  stop(state, "");
}

/// Answers commands while the run stands still.
void Debugger::stop(const interp::State& state, const std::string& heading) {
  watch_.reset();
  state_ = &state;
  selected_ = 0;
  listed_ = 0;
  depth_ = state.activations.size();
  call_ = depth_ > 0 ? state.activations.back().number : UINT64_MAX;
  tell_(heading);
  if (!hasFailed_)
    if (auto call = selectedCall())
      tell_(markedLine(session_.sources(), call->place));
  answerCommands();
  state_ = nullptr;
}

void Debugger::record(const lang::Var& var, lang::SourceRange range, const Value& value) {
  if (!record_)
    return;
  const std::string key = names_.isNamed(var)
                              ? fmt::format("{}@{}", names_.of(var).substr(1), at(range))
                              : spanText(range);
  record_->dump.add(fmt::format("{}#{}", key, ++record_->counts[key]), value);
}

void Debugger::writeRecord() {
  if (!record_)
    return;
  if (auto written = record_->dump.write(record_->path))
    tell_(*written + '\n');
  else
    refuse(written.failure().message);
  record_.reset();
}

std::string Debugger::brief(const Value& value) const {
  return briefValueText(value, session_.types(), program_.typing, {program_.isBare()});
}

/// A variable, or an expression without a name, and its value.
std::string Debugger::valueLine(const lang::Var& var, const Value& value) const {
  return fmt::format("{} {} {}\n", names_.of(var), names_.isNamed(var) ? "=" : "->", brief(value));
}

std::string Debugger::at(lang::SourceRange range) const {
  return placeText(session_.sources(), range, program_.source);
}

/// With its end, since expressions that begin together are many.
std::string Debugger::spanText(lang::SourceRange range) const {
  range = lang::inText(range);
  return range.isValid() ? fmt::format("{}-{}", at(range),
                                       placeText(session_.sources(), {range.end, range.end},
                                                 session_.sources().find(range)))
                         : "";
}

} // namespace driver
