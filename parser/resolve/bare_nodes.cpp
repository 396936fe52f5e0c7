// The nodes that several forms of Baton's notation come to.
#include "lang/op/op.h"
#include "parser/resolve/bare_forms.h"

namespace parser {

using lang::SourceRange;

const lang::Expr* operatorAtom(ResolveContext& context, const lang::OperatorRow& row,
                               SourceRange range) {
  return context.module.arena.make<lang::OperatorRef>(lang::Expr{lang::ExprKind::Operator, range},
                                                      &row);
}

Use tupleOf(ResolveContext& context, std::span<const Use> fields, SourceRange range) {
  Node* node = context.makeNode(NodeKind::Tuple, range);
  node->operands = context.module.arena.copy(std::vector<Use>(fields.begin(), fields.end()));
  return {nullptr, node, range};
}

Use stackOf(ResolveContext& context, std::span<const Use> elements, SourceRange range) {
  return buildOperator(context, context.environment.operators.withRole(lang::Role::Stack), range,
                       range, {tupleOf(context, elements, range)});
}

Use boundBy(ResolveContext& context, const lang::Var* var, Use value, SourceRange range) {
  return behindLets(context, {{var, value}}, {var, nullptr, range}, range);
}

Use behindLets(ResolveContext& context, const std::vector<LetItem>& items, Use result,
               SourceRange range) {
  if (items.empty())
    return result;
  Node* node = context.makeNode(NodeKind::Sequence, range);
  node->items = context.module.arena.copy(items);
  node->result = result;
  return {nullptr, node, range};
}

} // namespace parser
