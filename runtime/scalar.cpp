// Functions of whole numbers, on the C++ type of each of them.
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
  auto as = [&](auto zero) {
    using T = decltype(zero);
    return apply<T>(function, dtype, T(a), T(b), T(c));
  };
  if (dtype.isSigned())
    return dtype.bits == 8    ? as(int8_t())
           : dtype.bits == 16 ? as(int16_t())
           : dtype.bits == 32 ? as(int32_t())
                              : as(int64_t());
  return dtype.bits <= 8    ? as(uint8_t())
         : dtype.bits == 16 ? as(uint16_t())
         : dtype.bits == 32 ? as(uint32_t())
                            : as(uint64_t());
}

} // namespace runtime
