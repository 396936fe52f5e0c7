// Dimensions of tensor types: numbers, `?`, symbols, and linear forms over symbols.
//
// Dimensions are interned by TypeContext (type.h), so equality is pointer equality. A constant
// remembers whether the text wrote it with 64 bits (`4i64`), which shows only when it is printed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lang {

/// `Constant` is a number, `Any` is `?`, `Symbol` a named or metadata variable, `Unknown` a
/// variable of the solver, and `Linear` a sum of coefficients times the former two, plus a number.
enum class DimKind : uint8_t { Constant, Any, Symbol, Unknown, Linear };

struct Dim;

/// One summand of a linear form.
struct DimTerm {
  const Dim* variable;
  int64_t coefficient;
  friend bool operator==(const DimTerm&, const DimTerm&) = default;
};

/// One dimension. Make them with TypeContext only.
struct Dim {
  DimKind kind;
  bool is64 = false;
  /// The value of a constant, the constant part of a linear form, the number of an unknown.
  int64_t value = 0;
  std::string_view name = {};
  std::span<const DimTerm> terms = {};
  /// For a symbol from metadata: what identifies it there, else null.
  const void* origin = nullptr;

  bool isConstant() const { return kind == DimKind::Constant; }
  bool isAny() const { return kind == DimKind::Any; }
  bool isConstant(int64_t number) const { return isConstant() && value == number; }
};

} // namespace lang
