// Files of many small programs for tests, `tests/FOLDER/*.rly`.
//
// A line that begins with a mark chosen by the test, such as `// case: `, begins a case, and the
// rest of the line is its title. Comment lines right below it are notes, and what follows up to the
// next mark is its text. What stands before the first mark tells about the file.
#pragma once

#include "tests/unit/places.h"

#include <algorithm>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tests {

struct Case {
  std::string title;
  /// The comment lines right below the mark, without their `// `.
  std::vector<std::string> notes;
  std::string text;
};

struct CaseFile {
  std::string name;
  std::vector<Case> cases;
};

/// Adds one line of a file to its last case.
inline void addLine(Case& item, const std::string& line) {
  if (item.text.empty() && line.starts_with("// "))
    item.notes.push_back(line.substr(3));
  else
    item.text += line + "\n";
}

/// All files of a folder of tests/, in the order of their names; there is one at least.
inline std::vector<CaseFile> caseFiles(const std::string& folder, const std::string& mark) {
  std::vector<CaseFile> result;
  for (const auto& entry : std::filesystem::directory_iterator(sourceFolder() / "tests" / folder)) {
    if (entry.path().extension() != ".rly")
      continue;
    std::ifstream file(entry.path());
    REQUIRE(file);
    std::vector<Case> cases;
    for (std::string line; std::getline(file, line);)
      if (line.starts_with(mark))
        cases.push_back({line.substr(mark.size()), {}, {}});
      else if (!cases.empty())
        addLine(cases.back(), line);
    result.push_back({entry.path().filename(), std::move(cases)});
  }
  std::sort(result.begin(), result.end(),
            [](const CaseFile& left, const CaseFile& right) { return left.name < right.name; });
  REQUIRE_FALSE(result.empty());
  return result;
}

} // namespace tests
