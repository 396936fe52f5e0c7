// What the instructions of linked.def do.
//
// Each leaves everything as if its parts had run one after the other, but the registers of a call
// that ends, so a jump into the middle of a chain finds what it should. What a part gives does not
// go through memory to the next one: that takes the processor longer than to compute it.
//
// Half of the calls of most recursive functions end at once: a leaf of a tree, a number below two.
// Where the first instruction shows that the function only gives something simple, the caller takes
// that, and nothing is opened. The call takes its fuel all the same, so limits are the same; the
// loop does so before.
#pragma once

#include "vm/machine/execute.h"
#include "vm/machine/link.h"

namespace vm {

/// The first instruction of the function that a call is linked with.
inline const Word* firstOf(const Word* at) {
  return callee(at) - 1;
}

/// Ends a call that is not opened, if the function would return at once from `at`.
inline bool answersAtOnce(const Context& x, Slot* window, const Word* at) {
  if (at->op == x.machine.ops().returns)
    window[0] = window[at->a];
  else if (at->op == x.machine.ops().returnsLong)
    window[0].i64 = int32_t(wide(*at));
  else
    return false;
  return true;
}
inline bool answersWithField(const Context& x, Slot* window, const Word* at) {
  if (at->op != x.machine.ops().returnsField || !isOf(window[at->a].object, at->b))
    return answersAtOnce(x, window, at);
  window[0] = window[at->a].object->fields()[at->c];
  return true;
}

/// Places the argument of a call; the registers that the function would get.
template <void (*place)(Context&, const Word*)>
Slot* windowFor(Context& x, const Word* at) {
  place(x, at);
  return x.r + at->a;
}

template <void (*place)(Context&, const Word*), ScalarFunction function, typename T>
const Word* callTested(Context& x, const Word* at) {
  Slot* window = windowFor<place>(x, at);
  const Word* test = firstOf(at);
  bool holds = runtime::applied<function>(as<T>(window[test->a]), T(int16_t(test->b)));
  const Word* next = holds ? callee(at) : jumpBy(test, int16_t(test->c));
  if (!holds && answersAtOnce(x, window, next))
    return at + wordsOfCall<place>;
  openCall<place>(x, at);
  return next;
}

/// Linking writes into the switch the layout of objects of which an arm gives just the first field,
/// or none.
template <void (*place)(Context&, const Word*)>
const Word* callSwitched(Context& x, const Word* at) {
  Slot* window = windowFor<place>(x, at);
  const Word* test = firstOf(at);
  Object* object = window[test->a].object;
  if (isOf(object, test->c)) {
    window[0] = object->fields()[0];
    return at + wordsOfCall<place>;
  }
  openCall<place>(x, at);
  return switchTag(x, test);
}

template <void (*place)(Context&, const Word*), size_t known>
const Word* callMatched(Context& x, const Word* at) {
  Slot* window = windowFor<place>(x, at);
  const Word* test = firstOf(at);
  const Object* object = window[test->a].object;
  const Word* next = behindTail(test, known);
  bool fits = isOf(object, test->b);
  if (!fits) {
    next += int16_t(test->c);
    if (answersWithField(x, window, next))
      return at + wordsOfCall<place>;
  }
  openCall<place>(x, at);
  if (fits)
    loadFields<known>(x, test, object);
  return next;
}

template <void (*place)(Context&, const Word*), const Word* (*first)(Context&, const Word*)>
const Word* tailThen(Context& x, const Word* at) {
  place(x, at);
  return first(x, firstOf(at));
}

template <void (*place)(Context&, const Word*), ScalarFunction function, typename T>
const Word* tailTested(Context& x, const Word* at) {
  return tailThen<place, jumpUnlessShort<function, T>>(x, at);
}

/// An instruction of two operands, one of which is at hand.
template <ScalarFunction function, typename T, Use use>
const Word* withOperand(Context& x, const Word* at, T given) {
  if constexpr (use == Use::Left)
    put(x.r[at->a], runtime::applied<function>(given, as<T>(x.r[at->c])));
  else
    put(x.r[at->a], runtime::applied<function>(as<T>(x.r[at->b]), given));
  return at + 1;
}

template <typename T>
T multiplied(Context& x, const Word* at) {
  T product = as<T>(x.r[at->b]) * as<T>(x.r[at->c]);
  put(x.r[at->a], product);
  return product;
}

template <ScalarFunction function, typename T, Use use>
const Word* productThen(Context& x, const Word* at) {
  T product = multiplied<T>(x, at);
  return withOperand<function, T, use>(x, at + 1, product);
}

/// Ends the call with some bits of a sum or product; nothing reads the sum any more.
template <ScalarFunction function, typename T>
const Word* returnMaskedResult(Context& x, const Word* at) {
  T made = runtime::applied<function>(as<T>(x.r[at->b]), as<T>(x.r[at->c]));
  put(x.r[0], runtime::applied<ScalarFunction::BitAnd>(made, T(at[1].c)));
  return leave(x);
}

/// The square root of a sum with a product.
template <typename T, Use use>
const Word* norm(Context& x, const Word* at) {
  T product = multiplied<T>(x, at);
  T sum = product + as<T>(x.r[use == Use::Left ? at[1].c : at[1].b]);
  put(x.r[at[1].a], sum);
  put(x.r[at[2].a], runtime::applied<ScalarFunction::Sqrt>(sum));
  return at + 3;
}

/// A constant, a product with it, and a sum with that.
template <ScalarFunction function, typename T, Use use>
const Word* scaledThen(Context& x, const Word* at) {
  loadWord(x, at);
  T product = multiplied<T>(x, at + 1);
  return withOperand<function, T, use>(x, at + 2, product);
}

template <ScalarFunction function, typename T, const Word* (*load)(Context&, const Word*)>
const Word* loadedThen(Context& x, const Word* at) {
  load(x, at);
  return withOperand<function, T, Use::Right>(x, at + 1, as<T>(x.r[at->a]));
}

/// A sum with a number in the instruction, and a test of it.
template <ScalarFunction function, typename T>
const Word* sumTested(Context& x, const Word* at) {
  T sum = runtime::applied<ScalarFunction::Add>(as<T>(x.r[at->b]), T(int16_t(at->c)));
  put(x.r[at->a], sum);
  const Word* test = at + 1;
  bool holds = runtime::applied<function>(sum, T(int16_t(test->b)));
  return holds ? at + 2 : jumpBy(test, int16_t(test->c));
}

} // namespace vm
