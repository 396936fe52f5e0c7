// Scalar functions of floats as data: straight-line programs over a few instructions, each of which
// every back end has for scalars and for vectors of any width. So a function is defined once,
// without tables, calls and branches.
//
// A program is right only if each instruction rounds by itself: a back end must not contract,
// reassociate or flush subnormals, and must keep NaN, infinities and the signs of zeros.
// MultiplyAdd alone may be fused or not, as the target likes.
#pragma once

#include "runtime/dtype.h"
#include "runtime/scalar_function.h"

#include <array>
#include <cstdint>
#include <vector>

namespace codegen {

/// What a value of a program is, in each lane. Bool is a mask.
enum class MathType : uint8_t { F32, F64, I32, I64, Bool };

enum class MathOp : uint8_t {
  /// Parameter number `immediate`.
  Parameter,
  /// The value whose bits `immediate` has.
  Constant,
  /// Of floats, rounded to nearest even, or of whole numbers, which wrap.
  Add,
  Subtract,
  /// Of floats alone, as all that follows up to RoundEven.
  Multiply,
  Divide,
  /// a * b + c, rounded once or after the product too.
  MultiplyAdd,
  SquareRoot,
  /// These three change the sign alone, also that of zero and NaN.
  Negate,
  Absolute,
  /// The size of a with the sign of b.
  CopySign,
  /// a 2^b for a whole b that is at most twice as far from 0 as exponents of floats, rounded once.
  /// With 1 as `immediate`, 2^b is neither subnormal nor infinite.
  Scale,
  /// Whole floats: the largest one below, and the nearest one, halves to the even one.
  Floor,
  RoundEven,
  /// Comparisons of two floats or of two whole numbers with signs, which give Bool. With NaN all
  /// but
  /// NotEqual are false.
  Less,
  LessEqual,
  Equal,
  NotEqual,
  /// b where a, which is Bool, holds, else c.
  Select,
  /// Of whole numbers and Bool.
  And,
  Or,
  Xor,
  /// Of Bool.
  Not,
  /// Of a whole number by `immediate` bits, from 0 to its width less one; zeros come in.
  ShiftLeft,
  ShiftRight,
  /// The same bits as a float or a whole number of the same width.
  Bitcast,
  /// From one float type to the other, rounded to nearest even.
  Convert,
};

/// How many operands it takes.
size_t mathOpArity(MathOp op);

/// Gives one value, whose number is its place in the program.
struct MathInstruction {
  MathOp op = MathOp::Constant;
  /// Of the result.
  MathType type = MathType::F32;
  /// Numbers of values before this one; those beyond the arity are 0.
  std::array<uint16_t, 3> operands = {};
  uint64_t immediate = 0;

  friend bool operator==(const MathInstruction&, const MathInstruction&) = default;
};

/// A function of floats of one type, which gives one of that type or Bool. The first instructions
/// are its parameters, in order; each other instruction counts for the result.
struct MathProgram {
  std::vector<MathInstruction> instructions;
  uint16_t result = 0;

  /// Whose number is the place of an operand.
  MathType typeOf(uint16_t value) const { return instructions[value].type; }
};

/// The program of a function on float32 or float64; floats of 16 bits go through float32. Every
/// function of floats has one, but for Select and Reinterpret, which are moves; those that are an
/// instruction have programs of that one. Null for functions of whole numbers and for other types.
/// Lives as long as the process.
///
/// Errors are below two units in the last place over the whole range; tests/unit has a closer limit
/// for each function. NaN, infinities and zeros are those of the function's meaning.
const MathProgram* mathProgram(runtime::ScalarFunction function, runtime::DType dtype);

} // namespace codegen
