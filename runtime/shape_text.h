// How messages show shapes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace runtime {

/// `(2, 3)`
std::string shapeText(std::span<const int64_t> shape);

} // namespace runtime
