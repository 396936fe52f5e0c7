// Which nodes of a graph lead to each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lang {

/// The strongly connected components of a graph whose node `i` has edges to `successors[i]`, those
/// that others lead to before them.
std::vector<std::vector<uint32_t>> componentsOf(std::span<const std::vector<uint32_t>> successors);

} // namespace lang
