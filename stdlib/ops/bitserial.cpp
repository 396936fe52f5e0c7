// Bit-serial convolution and dense: integers of few bits packed in planes.
#include "stdlib/ops/families.h"

namespace stdlib {

lang::OperatorFamily bitserialFamily() { return {}; }

} // namespace stdlib
