// Where elements lie in memory, as forms: row-major places and how they go on with a variable.
#pragma once

#include "lower/loops/nest.h"

#include <span>

namespace strips {

using loops::Form;
using loops::Name;
using loops::Nest;

/// The row-major place of an element. Places of a tensor cancel where it has another shape.
Form flatPlace(sizes::Table& table, std::span<const Form> extents, std::span<const Form> position);
/// How many elements there are from one place along a dimension to the next.
Form strideOfDimension(sizes::Table& table, std::span<const Form> extents, size_t dimension);

/// How far a form goes when a variable grows by 1, if that is the same everywhere.
std::optional<Form> strideAlong(sizes::Table& table, Form form, Name variable);

/// The row-major place that a load reads, made of its dimensions that are forms.
Form flatPlace(Nest& nest, const loops::Operation& load);
Form flatPlace(Nest& nest, const loops::Store& store);

} // namespace strips
