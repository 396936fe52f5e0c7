// Where elements lie in memory, as forms: row-major places.
#pragma once

#include "lower/loops/nest.h"
#include "lower/sizes/slope.h"

#include <span>

namespace strips {

using loops::Form;
using loops::Name;
using loops::Nest;

/// The row-major place of an element. Places of a tensor cancel where it has another shape.
Form flatPlace(sizes::Table& table, std::span<const Form> extents, std::span<const Form> position);
/// How many elements there are from one place along a dimension to the next.
Form strideOfDimension(sizes::Table& table, std::span<const Form> extents, size_t dimension);

/// The row-major place that a load reads, made of its dimensions that are forms.
Form flatPlace(Nest& nest, const loops::Operation& load);
Form flatPlace(Nest& nest, const loops::Store& store);

} // namespace strips
