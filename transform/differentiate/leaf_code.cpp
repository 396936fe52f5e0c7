// The code of a function of scalars, put in place for tensors.
//
// What an operator gives is asked of its relation, so code that does not fit is told as such, and
// only what relations can be asked about may be in it: no calls of functions, no matches.
#include "transform/differentiate/leaf_code.h"

#include "lang/op/op.h"

#include <fmt/format.h>

namespace transform {

using namespace lang;

TypedAtom LeafCode::look(BlockBuilder& out, const Expr& atom) {
  const auto* var = atom.as<Var>();
  if (auto found = known_.find(var); found != known_.end())
    return found->second;
  const Type* type = typing_.of(atom);
  if (!type && problem_.empty())
    problem_ = "its code does more than call operators";
  return atom.kind == ExprKind::Constant ? converted(out, {&atom, type}) : TypedAtom{&atom, type};
}

TypedAtom LeafCode::converted(BlockBuilder& out, TypedAtom atom) {
  if (!isOther(atom.type))
    return atom;
  return {out.call(make_.operators.withRole(Role::CastLike), {atom.atom, leaf_.atom}),
          make_.types.tensor(atom.type->shape, to())};
}

/// The call with other operands, and with the type of the leaf where an attribute says the other.
const Call* LeafCode::callWith(const Call& call, const std::vector<Atom>& operands) {
  auto* made = make_.arena.make<Call>(call);
  made->arguments = make_.operands(operands);
  if (from_ == to() || !call.attributes)
    return made;
  std::vector<AttributeValue> values(call.attributes->values.begin(),
                                     call.attributes->values.end());
  for (size_t i = 0; i < values.size(); ++i)
    if (call.attributes->rows[i].kind == AttributeKind::DType &&
        values[i].text == runtime::dtypeName(from_))
      values[i] = stringAttribute(make_.arena.copyText(runtime::dtypeName(to())));
  auto* attributes = make_.arena.make<Attributes>(*call.attributes);
  attributes->values = make_.arena.copy(values);
  made->attributes = attributes;
  return made;
}

TypedAtom LeafCode::bound(BlockBuilder& out, const Binding& binding, const Expr* value,
                          const Type* type) {
  bool isNamed = binding.isLet() && !binding.var->name.empty();
  return {isNamed ? out.let(binding.var->name, value) : out.bind(value), type};
}

TypedAtom LeafCode::written(BlockBuilder& out, const Block& block) {
  for (const Binding& binding : block.bindings) {
    TypedAtom value = written(out, binding);
    if (!problem_.empty())
      return {};
    known_[binding.var] = value;
  }
  return look(out, *block.result.value);
}

TypedAtom LeafCode::written(BlockBuilder& out, const Binding& binding) {
  const Expr& value = *binding.value;
  if (value.isAtom())
    return look(out, value);
  if (const auto* block = value.as<BlockExpr>())
    return written(out, *block->block);
  if (const auto* choice = value.as<If>())
    return branch(out, binding, *choice);
  if (const auto* project = value.as<Project>()) {
    TypedAtom whole = look(out, *project->tuple.value);
    if (!problem_.empty())
      return {};
    return converted(out, bound(out, binding, make_.project(whole.atom, project->index),
                                whole.type->parts[project->index]));
  }
  if (const auto* fields = value.as<TupleExpr>())
    return tuple(out, binding, *fields);
  const auto* call = value.as<Call>();
  const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
  if (op && op->row->derivative == Derivative::None)
    return operatorCall(out, binding, *call, *op->row);
  problem_ = "its code does more than call operators";
  return {};
}

TypedAtom LeafCode::tuple(BlockBuilder& out, const Binding& binding, const TupleExpr& tuple) {
  std::vector<Atom> atoms;
  std::vector<const Type*> parts;
  for (const Operand& field : tuple.fields) {
    TypedAtom part = look(out, *field.value);
    atoms.push_back(part.atom);
    parts.push_back(part.type);
  }
  if (!problem_.empty())
    return {};
  return bound(out, binding, make_.tuple(atoms), make_.types.tuple(parts));
}

TypedAtom LeafCode::operatorCall(BlockBuilder& out, const Binding& binding, const Call& call,
                                 const OperatorRow& row) {
  std::vector<Atom> atoms;
  std::vector<const Type*> operands;
  std::vector<runtime::Tensor> constants;
  std::vector<const runtime::Tensor*> values(call.arguments.size());
  constants.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    TypedAtom operand = look(out, *call.arguments[i].value);
    atoms.push_back(operand.atom);
    operands.push_back(operand.type);
    const auto* constant = operand.atom->as<Constant>();
    if (constant && row.shapeNeeds == ShapeNeeds::Constants)
      values[i] = &constants.emplace_back(constantTensor(*constant));
  }
  if (!problem_.empty())
    return {};
  const Call* made = callWith(call, atoms);
  RelationResult result = applyRelation(row, {make_.types, operands, *made->attributes, values});
  bool fits = result.outcome == RelationResult::Outcome::Solved;
  for (const auto& [i, wanted] : result.operands)
    fits = fits && wanted == operands[i];
  if (!fits) {
    problem_ = result.problem.empty() ? words("`{}` does not take them there", row.name)
                                      : words("`{}` says: {}", row.name, result.problem);
    return {};
  }
  return bound(out, binding, made, result.output);
}

TypedAtom LeafCode::branch(BlockBuilder& out, const Binding& binding, const If& branch) {
  TypedAtom condition = look(out, *branch.condition.value);
  if (problem_.empty() && condition.type != make_.types.scalar(runtime::Bool))
    problem_ = "its code branches on a leaf; `where` chooses by element";
  if (!problem_.empty())
    return {};
  BlockBuilder thenOut(make_), elseOut(make_);
  TypedAtom yes = written(thenOut, *branch.thenBlock);
  TypedAtom no = problem_.empty() ? written(elseOut, *branch.elseBlock) : TypedAtom();
  if (problem_.empty() && yes.type != no.type)
    problem_ = words("the sides of its branch give `{}` and `{}` there", yes.type, no.type);
  if (!problem_.empty())
    return {};
  return bound(out, binding,
               make_.branch(condition.atom, thenOut.finish(yes.atom), elseOut.finish(no.atom)),
               yes.type);
}

} // namespace transform
