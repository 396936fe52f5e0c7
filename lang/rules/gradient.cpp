// Running gradient rules.
#include "lang/rules/gradient.h"

#include "lang/op/leaves.h"
#include "lang/op/op.h"

#include <stdexcept>

#include <fmt/format.h>

namespace lang {

namespace {

/// A field of a tuple type, or the type itself, which stands for its only field.
const Type* fieldType(const Type* type, size_t field) {
  return type->isTuple() ? type->parts[field] : type;
}

} // namespace

GradientCall::GradientCall(BlockBuilder& block, const GradientSite& site)
    : TermWriter(block), site_(site) {
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

std::optional<Term> GradientCall::takeSum(size_t i) {
  Atom sum = site_.takeSum && wants(i) ? site_.takeSum(i) : nullptr;
  return sum ? std::optional(Term(this, sum, leafType(i, 0))) : std::nullopt;
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
