// What the instructions of scalar functions do, their results returned or tested too.
#pragma once

#include "vm/machine/context.h"

namespace vm {

inline const Word* applyAny(Context& x, const Word* at) {
  auto function = ScalarFunction(at[1].op);
  runtime::DType dtype = unpacked(at[1].a);
  Slot b = x.r[at->c];
  if (runtime::scalarFunctionDivides(function) && isWholeZero(dtype, b))
    return Slow::trap(x.machine, at, Trap::DivisionByZero);
  x.r[at->a] = applyScalar(function, dtype, x.r[at->b], b, x.r[at[1].b]);
  return at + 2;
}
inline const Word* convertAny(Context& x, const Word* at) {
  x.r[at->a] = convertScalar(unpacked(at[1].op), unpacked(at[1].a), x.r[at->b]);
  return at + 2;
}
template <typename From, typename To>
const Word* converted(Context& x, const Word* at) {
  put(x.r[at->a], To(as<From>(x.r[at->b])));
  return at + 1;
}
inline const Word* choose(Context& x, const Word* at) {
  x.r[at->a] = x.r[at[1].op].u8 ? x.r[at->b] : x.r[at->c];
  return at + 2;
}

template <ScalarFunction function, typename T>
const Word* binary(Context& x, const Word* at) {
  put(x.r[at->a], runtime::applied<function>(as<T>(x.r[at->b]), as<T>(x.r[at->c])));
  return at + 1;
}
template <ScalarFunction function, typename T>
const Word* immediate(Context& x, const Word* at) {
  put(x.r[at->a], runtime::applied<function>(as<T>(x.r[at->b]), T(int16_t(at->c))));
  return at + 1;
}
template <ScalarFunction function, typename T>
const Word* masked(Context& x, const Word* at) {
  put(x.r[at->a], runtime::applied<function>(as<T>(x.r[at->b]), T(at->c)));
  return at + 1;
}
template <ScalarFunction function, typename T>
const Word* unary(Context& x, const Word* at) {
  put(x.r[at->a], runtime::applied<function>(as<T>(x.r[at->b])));
  return at + 1;
}
template <ScalarFunction function, typename T>
const Word* returnBinary(Context& x, const Word* at) {
  put(x.r[0], runtime::applied<function>(as<T>(x.r[at->b]), as<T>(x.r[at->c])));
  return leave(x);
}
template <ScalarFunction function, typename T>
const Word* returnImmediate(Context& x, const Word* at) {
  put(x.r[0], runtime::applied<function>(as<T>(x.r[at->b]), T(int16_t(at->c))));
  return leave(x);
}
template <ScalarFunction function, typename T>
const Word* returnMasked(Context& x, const Word* at) {
  put(x.r[0], runtime::applied<function>(as<T>(x.r[at->b]), T(at->c)));
  return leave(x);
}
template <ScalarFunction function, typename T>
const Word* jumpUnlessHolds(Context& x, const Word* at) {
  bool holds = runtime::applied<function>(as<T>(x.r[at->a]), as<T>(x.r[at->b]));
  return holds ? at + 1 : jumpBy(at, int16_t(at->c));
}
template <ScalarFunction function, typename T>
const Word* jumpUnlessShort(Context& x, const Word* at) {
  bool holds = runtime::applied<function>(as<T>(x.r[at->a]), T(int16_t(at->b)));
  return holds ? at + 1 : jumpBy(at, int16_t(at->c));
}

} // namespace vm
