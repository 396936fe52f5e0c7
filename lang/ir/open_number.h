// What the value of an open number is in an element type.
#pragma once

#include "lang/ir/expr.h"

namespace lang {

/// An element of an open number: an int64, or a float64.
struct OpenElement {
  OpenNumber kind;
  uint64_t bits;

  double real() const;
  std::string text() const;
};

/// The bits of an element in an element type, rounded once; nothing where the type does not reach
/// so far. Reals are asked for floats only, and nothing for truth values.
std::optional<uint64_t> bitsIn(const OpenElement& element, runtime::DType dtype);

/// What an open constant is in an element type; nothing where that does not reach so far.
std::optional<runtime::Tensor> tensorIn(const Constant& constant, runtime::DType dtype);

} // namespace lang
