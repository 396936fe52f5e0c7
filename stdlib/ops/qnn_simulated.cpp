// Quantisation that is simulated: rounded like quantised numbers, but kept as floats.
#include "stdlib/ops/families.h"

namespace stdlib {

lang::OperatorFamily qnnSimulatedFamily() {
  return {};
}

} // namespace stdlib
