// Functions of ours and of the C library that compiled code may call.
#pragma once

#include <string_view>

namespace codegen {

/// Its address, or null.
void* helperNamed(std::string_view name);

} // namespace codegen
