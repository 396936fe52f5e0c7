// Results for reading. Whatever its size, a value is shown in bounded text and time.
#pragma once

#include "lang/ir/typing.h"
#include "runtime/value.h"

#include <string>

namespace driver {

/// How values are shown.
struct ValueStyle {
  /// In Baton's notation.
  bool isBare = false;
  /// No element of a tensor or a list is left out.
  bool isFull = false;
};

/// A value of a checked module as text without a line break at its end:
/// `[1, 2] /* ty=Tensor[(2), int32] */`, `(1f, True)`, `Cons(1, Cons(2, Nil))`, `ref(1)`; in
/// Baton's notation `[1, 2]`, `(1.0, true)`, `list(1, 2)`, `Point(x = 1.0)`. It reads back as the
/// same value, unless it is abbreviated or holds a function, which is shown as
/// `<fn (int32) -> int32>`.
std::string valueText(const runtime::Value& value, lang::TypeContext& types,
                      const lang::Typing& typing, ValueStyle style = {});

/// The same on one line in very few characters, for lists of many values: tensors are shown by
/// their types, `Tensor[(2, 3), float32]`, those of rank 0 by their values.
std::string briefValueText(const runtime::Value& value, lang::TypeContext& types,
                           const lang::Typing& typing, ValueStyle style = {});

/// The same, and of a tensor some elements as well, or all where they are few.
std::string shortValueText(const runtime::Value& value, lang::TypeContext& types,
                           const lang::Typing& typing, ValueStyle style = {});

} // namespace driver
