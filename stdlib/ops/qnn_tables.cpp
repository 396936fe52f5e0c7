// Quantised functions of one operand, which TVM computes by tables of 256 entries.
#include "stdlib/ops/families.h"

namespace stdlib {

lang::OperatorFamily qnnTablesFamily() {
  return {};
}

} // namespace stdlib
