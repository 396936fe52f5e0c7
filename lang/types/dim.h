// Dimensions of tensor types: numbers, `?`, and polynomials over named dimensions.
//
// Dimensions are interned by TypeContext (type.h) in a normal form, so equality is pointer equality
// and two forms that differ are different for some sizes. Quotients are the exception: `n / 2 * 2`
// is `n` for even n only, so comparisons with quotients may stay open (matchDims in
// lang/op/relation.h). `4i64` and `4` are one size; in how many bits extents count is a matter of
// their type (`Type::isWide`).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lang {

struct TypeParameter;

/// `Constant` is a number, `Any` is `?`, `Symbol` a name, `Unknown` a variable of the solver.
/// `Product` is a product of powers of these and of quotients, `Quotient` the floor of a form
/// divided by a positive number, and `Linear` a sum of coefficients times all those, plus a number.
enum class DimKind : uint8_t { Constant, Any, Symbol, Unknown, Product, Quotient, Linear };

struct Dim;

/// What a form may have: summands, and factors of one summand. Longer ones are `?`.
inline constexpr size_t mostDimTerms = 256, mostDimFactors = 64;

/// Linear: a summand. Product: a factor and its exponent. Quotient: the dividend and the divisor.
struct DimTerm {
  const Dim* variable;
  int64_t coefficient;
  friend bool operator==(const DimTerm&, const DimTerm&) = default;
};

/// One dimension. Make them with TypeContext only.
struct Dim {
  DimKind kind;
  /// The value of a constant, the constant part of a linear form, the number of an unknown.
  int64_t value = 0;
  std::string_view name = {};
  /// In the order of `serial`.
  std::span<const DimTerm> terms = {};
  /// For a symbol from metadata: what identifies it there, else null.
  const void* origin = nullptr;
  /// For a symbol that is a declared dimension parameter: that parameter, else null.
  const TypeParameter* parameter = nullptr;

  // Set by interning, for what is anywhere inside.
  /// Counts dimensions in the order in which they were made.
  uint32_t serial = 0;
  uint8_t depth = 1;
  /// How many parts the form has, written out: a part that occurs twice counts twice.
  uint32_t size = 1;
  bool hasSymbol = false;
  bool hasUnknown = false;
  bool hasQuotient = false;
  /// A symbol from metadata, which Relay lets stand for anything.
  bool hasForeign = false;

  bool isConstant() const { return kind == DimKind::Constant; }
  bool isAny() const { return kind == DimKind::Any; }
  bool isConstant(int64_t number) const { return isConstant() && value == number; }
  /// True of what stands for one number wherever it stands in a definition. `?` may be another one
  /// each time, and so may what Relay lets stand for anything.
  bool isOneSize() const { return !isAny() && !hasUnknown && !hasForeign; }
  /// True for names that the text gives, which are quantified by their definition.
  bool isNamed() const { return kind == DimKind::Symbol && !origin && !parameter; }
};

/// The least number that the form can be when every size is at least 0; nothing when there is none.
/// `?` and unknowns are sizes like others.
bool isAtLeast(const Dim* dim, int64_t least);

} // namespace lang
