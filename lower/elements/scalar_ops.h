// The loops of scalar functions on own types, made from runtime/scalar_functions.def.
#pragma once

#include "lower/elements/float_functions.h"
#include "lower/elements/kernels.h"
#include "runtime/scalar_meaning.h"

namespace lower {

/// Whether whole numbers of 32 or 64 bits give other bits with a sign than without one.
constexpr bool hangsOnSign(ScalarFunction function) {
  using enum ScalarFunction;
  switch (function) {
  case Add:
  case Subtract:
  case Multiply:
  case LeftShift:
  case BitAnd:
  case BitOr:
  case BitXor:
  case LogicalAnd:
  case LogicalOr:
  case LogicalXor:
  case LogicalNot:
  case Equal:
  case NotEqual:
  case Negative:
  case BitNot:
    return false;
  default:
    return true;
  }
}

constexpr bool isRounding(ScalarFunction function) {
  return function >= ScalarFunction::Floor && function <= ScalarFunction::RoundEven;
}

/// Whether there is a loop of the function on T. For bits that are moved there are others.
template <ScalarFunction function, typename T>
constexpr bool hasLoop = runtime::HasMeaning<function, Compute<T>> &&
                         !(std::is_same_v<T, uint64_t> && !hangsOnSign(function)) &&
                         !(std::integral<Compute<T>> && isRounding(function));

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
      result[j] = narrow<T>(stripApplied<function>(widen(a[j]), widen(b[j]), widen(c[j])));
  }
}

template <ScalarFunction function, size_t arity, typename T>
ApplyKernel loopOf() {
  if constexpr (hasLoop<function, T>)
    return applyLoop<function, arity, T>;
  return nullptr;
}

/// The loop of a function of `wanted` operands; null when there is none on T.
template <size_t wanted, typename T>
ApplyKernel loopOn(ScalarFunction function) {
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

/// The loop of a function of `wanted` operands; null when it has no meaning on their type.
template <size_t wanted>
ApplyKernel loopFor(ScalarFunction function, Element element) {
  switch (element) {
  case Element::Bool:
    return loopOn<wanted, Bit>(function);
  case Element::UInt32:
    if (hangsOnSign(function))
      return nullptr;
    [[fallthrough]];
  case Element::Int32:
    return loopOn<wanted, int32_t>(function);
  case Element::UInt64:
    if (hangsOnSign(function))
      return loopOn<wanted, uint64_t>(function);
    [[fallthrough]];
  case Element::Int64:
    return loopOn<wanted, int64_t>(function);
  case Element::Float32:
    return loopOn<wanted, float>(function);
  case Element::Float64:
    return loopOn<wanted, double>(function);
  default:
    return nullptr;
  }
}

} // namespace lower
