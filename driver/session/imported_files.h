// What programs import: files beside them, and the library that ships with Baton.
#pragma once

#include "lang/source/diagnostic.h"
#include "parser/resolve/imports.h"
#include "runtime/arena.h"

#include <map>
#include <memory>

namespace driver {

/// Reads each text once for all programs of a session.
class ImportedFiles {
public:
  /// A text that was read, with the findings of its reader.
  struct Text {
    const lang::SourceFile* source = nullptr;
    /// Null when nothing could be read.
    const parser::surface::File* tree = nullptr;
    bool isLibrary = false;
    lang::Diagnostics findings = {};
  };

  ImportedFiles(lang::SourceMap& sources, runtime::Arena& trees)
      : sources_(sources), trees_(trees) {}

  /// All that a program imports, and what is imported by that. What cannot be had, and what is
  /// wrong with the texts, is reported.
  parser::Imports of(const parser::surface::File& tree, const lang::SourceFile& source,
                     lang::Diagnostics& diagnostics);

  /// The text that an import of `from` means, or why it cannot be had; suggestions of other names
  /// go to `near`.
  const Text* find(const Text& from, std::string_view path, std::string& reason,
                   std::vector<std::string>& near);

  /// The text of the library of that path, or null.
  const Text* library(std::string_view path);

private:
  const Text* file(const std::string& path, std::string& reason);
  const Text* read(const std::string& key, std::string name, std::string text, bool isLibrary);

  lang::SourceMap& sources_;
  runtime::Arena& trees_;
  /// By what tells that two paths are of one file.
  std::map<std::string, std::unique_ptr<Text>> texts_;
};

} // namespace driver
