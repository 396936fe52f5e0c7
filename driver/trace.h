// `baton run --trace`: each call as it happens.
#pragma once

#include "driver/run_names.h"
#include "interp/observer.h"

namespace driver {

/// Writes a line for each call of a function and of an operator, and for each end of the former;
/// calls inside of a call stand further to the right. What `write` gets ends in a line break.
class Tracer {
public:
  Tracer(Session& session, const Program& program, std::function<void(const std::string&)> write);
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  const interp::Observer& observer() const { return observer_; }

private:
  void enter(const interp::State& state, bool isTail);
  void leave(const interp::State& state, const runtime::Value& value);
  void apply(const interp::State& state, const lang::Call& call, const lang::OperatorRow& row,
             std::span<const runtime::Value> arguments, const runtime::Value& result);
  std::string margin(size_t depth) const;
  std::string text(const runtime::Value& value) const;
  std::string list(std::span<const runtime::Value> values) const;
  std::string at(lang::SourceRange range) const;

  Session& session_;
  const Program& program_;
  RunNames names_;
  std::function<void(const std::string&)> write_;
  interp::Observer observer_;
};

} // namespace driver
