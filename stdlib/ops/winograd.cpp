// Convolutions and dense layers whose weights were transformed or packed beforehand.
#include "stdlib/ops/families.h"

namespace stdlib {

lang::OperatorFamily winogradFamily() { return {}; }

} // namespace stdlib
