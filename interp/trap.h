// Where the first number that is none arises: for `--trap-nan`.
#pragma once

#include "runtime/value.h"

#include <optional>
#include <string>

namespace interp {

/// The first element of the tensors of a value that is NaN or infinite, as "NaN at (0, 1)"; nothing
/// where all are finite, and where the value is made of other things than tensors.
std::optional<std::string> firstNonFinite(const runtime::Value& value);

} // namespace interp
