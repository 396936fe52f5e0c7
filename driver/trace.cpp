// A call in tail position ends the call around it, so it stands as far to the left as that one.
#include "driver/trace.h"

#include "driver/place_text.h"
#include "driver/value_text.h"
#include "lang/utf8.h"

#include <fmt/format.h>

namespace driver {

using runtime::Value;

Tracer::Tracer(Session& session, const Program& program,
               std::function<void(const std::string&)> write)
    : session_(session), program_(program), names_(program, session.sources()),
      write_(std::move(write)) {
  observer_.entered = [this](const interp::State& state, bool isTail) { enter(state, isTail); };
  observer_.left = [this](const interp::State& state, const Value& value) { leave(state, value); };
  observer_.applied = [this](const interp::State& state, const lang::Call& call,
                             const lang::OperatorRow& row, std::span<const Value> arguments,
                             const Value& result) { apply(state, call, row, arguments, result); };
}

void Tracer::enter(const interp::State& state, bool isTail) {
  const interp::Activation& call = state.activations.back();
  std::span<const Value> arguments(call.slots.data(), call.function->parameters.size());
  write_(fmt::format("{}{}{}({}){}\n", margin(state.activations.size() - 1), isTail ? "tail " : "",
                     names_.of(*call.function), list(arguments), at(call.call)));
}

void Tracer::leave(const interp::State& state, const Value& value) {
  write_(fmt::format("{}{} -> {}\n", margin(state.activations.size() - 1),
                     names_.of(*state.activations.back().function), text(value)));
}

void Tracer::apply(const interp::State& state, const lang::Call& call, const lang::OperatorRow& row,
                   std::span<const Value> arguments, const Value& result) {
  write_(fmt::format("{}{}({}) -> {}{}\n", margin(state.activations.size()), row.name,
                     list(arguments), text(result), at(call.range)));
}

/// Deep calls say how deep they are.
std::string Tracer::margin(size_t depth) const {
  constexpr size_t deepest = 30;
  if (depth <= deepest)
    return std::string(2 * depth, ' ');
  return fmt::format("{}[{}] ", std::string(2 * deepest, ' '), depth);
}

std::string Tracer::text(const Value& value) const {
  return briefValueText(value, session_.types(), program_.typing);
}

std::string Tracer::list(std::span<const Value> values) const {
  std::string texts;
  for (const Value& value : values)
    texts += (texts.empty() ? "" : ", ") + text(value);
  return texts;
}

std::string Tracer::at(lang::SourceRange range) const {
  std::string place = placeText(session_.sources(), range, program_.source);
  return place.empty() ? "" : " at " + place;
}

} // namespace driver
