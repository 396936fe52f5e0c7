// The health of the operator table: no file outside stdlib/ knows an operator by name.
//
// The includes are checked by tests/tools/layers.py; this needs the names, so it asks the table.
#include "stdlib/ops.h"
#include "tests/unit/places.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

/// Forms, tensor functions and loop nests are texts with words of their own, such as `max` and
/// `split`, in rooms that see nothing of the language.
bool hasOwnWords(const std::filesystem::path& path) {
  const std::string text = path.generic_string();
  return text.find("/lower/loops/") != std::string::npos ||
         text.find("/lower/tensor/") != std::string::npos ||
         text.find("/lower/sizes/") != std::string::npos;
}

/// The sources of all folders but stdlib/ and those that are about operators as examples.
std::vector<std::filesystem::path> sourcesOutside() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"runtime", "lang", "parser", "typecheck", "interp", "vm/bytecode",
                             "transform", "lower", "driver"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(tests::sourceFolder() / folder))
      if (entry.is_regular_file() && !hasOwnWords(entry.path()))
        files.push_back(entry.path());
  return files;
}

} // namespace

TEST_CASE("operators are named in stdlib only", "[names]") {
  auto files = sourcesOutside();
  REQUIRE(files.size() > 100);
  const auto& rows = stdlib::operatorTable().all();
  REQUIRE(rows.size() > 90);
  for (const auto& path : files) {
    std::ifstream stream(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    for (const lang::OperatorRow* row : rows) {
      INFO(path.string() << " names `" << row->name << "`");
      CHECK(text.find('"' + std::string(row->name) + '"') == std::string::npos);
    }
  }
}
