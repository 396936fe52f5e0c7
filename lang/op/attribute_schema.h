// What a schema row accepts, and the form in which it stores it. The reader and the builder of core
// IR both ask here, so that a call that was made by a pass carries what a call that was read does.
#pragma once

#include "lang/op/attributes.h"

namespace lang {

/// True when `None` is a value of the attribute.
bool isNullable(const AttributeRow& row);

/// True when the value is one of the attribute's: of its kind, or `None` where that is a value.
bool fitsSchema(const AttributeRow& row, const AttributeValue& value);

/// The value in the form that the row stores: integers become numbers, truth values, or lists of
/// equal integers.
AttributeValue storedAttribute(Arena& arena, const AttributeRow& row, const AttributeValue& value);

/// A copy of a value whose texts and lists lie in `arena`; expressions and objects of metadata
/// stay those of `value`.
AttributeValue copyAttribute(Arena& arena, const AttributeValue& value);

} // namespace lang
