// Two texts beside each other, line by line.
#pragma once

#include <string>
#include <string_view>

namespace driver {

/// The lines in which two texts differ, those of the first one behind `-`, of the second one behind
/// `+`, and lines right beside them behind a space.
std::string lineDifference(std::string_view before, std::string_view after);

} // namespace driver
