// Quantised integers: to them, from them, between scales, and arithmetic element by element.
#include "stdlib/ops/families.h"

namespace stdlib {

lang::OperatorFamily qnnFamily() { return {}; }

} // namespace stdlib
