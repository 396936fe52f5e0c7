// `baton run --trace`: each call as it happens.
#pragma once

#include "driver/debug/run_names.h"
#include "interp/observer.h"

namespace driver {

/// Writes a line for each call of a function and of an operator, and for each end of the former;
/// calls inside of a call stand further to the right. What `write` gets ends in a line break.
class Tracer {
public:
  /// With names, only calls of functions and operators of these are shown, and with the elements of
  /// their tensors; `*` stands for any characters.
  Tracer(Session& session, const Program& program, std::vector<std::string> names,
         std::function<void(const std::string&)> write);
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  const interp::Observer& observer() const { return observer_; }
  /// The names that nothing had which was called.
  std::vector<std::string> missing() const;

private:
  void enter(const interp::State& state, bool isTail);
  void leave(const interp::State& state, const runtime::Value& value);
  void apply(const interp::State& state, const lang::Call& call, const lang::OperatorRow& row,
             std::span<const runtime::Value> arguments, const runtime::Value& result);
  bool isShown(std::string_view name);
  size_t shownAround(size_t depth) const { return depth == 0 ? 0 : shown_[depth - 1]; }
  std::string margin(size_t depth) const;
  std::string text(const runtime::Value& value) const;
  std::string list(std::span<const runtime::Value> values) const;
  std::string at(lang::SourceRange range) const;

  Session& session_;
  const Program& program_;
  RunNames names_;
  /// What is shown, and whether something of that name was.
  std::vector<std::pair<std::string, bool>> wanted_;
  /// By open call: how many are shown of it and those around it.
  std::vector<size_t> shown_;
  std::function<void(const std::string&)> write_;
  interp::Observer observer_;
};

} // namespace driver
