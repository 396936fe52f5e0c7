// The graph lines of a text, `%1 = e`, which leave no names in the core IR.
#pragma once

#include "parser/surface/surface.h"

#include <map>

namespace driver {

/// The number of each line by where its value begins and ends.
std::map<std::pair<uint32_t, uint32_t>, uint32_t> graphLines(const parser::surface::File& file);

} // namespace driver
