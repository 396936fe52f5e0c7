// Types as patterns: matching a signature against a type that is wanted, and putting types and
// dimensions in place of its parameters.
#pragma once

#include "lang/ir/expr.h"
#include "lang/types/type.h"

#include <functional>
#include <map>

namespace harness {

/// What the parameters of a signature stand for.
struct Bindings {
  std::map<const lang::TypeParameter*, const lang::Type*> types = {};
  std::map<const lang::Dim*, const lang::Dim*> dims = {};
};

/// Extends `bindings` so that `pattern` becomes `type`; false when that cannot be. Parameters of
/// `generics` and named dimensions of the pattern may be bound, everything else stands for itself.
bool matchType(const lang::Type* pattern, const lang::Type* type,
               std::span<const lang::TypeParameter* const> generics, Bindings& bindings);

/// The type with everything that is bound put in.
const lang::Type* substitute(lang::TypeContext& types, const lang::Type* type,
                             const Bindings& bindings);

/// The type with each dimension changed by `change`.
const lang::Type* changeDims(lang::TypeContext& types, const lang::Type* type,
                             const std::function<const lang::Dim*(const lang::Dim*)>& change);

/// The type of the field of a constructor in a data type.
const lang::Type* fieldType(lang::TypeContext& types, const lang::Constructor& constructor,
                            size_t field, const lang::Type* data);

/// Whether `found` holds of the type or of one anywhere inside it.
bool anyPart(const lang::Type* type, const std::function<bool(const lang::Type*)>& found);

/// Whether a parameter of a data type is a size.
bool isSize(const lang::TypeParameter* parameter);

/// Whether a type mentions one of the parameters, a size as an extent by itself.
bool mentions(const lang::Type* type, std::span<const lang::TypeParameter* const> generics);

/// Whether a dimension that is no number occurs.
bool hasOpenDims(const lang::Type* type);

} // namespace harness
