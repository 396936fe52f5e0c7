// What TVM's own passes put into programs: storage, shapes and calls of its machine.
#include "stdlib/ops/families.h"

namespace stdlib {

lang::OperatorFamily dialectFamily() { return {}; }

} // namespace stdlib
