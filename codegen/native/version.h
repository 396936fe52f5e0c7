// Which code this is that makes machine code.
#pragma once

#include <string_view>

namespace codegen {

/// A digest of all sources that what is compiled hangs on; the build makes it.
std::string_view sourceDigest();

} // namespace codegen
