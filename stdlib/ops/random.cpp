// Random numbers from a counter and a key, the streams of TVM's Threefry-4x64.
#include "stdlib/ops/families.h"

namespace stdlib {

lang::OperatorFamily randomFamily() { return {}; }

} // namespace stdlib
