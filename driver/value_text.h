// Results for reading. Whatever its size, a value is shown in bounded text and time.
#pragma once

#include "lang/typing.h"
#include "runtime/value.h"

#include <string>

namespace driver {

/// A value of a checked module as text without a line break at its end:
/// `[1, 2] : Tensor[(2), int32]`, `(1, true)`, `Cons(1, Cons(2, Nil))`, `<fn (int32) -> int32>`,
/// `ref(..)`.
std::string valueText(const runtime::Value& value, lang::TypeContext& types,
                      const lang::Typing& typing);

} // namespace driver
