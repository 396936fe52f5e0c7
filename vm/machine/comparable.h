// What checks look at, taken out of objects, and the sizes that they find, as objects.
#pragma once

#include "vm/machine/program.h"

namespace vm {

/// As much of the value of a slot as is compared with a type; what is of no such form is a value
/// without parts.
runtime::Value comparable(const Program& program, const checks::Declared& type, Rep rep, Slot slot);

/// Known sizes as a tensor of three numbers each.
runtime::Value sizesValue(const checks::KnownSizes& sizes);
/// Those in an object, if it is such a tensor.
std::optional<checks::KnownSizes> sizesIn(const Object& object);

} // namespace vm
