// The paths come from tests/CMakeLists.txt.
#include "tests/unit/places.h"

namespace tests {

std::filesystem::path sourceFolder() {
  return BATON_SOURCE;
}

std::filesystem::path corpusFolder() {
  return BATON_CORPUS;
}

std::filesystem::path compiler() {
  return BATON_COMPILER;
}

} // namespace tests
