// Expressions, sequences and attributes of the surface tree; the rest is in declarations.cpp.
#include "parser/surface/builder.h"

#include "parser/surface/node_depth.h"

#include <algorithm>

namespace parser {

using namespace surface;

void Builder::reportTooDeep(Range range) {
  if (!reportedDepth_)
    diagnostics_.report(lang::Message::TextTooDeep, range, maximumDepth);
  reportedDepth_ = true;
}

/// Sets the depth of a node from that of its children. A tree too deep is replaced.
const Expr* Builder::finish(Expr* expr, uint32_t childDepth) {
  if (childDepth >= maximumDepth) {
    reportTooDeep(expr->range);
    return error(expr->range);
  }
  expr->depth = uint16_t(childDepth + 1);
  return expr;
}

// Sequences.

void Builder::let(Range range, Text name, Range nameRange, TypePtr type, ExprPtr value) {
  item_ = {ItemKind::Let, 0, range, {name.view(), nameRange}, type, value};
}

void Builder::graphBinding(Range range, uint32_t number, Range nameRange, ExprPtr value) {
  item_ = {ItemKind::Graph, number, range, {{}, nameRange}, nullptr, value};
}

void Builder::freeVar(Range range, Text name, Range nameRange, TypePtr type) {
  item_ = {ItemKind::FreeVar, 0, range, {name.view(), nameRange}, type, nullptr};
}

void Builder::effect(Range range, ExprPtr value) {
  item_ = {ItemKind::Effect, 0, range, {}, nullptr, value};
}

const Expr* Builder::sequence(Range range, List list, ExprPtr result) {
  auto* made = newNode<Sequence>(arena_, range);
  made->items = items.take(arena_, list);
  made->result = result;
  uint32_t depth = result->depth;
  for (const Item& item : made->items)
    if (item.value)
      depth = std::max<uint32_t>(depth, item.value->depth);
  return finish(made, depth);
}

/// `{ ... }` as an item. The sequence inside is taken over, unless it is a block itself.
const Expr* Builder::block(Range range, ExprPtr body) {
  auto* made = newNode<Sequence>(arena_, range);
  made->braces = true;
  made->result = body;
  const Sequence* inner = tryAs<Sequence>(body);
  bool isPlain = inner && !inner->braces;
  if (isPlain) {
    made->items = inner->items;
    made->result = inner->result;
  }
  return finish(made, body->depth - (isPlain ? 1u : 0u));
}

// Expressions.

const Expr* Builder::error(Range range) {
  return newNode<ErrorExpr>(arena_, range);
}

const Expr* Builder::integer(Range range, IntValue value) {
  auto* made = newNode<IntLiteral>(arena_, range);
  made->value = value.value;
  made->dtype = value.type.dtype();
  return made;
}

const Expr* Builder::real(Range range, RealValue value) {
  auto* made = newNode<FloatLiteral>(arena_, range);
  made->value = value.value;
  made->dtype = value.type.dtype();
  return made;
}

const Expr* Builder::boolean(Range range, bool value) {
  auto* made = newNode<BoolLiteral>(arena_, range);
  made->value = value;
  return made;
}

const Expr* Builder::hole(Range range) {
  return newNode<Hole>(arena_, range);
}

const Expr* Builder::local(Range range, Text name) {
  auto* made = newNode<Local>(arena_, range);
  made->name = name.view();
  return made;
}

const Expr* Builder::graph(Range range, uint32_t number) {
  auto* made = newNode<Graph>(arena_, range);
  made->number = number;
  return made;
}

const Expr* Builder::global(Range range, Text name) {
  auto* made = newNode<Global>(arena_, range);
  made->name = name.view();
  return made;
}

const Expr* Builder::name(Range range, Text text) {
  auto* made = newNode<Name>(arena_, range);
  made->name = text.view();
  return made;
}

const Expr* Builder::meta(Range range, MetaValue value) {
  auto* made = newNode<Meta>(arena_, range);
  made->meta = value.reference();
  return made;
}

const Expr* Builder::functionLiteral(Range range, const Function* function) {
  auto* made = newNode<FunctionLiteral>(arena_, range);
  made->function = function;
  return finish(made, std::max<uint32_t>(function->body->depth, depthOf(function->attributes)));
}

const Expr* Builder::ifExpr(Range range, ExprPtr condition, ExprPtr then, ExprPtr otherwise) {
  auto* made = newNode<If>(arena_, range);
  made->condition = condition;
  made->then = then;
  made->otherwise = otherwise;
  return finish(made, std::max({condition->depth, then->depth, otherwise->depth}));
}

const Expr* Builder::match(Range range, bool isPartial, ExprPtr scrutinee, List armList) {
  auto* made = newNode<Match>(arena_, range);
  made->isPartial = isPartial;
  made->scrutinee = scrutinee;
  made->arms = arms.take(arena_, armList);
  uint32_t depth = scrutinee->depth;
  for (const Arm& arm : made->arms)
    depth = std::max<uint32_t>({depth, arm.body->depth, arm.guard ? arm.guard->depth : 0u});
  return finish(made, depth);
}

const Arm* Builder::arm(PatternPtr pattern, ExprPtr body) {
  return arena_.make<Arm>(pattern, body);
}

const Expr* Builder::refNew(Range range, ExprPtr value) {
  auto* made = newNode<RefNew>(arena_, range);
  made->value = value;
  return finish(made, value->depth);
}

const Expr* Builder::refRead(Range range, ExprPtr cell) {
  auto* made = newNode<RefRead>(arena_, range);
  made->cell = cell;
  return finish(made, cell->depth);
}

const Expr* Builder::refWrite(Range range, ExprPtr cell, ExprPtr value) {
  auto* made = newNode<RefWrite>(arena_, range);
  made->cell = cell;
  made->value = value;
  return finish(made, std::max(cell->depth, value->depth));
}

const Expr* Builder::refWriteWithoutValue(Range range, Range found) {
  diagnostics_.report(lang::Message::SyntaxError, found, "`,` and the value to write", "`)`");
  return error(range);
}

const Expr* Builder::tuple(Range range, List fields) {
  auto* made = newNode<Tuple>(arena_, range);
  made->fields = exprs.take(arena_, fields);
  return finish(made, depthOf(made->fields));
}

const Expr* Builder::tensorLiteral(Range range, List elements) {
  auto* made = newNode<TensorLiteral>(arena_, range);
  made->elements = exprs.take(arena_, elements);
  return finish(made, depthOf(made->elements));
}

const Expr* Builder::project(Range range, ExprPtr operand, uint32_t index) {
  auto* made = newNode<Project>(arena_, range);
  made->operand = operand;
  made->index = index;
  return finish(made, spineDepth(operand));
}

/// The call still lacks its callee; call() gives it one.
Call* Builder::arguments(List list, List attributeList) {
  auto* made = newNode<Call>(arena_, {});
  made->arguments = exprs.take(arena_, list);
  made->attributes = attributes.take(arena_, attributeList);
  if (made->attributes.empty() && !made->arguments.empty()) {
    made->metaTail = tryAs<Meta>(made->arguments.back());
    if (made->metaTail)
      made->arguments = made->arguments.first(made->arguments.size() - 1);
  }
  return made;
}

const Expr* Builder::call(Range range, ExprPtr callee, Call* call) {
  call->range = range;
  call->callee = callee;
  uint32_t depth = std::max(depthOf(call->arguments), depthOf(call->attributes));
  return finish(call, std::max({depth, spineDepth(callee), call->metaTail ? 1u : 0u}));
}

const Expr* Builder::infix(Range range, InfixOp op, Range opRange, ExprPtr left, ExprPtr right) {
  auto* made = newNode<Infix>(arena_, range);
  made->op = op;
  made->opRange = opRange;
  made->left = left;
  made->right = right;
  return finish(made, std::max<uint32_t>(spineDepth(left), right->depth));
}

// Attribute values.

AttributeValue& Builder::newValue(AttributeKind kind, Range range) {
  value_ = {};
  value_.kind = kind;
  value_.range = range;
  return value_;
}

void Builder::integerAttribute(Range range, IntValue value) {
  newValue(AttributeKind::Int, range).integer = value.value;
  value_.width = value.type.bits;
}

void Builder::realAttribute(Range range, RealValue value) {
  newValue(AttributeKind::Float, range).real = value.value;
  value_.width = value.type.bits;
}

void Builder::booleanAttribute(Range range, bool value) {
  newValue(AttributeKind::Bool, range).boolean = value;
}

void Builder::stringAttribute(Range range, Text text) {
  newValue(AttributeKind::String, range).text = text.view();
}

void Builder::listAttribute(Range range, List list) {
  std::span<const AttributeValue> elements = values.take(arena_, list);
  uint32_t depth = 0;
  for (const AttributeValue& element : elements)
    depth = std::max<uint32_t>(depth, element.depth);
  if (depth >= maximumDepth) {
    reportTooDeep(range);
    elements = {};
    depth = 0;
  }
  newValue(AttributeKind::List, range).list = elements;
  value_.depth = uint16_t(depth + 1);
}

/// The null object, or any other expression.
void Builder::exprAttribute(ExprPtr expr) {
  const auto* word = tryAs<Name>(expr);
  if (word && (word->name == "None" || word->name == "nullptr")) {
    newValue(AttributeKind::Null, expr->range);
    return;
  }
  newValue(AttributeKind::Expr, expr->range).expr = expr;
  value_.depth = expr->depth;
}

} // namespace parser
