// What calls and returns become: calls on the processor's stack, jumps to functions, and, where a
// function calls itself in its own place, loops.
#pragma once

#include "vm/native/write_objects.h"
#include "vm/native/write_scalars.h"

namespace vm::native::write {

/// Who is called, with what it takes from registers on and gives.
struct Called {
  /// `@f3`, or a register with an address.
  std::string function;
  std::span<const Rep> parameters;
  std::string_view convention;
  bool isClosure = false;
  Rep result;
  std::span<const Rep> flat = {};
};

inline std::vector<IrValue> argumentsOf(FunctionWriter& to, const Called& called, uint16_t window) {
  std::vector<IrValue> arguments;
  for (const Rep& rep : called.parameters)
    arguments.push_back(to.read(uint16_t(window + arguments.size()), passedAs(rep)));
  if (called.isClosure)
    arguments.push_back(to.word(uint16_t(window + arguments.size())));
  return arguments;
}

/// Calls, and takes back what comes beside the result.
inline IrValue callValue(FunctionWriter& to, const Called& called, uint16_t window,
                         const std::string& top) {
  std::vector<IrValue> arguments = argumentsOf(to, called, window);
  std::string type = resultType(called.result);
  IrValue all = to.text.addOnce(
      wordType, fmt::format("call {} {} {}({})", called.convention, type, called.function,
                            argumentList(arguments, to.fuel().text, top, "poison")));
  auto part = [&](IrType of, int number) {
    return to.text.add(of, fmt::format("extractvalue {} {}, {}", type, all.text, number));
  };
  to.set("%fuel", part(wordType, 1));
  to.setTop(part(wordType, 2).text);
  return part(passedAs(called.result), 0);
}

/// Calls with a frame that says where this call goes on.
inline void openCall(FunctionWriter& to, const Word* at, const Called& called) {
  size_t words = wordCount(to.program(), at);
  std::string top = to.top();
  store(to, codegen::FunctionText::whole({Element::Int32}, int64_t(to.positionOf(at) + words)),
        top);
  IrValue result = callValue(to, called, at->a, offset(to, top, sizeof(Frame)));
  to.setTop(offset(to, to.top(), -int64_t(sizeof(Frame))));
  if (called.flat.empty())
    return to.write(at->a, result);
  for (size_t i = 0; i < called.flat.size(); ++i)
    to.write(uint16_t(at->a + i), loadAs(to, wordType, window(to, uint16_t(i))));
}

/// Goes on with a function in place of this call, with the first registers. What a wrapped call
/// ends with is filled in, so it has to come back.
inline void replaceCall(FunctionWriter& to, const Called& called) {
  auto jump = [&] {
    std::vector<IrValue> arguments = argumentsOf(to, called, 0);
    std::string type = resultType(called.result);
    IrValue all = to.text.addOnce(
        wordType, fmt::format("musttail call tailcc {} {}({})", type, called.function,
                              argumentList(arguments, to.fuel().text, to.top(), "poison")));
    to.end(fmt::format("ret {} {}", type, all.text));
  };
  if (!to.hasWraps())
    return jump();
  std::string plain = to.text.newLabel(), part = to.text.newLabel();
  to.branch(to.text.compare("icmp eq", to.get(to.variable("missing")), number(0)), plain, part);
  to.open(part);
  to.ret(callValue(to, called, 0, to.top()));
  to.open(plain);
  jump();
}

inline Called functionCalled(FunctionWriter& to, const Word* at) {
  uint32_t number = wide(*at);
  const Function& function = to.program().functions[number];
  return {"@" + nameOf(number), function.parameters, to.conventionOf(number), false,
          function.result,      function.flat};
}

/// What the second word of an instruction says that an argument is.
inline void callOnly(FunctionWriter&, const Word*) {}
inline void moveArgument(FunctionWriter& to, const Word* at) {
  to.copy(at[1].op, at[1].a);
}
template <typename T>
void addToArgument(FunctionWriter& to, const Word* at) {
  to.write(at[1].op, withNumber<ScalarFunction::Add, T>(to, at[1].a, T(int16_t(at[1].b))));
}

template <void (*place)(FunctionWriter&, const Word*)>
void enter(FunctionWriter& to, const Word* at) {
  takeFuel(to, at, true);
  place(to, at);
  openCall(to, at, functionCalled(to, at));
}
template <void (*place)(FunctionWriter&, const Word*)>
void replace(FunctionWriter& to, const Word* at) {
  bool isOwn = wide(*at) == to.number();
  takeFuel(to, at, !isOwn && to.hasWraps());
  place(to, at);
  if (isOwn)
    return to.jump("start");
  replaceCall(to, functionCalled(to, at));
}

inline void call(FunctionWriter& to, const Word* at) {
  enter<callOnly>(to, at);
}
inline void callMove(FunctionWriter& to, const Word* at) {
  enter<moveArgument>(to, at);
}
template <typename T>
void callAdd(FunctionWriter& to, const Word* at) {
  enter<addToArgument<T>>(to, at);
}
inline void tailCall(FunctionWriter& to, const Word* at) {
  replace<callOnly>(to, at);
}
inline void tailMove(FunctionWriter& to, const Word* at) {
  replace<moveArgument>(to, at);
}
template <typename T>
void tailAdd(FunctionWriter& to, const Word* at) {
  replace<addToArgument<T>>(to, at);
}

/// The code of the closure in a register for calls by a signature.
inline std::string closureCode(FunctionWriter& to, const Word* at, uint16_t reg,
                               uint16_t signature) {
  IrValue closure = to.word(reg);
  IrValue layout =
      to.text.convert("zext", loadAs(to, {Element::Int16}, pointer(to, closure)), Element::Int64);
  std::string all = context(to, offsetof(NativeContext, closures));
  IrValue away = to.text.binary("mul", layout, number(sizeof(ClosureCode)));
  std::string entry =
      to.text.add(wordType, fmt::format("getelementptr i8, ptr {}, {}", all, typed(away))).text;
  std::string code = to.variable("code"), other = to.text.newLabel(), next = to.text.newLabel();
  to.set(code, to.get(offset(to, entry, offsetof(ClosureCode, code))));
  IrValue first = to.get(offset(to, entry, offsetof(ClosureCode, signature)));
  to.branch(to.text.compare("icmp eq", first, number(signature)), next, other);
  to.open(other);
  to.set(code, askHelper(to, offsetof(NativeContext, helpers.entryOf),
                         fmt::format("{}, i64 {}, i64 {}", here(to, at), closure.text, signature)));
  to.jump(next);
  to.open(next);
  return pointer(to, to.get(code));
}
inline Called closureCalled(FunctionWriter& to, const Word* at, uint16_t window) {
  const Signature& signature = to.program().signatures[at->c];
  return {closureCode(to, at, uint16_t(window + at->b), at->c), signature.parameters, "tailcc",
          true, signature.result};
}
inline void callClosure(FunctionWriter& to, const Word* at) {
  Called called = closureCalled(to, at, at->a);
  takeFuel(to, at, true);
  openCall(to, at, called);
}
inline void tailCallClosure(FunctionWriter& to, const Word* at) {
  Called called = closureCalled(to, at, 0);
  takeFuel(to, at, to.hasWraps());
  replaceCall(to, called);
}

inline void returnScalar(FunctionWriter& to, const Word* at) {
  to.ret(to.read(at->a, passedAs(to.function().result)));
}
inline void returnLong(FunctionWriter& to, const Word* at) {
  to.ret(number(int32_t(wide(*at))));
}
inline void returnFlat(FunctionWriter& to, const Word*) {
  for (size_t i = 0; i < to.function().flat.size(); ++i)
    lay(to, uint16_t(i));
  to.ret(number(0));
}

} // namespace vm::native::write
