// Region proposals of two-stage detectors, and detections of one-stage ones.
#include "stdlib/ops/families.h"

namespace stdlib {

lang::OperatorFamily proposalFamily() { return {}; }

} // namespace stdlib
