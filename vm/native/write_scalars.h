// What instructions of scalar functions become, by the names that the table has for what they do.
#pragma once

#include "vm/machine/scalar.h"
#include "vm/native/write_control.h"

#include <type_traits>

namespace vm::native::write {

template <typename T>
constexpr runtime::DType dtypeOf() {
  return {std::is_integral_v<T> ? runtime::DTypeCode::Int : runtime::DTypeCode::Float,
          uint8_t(sizeof(T) * 8)};
}
template <typename T>
constexpr IrType typeOf() {
  return {std::is_integral_v<T> ? (sizeof(T) == 8 ? Element::Int64 : Element::Int32)
                                : (sizeof(T) == 8 ? Element::Float64 : Element::Float32)};
}
template <typename T>
IrValue numberOf(T value) {
  return codegen::FunctionText::whole(typeOf<T>(), value);
}

template <ScalarFunction function>
constexpr bool isTest =
    function >= ScalarFunction::Equal&& function <= ScalarFunction::GreaterEqual;

/// A function of operands of type T; tests give a bit.
template <ScalarFunction function, typename T>
IrValue applied(FunctionWriter& to, std::initializer_list<IrValue> operands) {
  return codegen::writeFunction(to.text, function, dtypeOf<T>(),
                                isTest<function> ? runtime::Bool : dtypeOf<T>(),
                                {operands.begin(), operands.size()});
}
template <ScalarFunction function, typename T>
IrValue ofBoth(FunctionWriter& to, uint16_t a, uint16_t b) {
  return applied<function, T>(to, {to.read(a, typeOf<T>()), to.read(b, typeOf<T>())});
}
template <ScalarFunction function, typename T>
IrValue withNumber(FunctionWriter& to, uint16_t a, T number) {
  return applied<function, T>(to, {to.read(a, typeOf<T>()), numberOf<T>(number)});
}

template <ScalarFunction function, typename T>
void binary(FunctionWriter& to, const Word* at) {
  to.write(at->a, ofBoth<function, T>(to, at->b, at->c));
}
template <ScalarFunction function, typename T>
void immediate(FunctionWriter& to, const Word* at) {
  to.write(at->a, withNumber<function, T>(to, at->b, T(int16_t(at->c))));
}
template <ScalarFunction function, typename T>
void masked(FunctionWriter& to, const Word* at) {
  to.write(at->a, withNumber<function, T>(to, at->b, T(at->c)));
}
template <ScalarFunction function, typename T>
void unary(FunctionWriter& to, const Word* at) {
  to.write(at->a, applied<function, T>(to, {to.read(at->b, typeOf<T>())}));
}
template <ScalarFunction function, typename T>
void returnBinary(FunctionWriter& to, const Word* at) {
  to.ret(ofBoth<function, T>(to, at->b, at->c));
}
template <ScalarFunction function, typename T>
void returnImmediate(FunctionWriter& to, const Word* at) {
  to.ret(withNumber<function, T>(to, at->b, T(int16_t(at->c))));
}
template <ScalarFunction function, typename T>
void returnMasked(FunctionWriter& to, const Word* at) {
  to.ret(withNumber<function, T>(to, at->b, T(at->c)));
}
template <ScalarFunction function, typename T>
void jumpUnlessHolds(FunctionWriter& to, const Word* at) {
  jumpUnlessBit(to, at, ofBoth<function, T>(to, at->a, at->b), int16_t(at->c));
}
template <ScalarFunction function, typename T>
void jumpUnlessShort(FunctionWriter& to, const Word* at) {
  jumpUnlessBit(to, at, withNumber<function, T>(to, at->a, T(int16_t(at->b))), int16_t(at->c));
}

template <typename From, typename To>
void converted(FunctionWriter& to, const Word* at) {
  IrValue value = to.read(at->b, typeOf<From>());
  constexpr IrType type = typeOf<To>();
  bool isWider = sizeof(To) > sizeof(From);
  std::string_view how = std::is_integral_v<From> && !std::is_integral_v<To> ? "sitofp"
                         : std::is_integral_v<To> ? (isWider ? "sext" : "trunc")
                                                  : (isWider ? "fpext" : "fptrunc");
  to.write(at->a, to.text.convert(how, value, type.element));
}

inline void choose(FunctionWriter& to, const Word* at) {
  IrValue condition = to.read(at[1].op, {Element::Bit});
  to.write(at->a, to.text.select(condition, to.word(at->b), to.word(at->c)));
}

/// On any type: the machine does it.
inline void applyAny(FunctionWriter& to, const Word* at) {
  for (uint16_t reg : {at->b, at->c, at[1].b})
    lay(to, reg);
  step(to, at);
  take(to, at->a);
}
inline void convertAny(FunctionWriter& to, const Word* at) {
  lay(to, at->b);
  step(to, at);
  take(to, at->a);
}

} // namespace vm::native::write
