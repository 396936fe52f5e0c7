// Apart from other files, so that few of them see the checker.
#include "tests/harness/check_types.h"

#include "stdlib/ops.h"
#include "typecheck/check.h"

namespace harness {

lang::Typing checkTypes(const lang::Module& module, lang::Diagnostics& diagnostics) {
  return typecheck::checkModule(module, stdlib::operatorTable(), diagnostics);
}

} // namespace harness
