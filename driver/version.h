// The version that `baton --version` and fault reports name.
#pragma once

namespace driver {

inline constexpr const char* version = "0.1.0";

} // namespace driver
