// Damage to executables and to texts of them.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace fuzz {

/// A file cut short, or with bytes changed and, mostly, the checksum made right again.
std::vector<std::byte> damaged(const std::vector<std::byte>& whole, std::mt19937& random);

/// A text with pieces of a line or a word changed.
std::string damagedText(const std::string& whole, std::mt19937& random);

} // namespace fuzz
