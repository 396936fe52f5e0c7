// Where the tests find what they read. The paths are compiled into one file only, so that objects
// of all others are the same in every checkout.
#pragma once

#include <filesystem>

namespace tests {

/// The root of this repository.
std::filesystem::path sourceFolder();

/// The corpus of Relay programs, which may not be there; see tests/CMakeLists.txt.
std::filesystem::path corpusFolder();

/// The compiler that compiled these tests; it takes C too.
std::filesystem::path compiler();

} // namespace tests
