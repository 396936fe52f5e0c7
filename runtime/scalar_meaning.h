// The meanings of the scalar functions as C++ computes them: one function template for each column
// of scalar_functions.def.
//
// The type of floats may be any that has arithmetic and whose functions are found by
// argument-dependent lookup, such as a real of many digits.
#pragma once

#include "runtime/scalar_function.h"

#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace runtime {

/// The unsigned type in which whole numbers of type T wrap. It is not promoted to a signed int that
/// could overflow.
template <typename T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

namespace meaning {

using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atanh, std::ceil, std::cos;
using std::cosh, std::erf, std::exp, std::fabs, std::floor, std::fmod, std::log, std::log10;
using std::log2, std::pow, std::round, std::sin, std::sinh, std::sqrt, std::tan, std::tanh;
using std::trunc;

template <ScalarFunction function>
struct Meaning;

#define AS(value)                                                                                  \
  { return value; }
#define NONE = delete;
#define IS_SIGNED std::is_signed_v<T>
#define SCALAR_FUNCTION(name, arity, result, floats, wholes, ...)                                  \
  template <>                                                                                      \
  struct Meaning<ScalarFunction::name> {                                                           \
    template <typename T>                                                                          \
    static result ofFloats([[maybe_unused]] const T& a, [[maybe_unused]] const T& b,               \
                           [[maybe_unused]] const T& c) floats                                     \
        template <typename T, typename W = Wrapping<T>>                                            \
        static result                                                                              \
        ofWholes([[maybe_unused]] T a, [[maybe_unused]] T b, [[maybe_unused]] T c) wholes          \
  };
#include "runtime/scalar_functions.def"
#undef SCALAR_FUNCTION
#undef IS_SIGNED
#undef NONE
#undef AS

} // namespace meaning

/// Whether the table gives the function a meaning on T.
template <ScalarFunction function, typename T>
concept HasMeaning = (std::integral<T> &&
                      requires(T a) { meaning::Meaning<function>::ofWholes(a, a, a); }) ||
                     (!std::integral<T> &&
                      requires(const T& a) { meaning::Meaning<function>::ofFloats(a, a, a); });

/// The value of the function: of type T, or bool. Operands that it does not have count for nothing.
template <ScalarFunction function, typename T>
requires HasMeaning<function, T>
auto applied(const T& a, const T& b, const T& c) {
  if constexpr (std::integral<T>)
    return meaning::Meaning<function>::ofWholes(a, b, c);
  else
    return meaning::Meaning<function>::ofFloats(a, b, c);
}
template <ScalarFunction function, typename T>
requires HasMeaning<function, T>
auto applied(const T& a, const T& b) {
  return applied<function>(a, b, b);
}
template <ScalarFunction function, typename T>
requires HasMeaning<function, T>
auto applied(const T& a) {
  return applied<function>(a, a, a);
}

} // namespace runtime
