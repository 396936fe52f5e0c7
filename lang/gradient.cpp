// Running gradient rules: every emitted call is put to the relation of its operator.
#include "lang/gradient.h"

#include "lang/leaves.h"

#include <stdexcept>

#include <fmt/format.h>

namespace lang {

namespace {

/// A field of a tuple type, or the type itself, which stands for its only field.
const Type* fieldType(const Type* type, size_t field) {
  return type->isTuple() ? type->parts[field] : type;
}

bool isSameType(const Type* left, const Type* right) {
  if (left == right)
    return true;
  if (left->kind != right->kind || !(left->dtype == right->dtype))
    return false;
  auto isSame = [](const Dim* a, const Dim* b) { return matchDims(a, b) == DimMatch::Same; };
  return std::ranges::equal(left->shape, right->shape, isSame) &&
         std::ranges::equal(left->parts, right->parts, isSameType);
}

} // namespace

GradientCall::GradientCall(BlockBuilder& block, const GradientSite& site)
    : block_(block), site_(site) {
  for (const Type* type : site.operandTypes)
    cotangents_.emplace_back(tensorCount(type), nullptr);
}

const Type* GradientCall::leafType(size_t i, size_t field) const {
  return fieldType(site_.operandTypes[i], field);
}

size_t GradientCall::axis(std::string_view attribute, size_t rank) const {
  int64_t axis = attributes().integer(attribute);
  return size_t(axis < 0 ? axis + int64_t(rank) : axis);
}

Term GradientCall::operand(size_t i) {
  return {this, site_.operands[i], site_.operandTypes[i]};
}

Term GradientCall::field(size_t i, size_t field) {
  return project(operand(i), field);
}

Term GradientCall::result() {
  return {this, site_.result, site_.resultType};
}

Term GradientCall::result(size_t field) {
  return project(result(), field);
}

Term GradientCall::cotangent(size_t field) {
  const Type* type = fieldType(site_.resultType, field);
  if (hasCotangent(field))
    return {this, site_.cotangents[field], type};
  throw std::logic_error("the cotangent of this field is zero");
}

void GradientCall::toField(size_t i, size_t field, const Term& cotangent) {
  if (!wants(i, field))
    return;
  const Type* wanted = leafType(i, field);
  if (!isSameType(cotangent.type(), wanted))
    throw std::logic_error(fmt::format("the cotangent of operand {} is `{}`, not `{}`", i,
                                       typeText(cotangent.type()), typeText(wanted)));
  cotangents_[i][field] = cotangent.atom();
}

Term GradientCall::call(std::string_view op, ListOf<Term> operands, Settings settings) {
  std::vector<Atom> atoms;
  std::vector<const Type*> operandTypes;
  std::deque<runtime::Tensor> constants;
  std::vector<const runtime::Tensor*> values;
  const OperatorRow& row = block_.make.row(op);
  for (const Term& operand : operands) {
    atoms.push_back(operand.atom());
    operandTypes.push_back(operand.type());
    const auto* constant = operand.atom()->as<Constant>();
    bool isAsked = constant && row.shapeNeeds == ShapeNeeds::Constants;
    values.push_back(isAsked ? &constants.emplace_back(constantTensor(*constant)) : nullptr);
  }
  const Call* made = block_.make.call(row, atoms, settings);
  static const Attributes none{};
  const Attributes& given = made->attributes ? *made->attributes : none;
  RelationResult answer = applyRelation(row, {types(), operandTypes, given, values});
  std::string problem = answer.problem;
  if (answer.outcome == RelationResult::Outcome::Waiting)
    problem = "a type is missing";
  for (const auto& [index, type] : answer.operands)
    if (problem.empty() && !isSameType(operandTypes[index], type))
      problem = fmt::format("operand {} should be `{}`, but is `{}`", index, typeText(type),
                            typeText(operandTypes[index]));
  if (!problem.empty())
    throw std::logic_error(fmt::format("the call of `{}` is wrong: {}", op, problem));
  return {this, block_.bind(made), answer.output};
}

Term GradientCall::tuple(ListOf<Term> fields) {
  std::vector<Atom> atoms;
  std::vector<const Type*> parts;
  for (const Term& field : fields) {
    atoms.push_back(field.atom());
    parts.push_back(field.type());
  }
  return {this, block_.tuple(atoms), types().tuple(parts)};
}

Term GradientCall::project(const Term& tuple, size_t field) {
  auto [known, isNew] = projections_.try_emplace({tuple.atom(), field}, nullptr);
  if (isNew)
    known->second = block_.project(tuple.atom(), uint32_t(field));
  return {this, known->second, tuple.type()->parts[field]};
}

Term GradientCall::number(runtime::DType dtype, double value) {
  return {this, block_.make.scalar(dtype, value), types().scalar(dtype)};
}

Term GradientCall::constant(const runtime::Tensor& value) {
  const Constant* made = block_.make.tensor(value);
  return {this, made, made->type};
}

namespace {

/// A module with one function in the making, and its parameters.
struct FunctionInMaking {
  Builder make;
  BlockBuilder body{make};
  std::vector<const Var*> parameters = {};

  const Var* parameter(std::string_view name, const Type* type) {
    parameters.push_back(make.var(VarOrigin::Parameter, name, type));
    return parameters.back();
  }
};

/// The cotangents of the tensors of a result; null for those that can have none.
std::vector<Atom> cotangentsOf(BlockBuilder& body, const Var* cotangent, const Type* result) {
  if (result->isTensor())
    return {cotangent};
  std::vector<Atom> fields;
  for (uint32_t i = 0; i < result->parts.size(); ++i)
    fields.push_back(result->parts[i]->dtype.isFloat() ? body.project(cotangent, i) : nullptr);
  return fields;
}

} // namespace

GradientFunction gradientFunction(TypeContext& types, const OperatorTable& operators,
                                  const OperatorRow& row, Types operands, const Type* result,
                                  const Attributes& attributes) {
  GradientFunction made{std::make_unique<Module>(types)};
  FunctionInMaking function{{*made.module, operators}};
  std::vector<Atom> atoms;
  for (size_t i = 0; i < operands.size(); ++i)
    atoms.push_back(function.parameter(row.operands[i].name, operands[i]));
  const Var* value = function.parameter("result", result);
  const Var* cotangent = function.parameter("cotangent", result);
  std::vector<Atom> incoming = cotangentsOf(function.body, cotangent, result);
  GradientCall call(function.body, {operands, result, attributes, atoms, value, incoming});
  std::get<GradientRule>(row.gradient).build(call);

  std::vector<Atom> outgoing;
  std::vector<const Type*> outgoingTypes;
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t field = 0; field < call.cotangents()[i].size(); ++field)
      if (Atom atom = call.cotangents()[i][field]) {
        outgoing.push_back(atom);
        outgoingTypes.push_back(operands[i]->isTuple() ? operands[i]->parts[field] : operands[i]);
        made.given.emplace_back(i, field);
      }
  bool isSingle = outgoing.size() == 1;
  Atom answer = isSingle ? outgoing.front() : function.body.tuple(outgoing);
  const Type* type = isSingle ? outgoingTypes.front() : types.tuple(outgoingTypes);
  made.global = function.make.define(
      "gradient", function.make.function(function.parameters, function.body.finish(answer), type));
  return made;
}

} // namespace lang
