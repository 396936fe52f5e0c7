// Loops of the functions of one operand on own types. Those of analysis have no meaning on
// integers; planning casts their operands.
#include "lower/kernels.h"
#include "lower/scalar_ops.h"

#include <cstring>

namespace lower {

namespace {

template <typename T>
void copyLoop(std::byte* out, const std::byte* const* in, size_t count) {
  std::memmove(out, in[0], count * sizeof(T));
}

} // namespace

ApplyKernel unaryKernel(ScalarFunction function, Element operand) {
  return withOwnElement(operand, [&](auto tag) -> ApplyKernel {
    using T = typename decltype(tag)::type;
    return function == ScalarFunction::Reinterpret ? copyLoop<T> : loopFor<1, T>(function);
  });
}

} // namespace lower
