// Quantised products and sums: convolutions, dense layers, matrix products, averages.
#include "stdlib/ops/families.h"

namespace stdlib {

lang::OperatorFamily qnnContractionsFamily() { return {}; }

} // namespace stdlib
