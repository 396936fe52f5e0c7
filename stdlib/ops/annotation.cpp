// Markers: they give back what they are given, and tell a pass or a person something.
#include "stdlib/ops/families.h"

namespace stdlib {

lang::OperatorFamily annotationFamily() { return {}; }

} // namespace stdlib
