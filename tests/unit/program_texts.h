// All whole programs that tests can find: the examples, seeds and golden programs of this
// repository, and the corpus where it is.
#pragma once

#include "tests/unit/places.h"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace tests {

inline std::vector<std::filesystem::path> programFiles() {
  std::vector<std::filesystem::path> files;
  for (const auto& folder : {sourceFolder() / "examples", sourceFolder() / "tests" / "seeds",
                             sourceFolder() / "tests" / "golden", corpusFolder() / "relay-text"})
    if (std::filesystem::exists(folder))
      for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.path().extension() == ".rly")
          files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace tests
