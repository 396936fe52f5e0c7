// Values are as deep as lists are long, so this is a loop.
#include "tests/harness/float_sum.h"

#include "runtime/element.h"

#include <vector>

namespace harness {

using interp::Real;
using runtime::Value;

Real floatSum(const Value& value) {
  Real sum = 0;
  std::vector<Value> open{value};
  while (!open.empty()) {
    Value next = std::move(open.back());
    open.pop_back();
    if (next.kind() != runtime::ValueKind::Tensor) {
      open.insert(open.end(), next.fields().begin(), next.fields().end());
      continue;
    }
    const runtime::Tensor& tensor = next.tensor();
    if (!tensor.dtype().isFloat())
      continue;
    const auto* reals = static_cast<const interp::Reals*>(next.exact().get());
    for (size_t i = 0; i < size_t(tensor.size()); ++i)
      sum += reals ? (*reals)[i]
                   : Real(runtime::readFloat(tensor.dtype(),
                                             tensor.bytes() + i * tensor.dtype().bytes()));
  }
  return sum;
}

} // namespace harness
