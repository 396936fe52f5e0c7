// Operators of `dyn.` on pictures and borders, whose sizes are operands.
#include "stdlib/ops/families.h"

namespace stdlib {

lang::OperatorFamily dynPicturesFamily() { return {}; }

} // namespace stdlib
