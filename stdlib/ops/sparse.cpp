// Sparse matrices, given by rows (CSR), by blocks of rows (BSR) or by positions (COO).
#include "stdlib/ops/families.h"

namespace stdlib {

lang::OperatorFamily sparseFamily() { return {}; }

} // namespace stdlib
