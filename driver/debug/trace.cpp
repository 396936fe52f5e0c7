// A call in tail position ends the call around it, so it stands as far to the left as that one.
#include "driver/debug/trace.h"

#include "driver/debug/place_text.h"
#include "driver/session/derived_code.h"
#include "driver/values/name_pattern.h"
#include "driver/values/text.h"
#include "lang/op/op.h"
#include "lang/source/utf8.h"
#include "lang/source/way_back.h"

#include <fmt/format.h>

namespace driver {

using runtime::Value;

Tracer::Tracer(Session& session, const Program& program, std::vector<std::string> names,
               std::function<void(const std::string&)> write)
    : session_(session), program_(program), names_(program, session.sources()),
      write_(std::move(write)) {
  for (std::string& name : names)
    wanted_.emplace_back(std::move(name), false);
  observer_.entered = [this](const interp::State& state, bool isTail) { enter(state, isTail); };
  observer_.left = [this](const interp::State& state, const Value& value) { leave(state, value); };
  observer_.applied = [this](const interp::State& state, const lang::Call& call,
                             const lang::OperatorRow& row, std::span<const Value> arguments,
                             const Value& result) { apply(state, call, row, arguments, result); };
}

void Tracer::enter(const interp::State& state, bool isTail) {
  const interp::Activation& call = state.activations.back();
  size_t depth = state.activations.size() - 1;
  const std::string& name = names_.of(*call.function);
  shown_.resize(depth);
  shown_.push_back(shownAround(depth) + (isShown(name) ? 1 : 0));
  if (shown_[depth] == shownAround(depth))
    return;
  std::span<const Value> arguments(call.slots.data(), call.function->parameters.size());
  write_(fmt::format("{}{}{}({}){}\n", margin(shownAround(depth)), isTail ? "tail " : "", name,
                     list(arguments), at(call.call)));
}

void Tracer::leave(const interp::State& state, const Value& value) {
  size_t depth = state.activations.size() - 1;
  if (shown_[depth] == shownAround(depth))
    return;
  write_(fmt::format("{}{} -> {}\n", margin(shownAround(depth)),
                     names_.of(*state.activations.back().function),
                     text(DerivedCode::valueAlone(value))));
}

void Tracer::apply(const interp::State& state, const lang::Call& call, const lang::OperatorRow& row,
                   std::span<const Value> arguments, const Value& result) {
  if (!isShown(row.name))
    return;
  write_(fmt::format("{}{}({}) -> {}{}\n", margin(shownAround(state.activations.size())), row.name,
                     list(arguments), text(result), at(call.range)));
}

/// Functions are meant with and without `@` or `%`, and with what belongs to their derivatives.
bool Tracer::isShown(std::string_view name) {
  std::string_view whole = name.substr(0, name.find(", "));
  std::string_view bare = whole.substr(whole.starts_with('@') || whole.starts_with('%') ? 1 : 0);
  bool found = wanted_.empty();
  for (auto& [pattern, isSeen] : wanted_)
    if (isNamedBy(pattern, whole) || isNamedBy(pattern, bare))
      found = isSeen = true;
  return found;
}

std::vector<std::string> Tracer::missing() const {
  std::vector<std::string> names;
  for (const auto& [pattern, isSeen] : wanted_)
    if (!isSeen)
      names.push_back(pattern);
  return names;
}

/// Deep calls say how deep they are.
std::string Tracer::margin(size_t depth) const {
  constexpr size_t deepest = 30;
  if (depth <= deepest)
    return std::string(2 * depth, ' ');
  return fmt::format("{}[{}] ", std::string(2 * deepest, ' '), depth);
}

std::string Tracer::text(const Value& value) const {
  return wanted_.empty()
             ? briefValueText(value, session_.types(), program_.typing, {program_.isBare()})
             : shortValueText(value, session_.types(), program_.typing, {program_.isBare()});
}

std::string Tracer::list(std::span<const Value> values) const {
  std::string texts;
  for (const Value& value : values)
    texts += (texts.empty() ? "" : ", ") + text(value);
  return texts;
}

std::string Tracer::at(lang::SourceRange range) const {
  std::string place = placeText(session_.sources(), range, program_.source);
  if (place.empty())
    return "";
  return fmt::format(" at {}{}", place, lang::isOnWayBack(range) ? ", way back" : "");
}

} // namespace driver
