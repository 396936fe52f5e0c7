// Writing terms: every call is put to the relation of its operator.
#include "lang/ir/term.h"

#include "lang/op/op.h"

#include <stdexcept>

#include <fmt/format.h>

namespace lang {

bool isSameType(const Type* left, const Type* right) {
  if (left == right)
    return true;
  if (left->kind != right->kind || !(left->dtype == right->dtype))
    return false;
  auto isSame = [](const Dim* a, const Dim* b) { return matchDims(a, b) == DimMatch::Same; };
  return std::ranges::equal(left->shape, right->shape, isSame) &&
         std::ranges::equal(left->parts, right->parts, isSameType);
}

Term TermWriter::call(std::string_view op, ListOf<Term> operands, Settings settings) {
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
  std::string problem = answer.problem.plain();
  if (answer.outcome == RelationResult::Outcome::Waiting)
    problem = "a type is missing";
  for (const auto& [index, type] : answer.operands)
    if (problem.empty() && !isSameType(operandTypes[index], type))
      problem = fmt::format("operand {} should be `{}`, but is `{}`", index, typeText(type),
                            typeText(operandTypes[index]));
  if (!problem.empty())
    throw std::logic_error(fmt::format("the call of `{}` is wrong: {}", op, problem));
  return {this, bind(made, answer.output), answer.output};
}

Term TermWriter::tuple(ListOf<Term> fields) {
  std::vector<Atom> atoms;
  std::vector<const Type*> parts;
  for (const Term& field : fields) {
    atoms.push_back(field.atom());
    parts.push_back(field.type());
  }
  const Type* type = types().tuple(parts);
  return {this, bind(block_.make.tuple(atoms), type), type};
}

Term TermWriter::project(const Term& tuple, size_t field) {
  const Type* type = tuple.type()->parts[field];
  auto [known, isNew] = projections_.try_emplace({tuple.atom(), field}, nullptr);
  if (isNew)
    known->second = bind(block_.make.project(tuple.atom(), uint32_t(field)), type);
  return {this, known->second, type};
}

Term TermWriter::number(runtime::DType dtype, double value) {
  return {this, block_.make.scalar(dtype, value), types().scalar(dtype)};
}

Term TermWriter::constant(const runtime::Tensor& value) {
  const Constant* made = block_.make.tensor(value);
  return {this, made, made->type};
}

} // namespace lang
