// Which function a call means hangs on types, and the order of checking on what calls mean; so the
// functions of records come before all others, and among themselves the order goes by all that a
// field of that name may be.
#include "typecheck/record_calls.h"

#include "lang/ir/open_marks.h"
#include "lang/ir/record_function.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace typecheck {

using namespace lang;

RecordCalls::RecordCalls(const Module& module) {
  std::unordered_map<std::string_view, const Global*> globals, values;
  for (const Global* global : module.globals)
    if (global->function)
      (global->function->mayBeOpen ? globals : values)[global->name] = global;
  auto record = [](const TypeDefinition& type) {
    return type.constructors.size() == 1 ? type.constructors[0] : nullptr;
  };
  for (const TypeDefinition* type : module.typeDefinitions) {
    const Constructor* made = record(*type);
    auto found = globals.find(recordFunctionName(type->name));
    if (!made || made->fieldNames.empty() || found == globals.end())
      continue;
    functions_[type] = found->second;
    called_.insert(found->second);
    for (const Var* parameter : found->second->function->parameters)
      if (auto value = values.find(recordDefaultName(found->second->name, parameter->name));
          value != values.end()) {
        defaults_[found->second].push_back(value->second);
        isDefault_.insert(value->second);
      }
  }
  for (const TypeDefinition* type : module.typeDefinitions)
    if (const Constructor* made = record(*type))
      for (size_t i = 0; i < made->fieldNames.size(); ++i)
        if (const Global* function = find(*made->fields[i]))
          byField_[made->fieldNames[i]].push_back(function);
}

std::span<const Global* const> RecordCalls::defaultsOf(const Global& function) const {
  auto found = defaults_.find(&function);
  return found == defaults_.end() ? std::span<const Global* const>() : found->second;
}

const Global* RecordCalls::defaultOf(const Global& function, size_t parameter) const {
  std::string name =
      recordDefaultName(function.name, function.function->parameters[parameter]->name);
  for (const Global* value : defaultsOf(function))
    if (value->name == name)
      return value;
  return nullptr;
}

const Global* RecordCalls::find(const Type& type) const {
  auto found = type.kind == TypeKind::Data ? functions_.find(type.definition) : functions_.end();
  return found == functions_.end() ? nullptr : found->second;
}

std::vector<const Global*> RecordCalls::candidates(const Var& callee, const Expr* value) const {
  const auto* field = value ? value->as<Project>() : nullptr;
  auto named = field ? byField_.find(field->field) : byField_.end();
  if (named != byField_.end())
    return named->second;
  const Global* declared = callee.annotation ? find(*callee.annotation) : nullptr;
  return declared ? std::vector{declared} : std::vector<const Global*>();
}

namespace {

/// The name in front of an argument.
SourceRange nameOf(const Operand& argument, std::string_view name) {
  return {argument.range.begin, argument.range.begin + uint32_t(name.size())};
}

void reportUnknown(Diagnostics& diagnostics, SourceRange range, std::string_view name,
                   std::span<const Var* const> parameters) {
  std::vector<std::string_view> others;
  for (const Var* parameter : parameters.subspan(1))
    others.push_back(parameter->name);
  diagnostics.report(Message::UnknownArgument, range, name)
      .note(fmt::format("the parameters are {}", fmt::join(others, ", ")));
}

} // namespace

std::optional<std::vector<Operand>> placeArguments(const Call& call, const Global& function,
                                                   Diagnostics& diagnostics) {
  std::vector<std::string_view> names = argumentNamesOf(call);
  const auto& parameters = function.function->parameters;
  size_t positional = call.arguments.size() - names.size();
  std::vector<Operand> operands{call.callee};
  operands.insert(operands.end(), call.arguments.begin(), call.arguments.begin() + positional);
  // That there are too many is told of the function.
  if (operands.size() > parameters.size())
    return operands;
  operands.resize(parameters.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const Operand& argument = call.arguments[positional + i];
    size_t place = size_t(std::ranges::find(parameters, names[i], &Var::name) - parameters.begin());
    if (place < parameters.size() && !operands[place].value) {
      operands[place] = argument;
      continue;
    }
    if (place < parameters.size())
      diagnostics.report(Message::RepeatedArgument, nameOf(argument, names[i]), names[i]);
    else
      reportUnknown(diagnostics, nameOf(argument, names[i]), names[i], parameters);
    return std::nullopt;
  }
  return operands;
}

void reportNames(const Call& call, Diagnostics& diagnostics) {
  std::vector<std::string_view> names = argumentNamesOf(call);
  if (!names.empty())
    diagnostics.report(Message::NamedForValue,
                       nameOf(call.arguments[call.arguments.size() - names.size()], names[0]));
}

} // namespace typecheck
