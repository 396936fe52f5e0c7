// Names as the command line gives many at once.
#pragma once

#include <string_view>

namespace driver {

/// Whether a pattern, in which `*` stands for any characters, is a name.
bool isNamedBy(std::string_view pattern, std::string_view name);

} // namespace driver
