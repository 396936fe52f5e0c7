// Attributes that are no literals. A shape that is computed, `zeros([b, d / 2])`, is an operand of
// another operator than the one that has it as an attribute; when its sizes turn out to be numbers,
// the checker goes back to the first.
#include "lang/ir/open_marks.h"
#include "lang/op/op.h"
#include "parser/resolve/bare_forms.h"

#include <algorithm>

namespace parser {

using lang::AttributeKind;
using lang::AttributeRow;
using lang::Message;
using lang::SourceRange;

Use buildCount(ResolveContext& context, const surface::Expr* expr) {
  if (const auto* number = surface::tryAs<surface::IntLiteral>(expr))
    return {scalarConstant(context, expr->range, runtime::Int64, uint64_t(number->value)), nullptr,
            expr->range};
  Use value = buildExpr(context, expr);
  Use like{scalarConstant(context, expr->range, runtime::Int64, 0), nullptr, expr->range};
  Use count = buildOperator(context, context.environment.operators.withRole(lang::Role::CastLike),
                            expr->range, expr->range, {value, like});
  mark(context, *count.node, lang::countMark);
  return count;
}

namespace {

bool isNumber(const surface::Expr* expr) {
  return expr->kind == surface::ExprKind::IntLiteral;
}

/// The elements of a list in brackets or parentheses; nothing for anything else.
std::optional<std::span<const surface::Expr* const>> elementsOf(const surface::Expr* expr) {
  if (const auto* list = surface::tryAs<surface::TensorLiteral>(expr))
    return list->elements;
  if (const auto* tuple = surface::tryAs<surface::Tuple>(expr))
    return tuple->fields;
  return std::nullopt;
}

bool takesCounts(AttributeKind kind) {
  return kind == AttributeKind::Int || kind == AttributeKind::IntList ||
         kind == AttributeKind::IntOrIntList;
}

/// Whether an expression is no literal, and no name that stands for one.
bool isComputed(ResolveContext& context, const surface::Expr* expr) {
  if (auto elements = elementsOf(expr))
    return std::ranges::any_of(
        *elements, [&](const surface::Expr* each) { return isComputed(context, each); });
  if (const auto* name = surface::tryAs<surface::Name>(expr))
    return name->name != "none" && !literalConstant(context, *name);
  return expr->kind != surface::ExprKind::TextLiteral &&
         expr->kind != surface::ExprKind::BoolLiteral &&
         expr->kind != surface::ExprKind::FloatLiteral && !isNumber(expr);
}

Use buildCounts(ResolveContext& context, std::span<const surface::Expr* const> elements,
                SourceRange range) {
  std::vector<Use> counts;
  for (const surface::Expr* element : elements)
    counts.push_back(buildCount(context, element));
  return stackOf(context, counts, range);
}

/// Whether an expression is surely one number, which may stand for a list of one.
bool isOneNumber(ResolveContext& context, const surface::Expr* expr) {
  if (const auto* name = surface::tryAs<surface::Name>(expr))
    return findSize(context, name->name) || literalConstant(context, *name);
  if (const auto* infix = surface::tryAs<surface::Infix>(expr))
    return isOneNumber(context, infix->left) || isOneNumber(context, infix->right);
  return isNumber(expr);
}

/// An attribute as an operand.
Use buildComputed(ResolveContext& context, const AttributeRow& attribute,
                  const surface::Expr* expr) {
  if (attribute.kind == AttributeKind::Int)
    return buildCount(context, expr);
  if (auto elements = elementsOf(expr))
    return buildCounts(context, *elements, expr->range);
  return isOneNumber(context, expr) ? buildCounts(context, {&expr, 1}, expr->range)
                                    : buildExpr(context, expr);
}

/// What an attribute is by itself, as an operand; nothing where it must be given.
std::optional<Use> defaultOperand(ResolveContext& context, const lang::OperatorRow& row,
                                  const AttributeRow& attribute, size_t count, SourceRange range) {
  auto defaults = context.environment.operators.defaults(&row);
  const lang::AttributeValue& value = defaults[size_t(&attribute - row.attributes.data())];
  bool isList = value.kind == lang::AttributeValueKind::List && !value.items.empty();
  if (!isList && value.kind != lang::AttributeValueKind::Int)
    return std::nullopt;
  auto number = [&](int64_t each) {
    return Use{scalarConstant(context, range, runtime::Int64, uint64_t(each)), nullptr, range};
  };
  if (attribute.kind == AttributeKind::Int)
    return number(value.integer);
  std::vector<Use> numbers(count, number(isList ? value.items[0].integer : value.integer));
  return stackOf(context, numbers, range);
}

const GivenAttribute* findGiven(std::span<const GivenAttribute> given, std::string_view name) {
  auto isNamed = [&](const GivenAttribute& each) { return each.name.text == name; };
  auto found = std::ranges::find_if(given, isNamed);
  return found == given.end() ? nullptr : &*found;
}

} // namespace

const surface::Expr* literalConstant(ResolveContext& context, const surface::Name& name) {
  const surface::Expr* value = &name;
  constexpr int mostSteps = 16;
  for (int i = 0; i < mostSteps; ++i) {
    const auto* next = surface::tryAs<surface::Name>(value);
    if (!next)
      break;
    auto constant = context.unit->constants.find(next->name);
    if ((i == 0 && context.locals.find(next->name)) || constant == context.unit->constants.end())
      return nullptr;
    value = constant->second->value;
  }
  return isNumber(value) ? value : nullptr;
}

void mark(ResolveContext& context, Node& call, std::string_view what, std::string_view of) {
  std::vector<lang::NamedAttribute> marks(call.named.begin(), call.named.end());
  marks.push_back({what, of.empty() ? lang::AttributeValue{} : lang::stringAttribute(of)});
  call.named = context.module.arena.copy(marks);
  context.module.isOpen = true;
}

Use bindSized(ResolveContext& context, Node* call) {
  mark(context, *call, lang::computedMark);
  mark(context, *call, lang::sizedMark);
  const lang::Var* var = context.makeVar("sized", lang::VarOrigin::Let, call->range, nullptr);
  return boundBy(context, var, {nullptr, call, call->range}, call->range);
}

Use withoutSizedLet(ResolveContext& context, Use value) {
  const Node* sequence =
      value.node && value.node->kind == NodeKind::Sequence ? value.node : nullptr;
  Node* call = sequence && sequence->items.size() == 1 ? sequence->items[0].value.node : nullptr;
  auto isMark = [](const lang::NamedAttribute& each) { return each.name == lang::sizedMark; };
  if (!call || call->kind != NodeKind::Call || std::ranges::none_of(call->named, isMark))
    return value;
  std::vector<lang::NamedAttribute> marks(call->named.begin(), call->named.end());
  std::erase_if(marks, isMark);
  call->named = context.module.arena.copy(marks);
  return sequence->items[0].value;
}

const GivenAttribute* findComputed(ResolveContext& context, const lang::OperatorRow& row,
                                   std::span<const GivenAttribute> given) {
  for (const GivenAttribute& each : given) {
    auto attribute = std::ranges::find(row.attributes, each.name.text, &AttributeRow::name);
    bool mayBe = each.value && attribute != row.attributes.end() && takesCounts(attribute->kind);
    if (mayBe && isComputed(context, each.value))
      return &each;
  }
  return nullptr;
}

Use buildAttributeOperand(ResolveContext& context, const lang::OperatorRow& row,
                          const GivenAttribute& given) {
  auto attribute = std::ranges::find(row.attributes, given.name.text, &AttributeRow::name);
  return buildComputed(context, *attribute, given.value);
}

bool computeAttributes(ResolveContext& context, const lang::OperatorRow& row,
                       const lang::OperatorRow& computing, std::vector<Use>& operands,
                       std::vector<GivenAttribute>& given) {
  std::vector<Use> all;
  size_t next = 0, count = 1;
  for (const lang::OperandRow& operand : computing.operands) {
    auto attribute = std::ranges::find(row.attributes, operand.name, &AttributeRow::name);
    const GivenAttribute* value = findGiven(given, operand.name);
    std::optional<Use> use;
    if (attribute == row.attributes.end())
      use = next < operands.size() ? std::optional(operands[next++]) : std::nullopt;
    else if (value && value->value)
      use = buildComputed(context, *attribute, value->value);
    else
      use = defaultOperand(context, row, *attribute, count,
                           operands.empty() ? SourceRange() : operands[0].range);
    if (value && value->value)
      if (auto elements = elementsOf(value->value))
        count = elements->size();
    if (!use) {
      context.diagnostics.report(Message::MissingArgument, given[0].range, operand.name);
      return false;
    }
    all.push_back(*use);
  }
  operands = std::move(all);
  std::erase_if(given, [&](const GivenAttribute& each) {
    return std::ranges::count(computing.operands, each.name.text, &lang::OperandRow::name) > 0;
  });
  return true;
}

bool leavesElementToUse(const lang::OperatorRow& row, std::span<const GivenAttribute> given) {
  auto isOpen = [&](const AttributeRow& attribute) {
    return attribute.isByUse && !findGiven(given, attribute.name);
  };
  return std::ranges::any_of(row.attributes, isOpen);
}

} // namespace parser
