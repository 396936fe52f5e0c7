// What values must be, as data: extents and types as a program declares them.
//
// runtime/checks/ compares values with what a program says of them, in every engine, and has the
// words for what does not fit. It ships with compiled programs and knows nothing of the language;
// lang/ lang/calls/run_checks.h makes its tables. Start here, then sizes.h and shapes.h, then
// boundary.h.
//
// Extents stand in one table and are meant by their place in it; a name is an entry of its own, and
// the same entry wherever it is used.
#pragma once

#include "runtime/dtype.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace checks {

/// Open: any size will do. Sum: a number plus terms. Product: terms with exponents. Quotient: one
/// term, the dividend and the divisor, rounded down. Broadcast, Least and Greatest have two: the
/// other one of two of which one is 1, or what both are, while of others there is none; the lesser
/// one; the greater one. Scaled has two as well: the first one times the float32 that the second
/// one is the bits of.
enum class SizeKind : uint8_t {
  Number,
  Open,
  Name,
  Sum,
  Product,
  Quotient,
  Broadcast,
  Least,
  Greatest,
  Scaled
};

/// A summand, a factor with its exponent, or a dividend with the divisor.
struct SizeTerm {
  /// An entry before the one that this is of.
  uint32_t size = 0;
  int64_t coefficient = 1;
};

struct Size {
  SizeKind kind = SizeKind::Open;
  /// Of a Number the number, of a Sum its constant part.
  int64_t number = 0;
  std::vector<SizeTerm> terms = {};
  /// As people write it; empty where nobody reads it.
  std::string text = {};
};

using SizeTable = std::vector<Size>;

/// What a value must be. Only tensors are compared, alone or in tuples; Other is anything.
struct Declared {
  enum class Kind : uint8_t { Other, Tensor, Tuple };

  Kind kind = Kind::Other;
  runtime::DType dtype = {};
  std::vector<uint32_t> shape = {};
  std::vector<Declared> parts = {};
  /// As people write it.
  std::string text = {};
};

/// Forms that are deeper or longer, written out, and types that are nested deeper, are refused, so
/// that recursion is bounded.
inline constexpr uint32_t mostSizeDepth = 256, mostSizeParts = 1 << 16, mostNesting = 1 << 10;

/// What is wrong with a table that somebody may have made up; null when nothing is.
const char* problemOf(const SizeTable& sizes);
const char* problemOf(const Declared& type, const SizeTable& sizes);

} // namespace checks
