// Functions of whole numbers, in 64 bits: cut to a narrower type, the results are those of that
// type.
#include "runtime/scalar.h"

namespace runtime {

namespace {

template <ScalarFunction function, typename T>
uint64_t wholeValue(DType dtype, T a, T b, T c) {
  if constexpr (HasMeaning<function, T>)
    return uint64_t(applied<function>(a, b, c));
  else if constexpr (HasMeaning<function, double>) {
    double value = applied<function>(double(a), double(b));
    return dtype.isBool() ? value != 0 : uint64_t(wholeOf(dtype, value));
  }
  throw std::logic_error("a move of bits is no function");
}

template <typename T>
uint64_t apply(ScalarFunction function, DType dtype, T a, T b, T c) {
  switch (function) {
#define SCALAR_FUNCTION(name, ...)                                                                 \
  case ScalarFunction::name:                                                                       \
    return wholeValue<ScalarFunction::name>(dtype, a, b, c);
#include "runtime/scalar_functions.def"
#undef SCALAR_FUNCTION
  }
  throw std::logic_error("no scalar function");
}

} // namespace

uint64_t wholeFunction(ScalarFunction function, DType dtype, int64_t a, int64_t b, int64_t c) {
  if (dtype.bits < 64 || dtype.isSigned())
    return apply<int64_t>(function, dtype, a, b, c);
  return apply<uint64_t>(function, dtype, uint64_t(a), uint64_t(b), uint64_t(c));
}

} // namespace runtime
