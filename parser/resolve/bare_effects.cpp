// `print("loss", x)` and `fail("why")`, where no definition has that name: calls of operators whose
// label the texts make.
#include "lang/op/op.h"
#include "parser/resolve/bare_forms.h"

#include <algorithm>
#include <fmt/format.h>

namespace parser {

using lang::Message;
using lang::SourceRange;

namespace {

Use labelled(ResolveContext& context, lang::Role role, Use operand, std::string_view label,
             SourceRange range, SourceRange callee) {
  const lang::AttributeValue value = lang::stringAttribute(context.module.arena.copyText(label));
  return buildOperator(context, context.environment.operators.withRole(role), range, callee,
                       {operand},
                       [&](std::string_view name) { return name == "label" ? &value : nullptr; });
}

/// What stands in the braces of a place. Anything else in braces is text.
enum class PlaceKind : uint8_t { Open, Named, Formatted, Computed, Text };

PlaceKind kindOf(std::string_view inside) {
  constexpr std::string_view ofNames = "_0123456789"
                                       "abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (inside.empty())
    return PlaceKind::Open;
  size_t end = std::min(inside.find_first_not_of(ofNames), inside.size());
  bool isName = end > 0 && (inside[0] < '0' || inside[0] > '9');
  if (end == inside.size())
    return isName ? PlaceKind::Named : PlaceKind::Formatted;
  if (inside[end] == ':' || (isName && inside[end] == '!'))
    return PlaceKind::Formatted;
  bool isComputed =
      isName && std::string_view(".[(+-*/").find(inside[end]) != std::string_view::npos;
  return isComputed ? PlaceKind::Computed : PlaceKind::Text;
}

constexpr std::string_view openPlace = "{}";

} // namespace

void PrintedArguments::text(const surface::TextLiteral& text) {
  label_ += label_.empty() ? "" : " ";
  std::string_view rest = text.text;
  for (size_t open = rest.find('{'); open != std::string_view::npos; open = rest.find('{')) {
    size_t close = rest.find_first_of("{}", open + 1);
    label_ += rest.substr(0, open);
    if (close == std::string_view::npos || rest[close] == '{') {
      label_ += '{';
      rest.remove_prefix(open + 1);
      continue;
    }
    place(rest.substr(open + 1, close - open - 1), text.range);
    rest.remove_prefix(close + 1);
  }
  label_ += rest;
}

void PrintedArguments::place(std::string_view inside, SourceRange text) {
  PlaceKind kind = kindOf(inside);
  if (kind == PlaceKind::Text) {
    label_ += fmt::format("{{{}}}", inside);
    return;
  }
  label_ += openPlace;
  if (kind == PlaceKind::Formatted)
    context_.diagnostics.report(
        Message::ForeignForm, text,
        fmt::format("values are shown in their own way: `{{}}` and no `{{{}}}`", inside));
  else if (kind == PlaceKind::Computed)
    context_.diagnostics.report(
        Message::ForeignForm, text,
        fmt::format("a text computes nothing: `{{}}`, and behind the text `{}`", inside));
  places_.push_back({std::nullopt, text});
  if (kind == PlaceKind::Named)
    places_.back().value = buildBareName(context_, context_.module.arena.copyText(inside), text);
  else if (kind != PlaceKind::Open)
    places_.back().value = buildUnknown(context_, text);
}

void PrintedArguments::value(Use use) {
  for (Place& place : places_)
    if (!place.value) {
      place.value = use;
      return;
    }
  places_.push_back({use, {}});
  label_ += (label_.empty() ? "" : " ") + std::string(openPlace);
}

/// Whether a place has no value, which is told.
bool PrintedArguments::reportEmpty() {
  auto isEmpty = [](const Place& place) { return !place.value; };
  auto empty = std::ranges::find_if(places_, isEmpty);
  if (empty == places_.end())
    return false;
  size_t missing = size_t(std::ranges::count_if(places_, isEmpty));
  context_.diagnostics.report(
      Message::ForeignForm, empty->text,
      fmt::format("{} of the text {} no value: one for each `{{}}` stands behind it",
                  missing == 1 ? "a place" : "places", missing == 1 ? "has" : "have"));
  return true;
}

Use PrintedArguments::build(SourceRange range, SourceRange callee) {
  if (reportEmpty())
    return buildUnknown(context_, range);
  std::vector<Use> values;
  for (const Place& place : places_)
    values.push_back(*place.value);
  Use operand = values.size() == 1 ? values[0] : tupleOf(context_, values, range);
  Use shown = labelled(context_, lang::Role::Print, operand, label_, range, callee);
  if (values.size() < 2)
    return shown;
  Node* last = context_.makeNode(NodeKind::Project, range);
  last->operands = context_.module.arena.copy(std::initializer_list<Use>{shown});
  last->index = uint32_t(values.size() - 1);
  return {nullptr, last, range};
}

Use buildFailure(ResolveContext& context, const surface::Call& call) {
  const auto* why = call.arguments.size() == 1 && call.attributes.empty()
                        ? surface::tryAs<surface::TextLiteral>(call.arguments[0])
                        : nullptr;
  if (!why) {
    context.diagnostics.report(Message::TextNeeded, call.range,
                               surface::as<surface::Name>(call.callee).name);
    return buildUnknown(context, call.range);
  }
  Use failed = labelled(context, lang::Role::Fail, tupleOf(context, {}, call.range), why->text,
                        call.range, call.callee->range);
  // What no arm gives is of any type.
  Node* match = context.makeNode(NodeKind::Match, call.range);
  match->isPartial = true;
  match->operands = context.module.arena.copy(std::initializer_list<Use>{failed});
  // Its place tells the type, which the checker declares for when the place is gone.
  const lang::Var* var = context.makeVar("failed", lang::VarOrigin::Let, call.range, nullptr);
  context.module.isOpen = true;
  return boundBy(context, var, {nullptr, match, call.range}, call.range);
}

} // namespace parser
