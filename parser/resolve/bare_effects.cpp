// `print("loss", x)` and `fail("why")`, where no definition has that name: calls of operators whose
// label the texts make.
#include "lang/op/op.h"
#include "parser/resolve/bare_forms.h"

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

} // namespace

void PrintedArguments::text(std::string_view text) {
  label_ += (label_.empty() ? "" : " ") + std::string(text);
  for (size_t at = text.find(place); at != std::string_view::npos; at = text.find(place, at + 1))
    ++open_;
}

void PrintedArguments::value(Use use) {
  values_.push_back(use);
  if (open_ > 0)
    --open_;
  else
    label_ += (label_.empty() ? "" : " ") + std::string(place);
}

Use PrintedArguments::build(ResolveContext& context, SourceRange range, SourceRange callee) const {
  Use operand = values_.size() == 1 ? values_[0] : tupleOf(context, values_, range);
  Use shown = labelled(context, lang::Role::Print, operand, label_, range, callee);
  if (values_.size() < 2)
    return shown;
  Node* last = context.makeNode(NodeKind::Project, range);
  last->operands = context.module.arena.copy(std::initializer_list<Use>{shown});
  last->index = uint32_t(values_.size() - 1);
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
