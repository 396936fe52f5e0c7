// Which data types lead to which, through their fields.
#include "transform/differentiate/symbolic_zeros.h"

namespace transform {

using namespace lang;

bool SymbolicZeros::writeInto(Module& module, const std::function<bool()>& write) {
  const size_t types = module.typeDefinitions.size(), globals = module.globals.size();
  for (;;) {
    if (!write())
      return false;
    if (wanted_.empty())
      return true;
    known_.merge(wanted_);
    wanted_.clear();
    module.typeDefinitions.resize(types);
    module.globals.resize(globals);
  }
}

namespace {

/// Calls `isFound` for each data type in the fields of a definition, until it says so.
bool findWithin(const TypeDefinition& definition,
                const std::function<bool(const TypeDefinition&)>& isFound) {
  std::unordered_set<const TypeDefinition*> met;
  std::vector<const Type*> open;
  auto openFields = [&](const TypeDefinition& of) {
    for (const Constructor* constructor : of.constructors)
      open.insert(open.end(), constructor->fields.begin(), constructor->fields.end());
  };
  openFields(definition);
  while (!open.empty()) {
    const Type* type = open.back();
    open.pop_back();
    open.insert(open.end(), type->parts.begin(), type->parts.end());
    if (type->kind != TypeKind::Data || !met.insert(type->definition).second)
      continue;
    if (isFound(*type->definition))
      return true;
    openFields(*type->definition);
  }
  return false;
}

} // namespace

bool isRecursive(const TypeDefinition& definition) {
  return findWithin(definition, [&](const TypeDefinition& other) { return &other == &definition; });
}

bool holdsAny(const TypeDefinition& definition, const SymbolicZeros& others) {
  return findWithin(definition, [&](const TypeDefinition& other) { return others.has(other); });
}

} // namespace transform
