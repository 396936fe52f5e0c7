// Operands and results as rows of tensors: a tuple stands for its fields, in their order.
#pragma once

#include "lang/types/type.h"
#include "runtime/value.h"

#include <vector>

namespace lang {

/// The tensor types inside an operand or result type; false when a type of another kind is in it.
bool appendTensors(const Type* type, std::vector<const Type*>& tensors);

/// The tensors of a value; false when something else is in it. A value of a type parameter may be
/// nested without bound, so no tuples are looked into that are nested deeper than operands are.
bool appendTensors(const runtime::Value& value, std::vector<runtime::Value>& tensors);

/// How many tensors are in a type that is made of them.
size_t tensorCount(const Type* type);

/// The value of a type from its tensors.
runtime::Value assemble(const Type* type, std::vector<runtime::Value> tensors);

/// The extents of a tensor type; -1 for one that is no number.
runtime::Shape shapeOf(const Type* tensor);

} // namespace lang
