// The loops of scalar functions on own types, made from runtime/scalar_functions.def.
#pragma once

#include "lower/kernels.h"
#include "runtime/scalar_meaning.h"

namespace lower {

template <typename T>
bool isNan(const T& a) {
  return runtime::applied<ScalarFunction::IsNan>(a);
}

/// A loop over `T` with the function in its body, so that it is inlined.
template <ScalarFunction function, size_t arity, typename T>
void applyLoop(std::byte* out, const std::byte* const* in, size_t count) {
  auto operand = [in](size_t i) { return reinterpret_cast<const T*>(in[i < arity ? i : 0]); };
  const T *a = operand(0), *b = operand(1), *c = operand(2);
  if constexpr (std::is_same_v<decltype(runtime::applied<function>(Compute<T>())), bool>) {
    auto* result = reinterpret_cast<uint8_t*>(out);
    for (size_t j = 0; j < count; ++j)
      result[j] = runtime::applied<function>(widen(a[j]), widen(b[j]), widen(c[j]));
  } else {
    auto* result = reinterpret_cast<T*>(out);
    for (size_t j = 0; j < count; ++j)
      result[j] = narrow<T>(runtime::applied<function>(widen(a[j]), widen(b[j]), widen(c[j])));
  }
}

template <ScalarFunction function, size_t arity, typename T>
ApplyKernel loopOf() {
  if constexpr (runtime::HasMeaning<function, Compute<T>>)
    return applyLoop<function, arity, T>;
  return nullptr;
}

/// The loop of a function of `wanted` operands; null when it has no meaning on T.
template <size_t wanted, typename T>
ApplyKernel loopFor(ScalarFunction function) {
  switch (function) {
#define SCALAR_FUNCTION(name, arity, ...)                                                          \
  case ScalarFunction::name:                                                                       \
    if constexpr (arity == wanted)                                                                 \
      return loopOf<ScalarFunction::name, arity, T>();                                             \
    return nullptr;
#include "runtime/scalar_functions.def"
#undef SCALAR_FUNCTION
  }
  return nullptr;
}

} // namespace lower
