// Running simplification rules.
#include "lang/rules/simplify.h"

#include "lang/op/op.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace lang {

namespace {

const OperatorRow& rowOf(const Call& call) {
  return *static_cast<const OperatorRef*>(call.callee.value)->row;
}

} // namespace

SimplifyCall::SimplifyCall(BlockBuilder& block, const Call& call, const Type* resultType,
                           const SimplifyScope& scope)
    : TermWriter(block), scope_(scope), resultType_(resultType), self_(callOf(call)) {}

Term SimplifyCall::termOf(const Operand& operand) const {
  // Asking writes nothing, but the term may be written with.
  return {const_cast<SimplifyCall*>(this), operand.value, scope_.typeOf(*operand.value)};
}

TermCall SimplifyCall::callOf(const Call& call) const {
  static const Attributes none{};
  TermCall made{&rowOf(call), call.attributes ? call.attributes : &none, {}};
  for (const Operand& argument : call.arguments)
    made.operands.push_back(termOf(argument));
  return made;
}

const Expr* SimplifyCall::valueOf(const Term& term) const {
  const auto* var = term.atom()->as<Var>();
  return var ? scope_.valueOf(*var) : term.atom();
}

std::optional<runtime::Tensor> SimplifyCall::constantOf(const Term& term) const {
  const Expr* value = valueOf(term);
  const auto* constant = value ? value->as<Constant>() : nullptr;
  return constant ? std::optional(constantTensor(*constant)) : std::nullopt;
}

std::optional<TermCall> SimplifyCall::madeBy(const Term& term) const {
  const Expr* value = valueOf(term);
  const auto* call = value ? value->as<Call>() : nullptr;
  if (!call || call->callee.value->kind != ExprKind::Operator)
    return std::nullopt;
  TermCall made = callOf(*call);
  bool isTyped = std::ranges::all_of(made.operands, [](const Term& each) { return each.type(); });
  return isTyped ? std::optional(std::move(made)) : std::nullopt;
}

std::optional<TermCall> SimplifyCall::madeBy(const Term& term, std::string_view op) const {
  auto made = madeBy(term);
  return made && made->row->name == op ? made : std::nullopt;
}

std::optional<std::vector<Term>> SimplifyCall::fieldsOf(const Term& term) const {
  const Expr* value = valueOf(term);
  const auto* tuple = value ? value->as<TupleExpr>() : nullptr;
  if (!tuple)
    return std::nullopt;
  std::vector<Term> fields;
  for (const Operand& field : tuple->fields)
    fields.push_back(termOf(field));
  return fields;
}

void SimplifyCall::becomes(const Term& term) {
  if (term.type() != resultType_)
    throw std::logic_error(fmt::format("the simplification of `{}` is `{}`, not `{}`", row().name,
                                       typeText(term.type()), typeText(resultType_)));
  answer_ = term.atom();
}

bool SimplifyCall::becomesIfTyped(const Term& term) {
  if (term.type() != resultType_)
    return false;
  becomes(term);
  return true;
}

bool isSameShape(Dims left, Dims right) {
  return std::ranges::equal(
      left, right, [](const Dim* a, const Dim* b) { return matchDims(a, b) == DimMatch::Same; });
}

} // namespace lang
