// Values against types: the law that a program's value has the type that was inferred for it.
#pragma once

#include "lang/types/type.h"
#include "runtime/value.h"

#include <map>
#include <optional>
#include <string>

namespace harness {

/// Why a value has not the type, or an empty text when it has: element types, extents, tuples, data
/// types with their fields, contents of references. `?` and named dimensions allow every extent.
/// Functions are not looked into.
std::string typeProblem(lang::TypeContext& types, const runtime::Value& value,
                        const lang::Type* type);

/// A value of a tensor type or a tuple of such for an argument of a program; named dimensions and
/// `?` get what `sizes` says by their text, or 2. Nothing for other types and for large tensors.
std::optional<runtime::Value>
argumentValue(const lang::Type* type, const std::map<std::string, int64_t>& sizes, uint64_t seed);

} // namespace harness
