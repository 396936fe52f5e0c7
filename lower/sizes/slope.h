// How forms grow with a name.
#pragma once

#include "lower/sizes/form.h"

namespace sizes {

/// What a form grows by when a name grows by one, whatever it is: 3 and n for `3*i + n*i` and `i`.
/// Nothing where that is no form without the name, as with quotients.
std::optional<Form> slopeOf(Table& table, Form form, Name name);

} // namespace sizes
