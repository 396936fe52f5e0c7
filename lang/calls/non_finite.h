// Where the first number that is none arises: for `--trap-nan` and for the debugger.
#pragma once

#include "runtime/fault.h"
#include "runtime/value.h"

#include <optional>
#include <span>
#include <string>

namespace lang {

/// The first element of the tensors of a value that is NaN or infinite, as "NaN at (0, 1)"; nothing
/// where all are finite, and where the value is made of other things than tensors.
std::optional<std::string> firstNonFinite(const runtime::Value& value);

/// What is wrong where an operator gives numbers that are none, and was not given any.
std::optional<runtime::Fault> nonFiniteFault(std::string_view op,
                                             std::span<const runtime::Value> operands,
                                             const runtime::Value& result);

} // namespace lang
