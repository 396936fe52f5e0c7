// Whether code is made small, as in the library for other programs: then there is one way for what
// has a faster one besides.
#pragma once

namespace lower {

#ifdef __OPTIMIZE_SIZE__
inline constexpr bool isMadeSmall = true;
#else
inline constexpr bool isMadeSmall = false;
#endif

} // namespace lower
