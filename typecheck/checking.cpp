#include "typecheck/checking.h"

namespace typecheck {

Checking::Checking(const lang::Module& checked, lang::Module* growing,
                   const lang::OperatorTable& table)
    : module(checked), operators(table),
      unifier(module.types, module.unknownCount, module.unknownDimCount,
              module.unknownCount + 2 * (module.varCount + module.functionCount)),
      open(growing, table, unifier) {
  cover();
  if (!growing)
    return;
  functions.ofOperators = std::make_unique<OperatorValues>(*growing, table);
  sizes = std::make_unique<KnownSizes>(unifier, table, vars);
  records = std::make_unique<RecordCalls>(module);
}

void Checking::cover() {
  vars.types.resize(module.varCount);
  vars.values.resize(module.varCount);
  functions.resultTypes.resize(module.functionCount);
  functions.scopeOf.resize(module.functionCount);
}

} // namespace typecheck
