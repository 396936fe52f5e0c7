// How programs are written: values with the operators of C++, so that a function reads as its
// formula.
//
// An instruction with the same operands is there once, however often it is written. A number beside
// a float value is a constant of that value's type, rounded to it.
#pragma once

#include "codegen/math/program.h"

#include <initializer_list>

namespace codegen {

class MathBuilder;

/// A value of the program that is being built.
struct MathValue {
  MathBuilder* builder;
  uint16_t number;

  MathType type() const;
};

class MathBuilder {
public:
  MathValue add(const MathInstruction& instruction);
  MathValue parameter(MathType type, uint64_t number);
  /// The program with this result and all that counts for it.
  MathProgram finish(MathValue result) const;

  MathType typeOf(uint16_t number) const { return instructions_[number].type; }

private:
  std::vector<MathInstruction> instructions_;
};

/// A float of the type of `like`.
MathValue constant(MathValue like, double value);
/// A whole number as wide as `like`.
MathValue wholeConstant(MathValue like, uint64_t bits);

MathValue operator+(MathValue a, MathValue b);
MathValue operator-(MathValue a, MathValue b);
MathValue operator*(MathValue a, MathValue b);
MathValue operator/(MathValue a, MathValue b);
MathValue operator-(MathValue a);
MathValue operator<(MathValue a, MathValue b);
MathValue operator<=(MathValue a, MathValue b);
MathValue operator==(MathValue a, MathValue b);
MathValue operator!=(MathValue a, MathValue b);
MathValue operator&(MathValue a, MathValue b);
MathValue operator|(MathValue a, MathValue b);
MathValue operator^(MathValue a, MathValue b);
MathValue operator!(MathValue a);
MathValue operator<<(MathValue a, unsigned bits);
MathValue operator>>(MathValue a, unsigned bits);

inline MathValue operator+(MathValue a, double b) {
  return a + constant(a, b);
}
inline MathValue operator+(double a, MathValue b) {
  return constant(b, a) + b;
}
inline MathValue operator-(MathValue a, double b) {
  return a - constant(a, b);
}
inline MathValue operator-(double a, MathValue b) {
  return constant(b, a) - b;
}
inline MathValue operator*(MathValue a, double b) {
  return a * constant(a, b);
}
inline MathValue operator*(double a, MathValue b) {
  return constant(b, a) * b;
}
inline MathValue operator/(double a, MathValue b) {
  return constant(b, a) / b;
}
inline MathValue operator<(MathValue a, double b) {
  return a < constant(a, b);
}
inline MathValue operator<(double a, MathValue b) {
  return constant(b, a) < b;
}
inline MathValue operator<=(MathValue a, double b) {
  return a <= constant(a, b);
}
inline MathValue operator<=(double a, MathValue b) {
  return constant(b, a) <= b;
}
inline MathValue operator==(MathValue a, double b) {
  return a == constant(a, b);
}

/// a * b + c, fused or not.
MathValue multiplyAdd(MathValue a, MathValue b, MathValue c);
inline MathValue multiplyAdd(MathValue a, double b, MathValue c) {
  return multiplyAdd(a, constant(a, b), c);
}
inline MathValue multiplyAdd(MathValue a, MathValue b, double c) {
  return multiplyAdd(a, b, constant(a, c));
}
inline MathValue multiplyAdd(MathValue a, double b, double c) {
  return multiplyAdd(a, constant(a, b), constant(a, c));
}
MathValue squareRoot(MathValue a);
MathValue absolute(MathValue a);
MathValue copySign(MathValue size, MathValue sign);
/// a 2^n for a whole n; `isPlain` where 2^n is neither subnormal nor infinite.
MathValue scaledBy(MathValue a, MathValue n, bool isPlain = false);
MathValue floorOf(MathValue a);
MathValue roundEven(MathValue a);
MathValue select(MathValue condition, MathValue yes, MathValue no);
inline MathValue select(MathValue condition, MathValue yes, double no) {
  return select(condition, yes, constant(yes, no));
}
inline MathValue select(MathValue condition, double yes, MathValue no) {
  return select(condition, constant(no, yes), no);
}
/// A float as a whole number of the same bits, and back.
MathValue bitsOf(MathValue a);
MathValue floatOf(MathValue bits);
MathValue toFloat32(MathValue a);
MathValue toFloat64(MathValue a);

/// a where that is at most `most`, or NaN; else `most`.
inline MathValue atMost(MathValue a, double most) {
  return select(most < a, most, a);
}
inline MathValue atLeast(MathValue a, double least) {
  return select(a < least, least, a);
}

/// c[0] + c[1] x + c[2] x^2 + ..., innermost first.
MathValue polynomial(MathValue x, std::initializer_list<double> coefficients);

} // namespace codegen
