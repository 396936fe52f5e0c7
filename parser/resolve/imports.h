// The texts that a program imports, as name resolution is handed them: whoever has read them says
// what each import means.
#pragma once

#include "lang/source/source.h"
#include "parser/surface/surface.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace parser {

/// A text that a program imports.
struct ImportedText {
  const surface::File* file = nullptr;
  const lang::SourceFile* source = nullptr;
  /// What the names of its definitions begin with in the module, as `optim` in `optim/adam`. No two
  /// texts of a program have the same.
  std::string name;
  /// Of a library only those definitions are part of the program that it uses.
  bool isLibrary = false;
};

/// All that a program imports, and what is imported by that.
struct Imports {
  std::vector<ImportedText> texts;
  /// The text that an import means, by its place above. One that is missing was reported.
  std::unordered_map<const surface::ImportDefinition*, size_t> places;
  /// The text whose values every one of these and the program can name, by its place, or none.
  std::optional<size_t> common;
  /// The texts of the library, which any text could import.
  std::vector<std::string_view> available = {};
};

} // namespace parser
