// The functions of fmt that libraries here call, for an archive that is to need no other: made of
// its headers, in one place.
#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/format.h>

namespace rt {

/// Makes the compiler write the function down.
extern std::string (*const formatting)(fmt::string_view, fmt::format_args);
std::string (*const formatting)(fmt::string_view, fmt::format_args) = &fmt::vformat;

} // namespace rt
