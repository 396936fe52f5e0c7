// Recursion follows types, whose nesting TypeContext bounds.
#include "lang/calls/run_checks.h"

#include "lang/op/op.h"
#include "lang/source/utf8.h"

#include <algorithm>
#include <fmt/format.h>

namespace lang {

namespace {

std::string parameterName(const Var& parameter) {
  return parameter.name.empty() ? "" : fmt::format("%{}", printable(parameter.name));
}

} // namespace

checks::Declared Declarations::type(const Type& type) {
  checks::Declared declared;
  if (type.isTensor()) {
    declared = {.kind = checks::Declared::Kind::Tensor, .dtype = type.dtype};
    for (const Dim* dim : type.shape)
      declared.shape.push_back(size(dim));
  } else if (type.isTuple()) {
    declared.kind = checks::Declared::Kind::Tuple;
    for (const Type* part : type.parts)
      declared.parts.push_back(this->type(*part));
  } else {
    return declared;
  }
  declared.text = typeText(&type);
  return declared;
}

RunChecks::RunChecks(const Module& module, const Boundaries& boundaries, checks::Tables& tables)
    : boundaries_(boundaries), tables_(tables), functions_(module.functionCount, checks::none),
      values_(module.varCount, checks::none) {}

uint32_t RunChecks::function(const Function& function) {
  const FunctionChecks* from = boundaries_.of(function);
  uint32_t& number = functions_[function.number];
  if (!from || number != checks::none)
    return number;
  checks::FunctionCheck check{.name = printable(from->name), .keepsSizes = from->keepsSizes};
  for (const FunctionChecks::Parameter& each : from->parameters) {
    const Var& parameter = *function.parameters[each.position];
    check.parameters.push_back({each.position, declarations_.type(*each.type),
                                each.type == parameter.annotation, parameterName(parameter),
                                parameter.range});
  }
  if (from->result)
    check.result = declarations_.type(*from->result);
  check.isResultDeclared = from->result == function.resultAnnotation;
  for (const Dim* dim : from->outer)
    check.outer.push_back(declarations_.size(dim));
  for (const Requirement& each : from->requirements)
    check.needs.push_back({declarations_.size(each.dim), each.least, each.divisor,
                           each.row ? std::string(each.row->name) : "", each.range});
  number = uint32_t(tables_.functions.size());
  tables_.functions.push_back(std::move(check));
  return number;
}

uint32_t RunChecks::value(const Function& function, const Var& var) {
  const Type* type = boundaries_.typeOf(var);
  uint32_t& number = values_[var.number];
  if (!type || number != checks::none)
    return number;
  checks::ValueCheck check{.type = declarations_.type(*type),
                           .isDeclared = type == var.annotation,
                           .name = printable(var.name),
                           .range = var.range,
                           .function = this->function(function)};
  number = uint32_t(tables_.values.size());
  tables_.values.push_back(std::move(check));
  return number;
}

uint32_t RunChecks::fields(const Constructor& constructor) {
  if (!boundaries_.isChecked(constructor))
    return checks::none;
  auto [found, isNew] = fields_.try_emplace(&constructor, uint32_t(tables_.fields.size()));
  if (!isNew)
    return found->second;
  checks::FieldsCheck check{.constructor = printable(constructor.name), .fields = {}};
  for (const Type* field : constructor.fields)
    check.fields.push_back(declarations_.type(*field));
  tables_.fields.push_back(std::move(check));
  return found->second;
}

/// An operator that calls a function hands on the fields of a tuple, which stand nowhere else.
checks::CalledFrom calledFrom(const Call& call) {
  checks::CalledFrom from{call.range};
  if (!call.callee.value->as<OperatorRef>())
    for (const Operand& argument : call.arguments)
      from.arguments.push_back(argument.range);
  return from;
}

} // namespace lang
