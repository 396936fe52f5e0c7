// What a data type holds: the fields of its constructors with its arguments put in.
#pragma once

#include "lang/ir/expr.h"

namespace lang {

/// The types of the fields of a constructor in a type with these arguments.
std::vector<const Type*> fieldTypes(TypeContext& types, const Constructor& constructor,
                                    const Type& data);

/// Whether a data type has one constructor, so that its values are tuples with names.
bool isRecord(const Type& type);

/// The types of the fields of a tuple or a record.
std::vector<const Type*> fieldTypes(TypeContext& types, const Type& tupleOrRecord);

/// The type with other types in place of its variables, and other sizes.
const Type* rebuilt(TypeContext& types, const Type* type,
                    const std::function<const Type*(const Type*)>& ofVariable,
                    const std::function<const Dim*(const Dim*)>& ofDim);

} // namespace lang
