// Which function a call means hangs on types, and the order of checking on what calls mean; so the
// functions of records come before all others, and among themselves the order goes by all that a
// field of that name may be.
#include "typecheck/record_calls.h"

#include "lang/ir/record_function.h"

namespace typecheck {

using namespace lang;

RecordCalls::RecordCalls(const Module& module) {
  std::unordered_map<std::string_view, const Global*> globals;
  for (const Global* global : module.globals)
    if (global->function && global->function->mayBeOpen)
      globals[global->name] = global;
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
  }
  for (const TypeDefinition* type : module.typeDefinitions)
    if (const Constructor* made = record(*type))
      for (size_t i = 0; i < made->fieldNames.size(); ++i)
        if (const Global* function = find(*made->fields[i]))
          byField_[made->fieldNames[i]].push_back(function);
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

} // namespace typecheck
