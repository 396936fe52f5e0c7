// Element types by their short names, as Baton's notation writes them: `f32`, `i64`, `u8`, `bf16`.
#pragma once

#include "runtime/dtype.h"

#include <optional>
#include <string>
#include <string_view>

namespace runtime {

/// The type of a short name; nothing for any other text.
std::optional<DType> parseShortDType(std::string_view name);

/// A type by its short name, or by its name where it has no other.
std::string shortDTypeName(DType dtype);

} // namespace runtime
