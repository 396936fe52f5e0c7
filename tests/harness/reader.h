// Texts in memory to checked modules, without the command line.
//
// A Reader owns the texts and trees of everything that it has read, so a long run makes a new one
// now and then.
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"
#include "lang/op/op.h"
#include "lang/source/diagnostic.h"
#include "parser/resolve/imports.h"
#include "parser/surface/surface.h"

#include <memory>

namespace harness {

/// One text and what was made of it. The module is null when the text could not be resolved.
struct ReadText {
  std::unique_ptr<lang::Module> module = nullptr;
  lang::Typing typing = {};
  lang::Diagnostics diagnostics = {};

  bool isGood() const { return module && !diagnostics.hasErrors(); }
};

/// Reads programs against the standard operator table and prelude.
class Reader {
public:
  /// Types are made in `types`, which must outlive the modules.
  explicit Reader(lang::TypeContext& types);

  ReadText read(std::string text, bool check = true,
                parser::surface::Notation notation = parser::surface::Notation::Relay);
  /// Reads a text of Baton's notation that imports another one as `parts`.
  ReadText readImporting(std::string text, std::string imported);
  /// The errors of a text for people.
  std::string errorText(const ReadText& text) const;
  /// The names of the functions that the prelude defines.
  std::vector<std::string> preludeFunctions() const;
  lang::TypeContext& types() { return types_; }

private:
  const lang::SourceFile& source(std::string text);
  void resolveText(ReadText& result, const parser::surface::File& file,
                   const lang::SourceFile& source, const parser::Imports* imports, bool check);

  lang::TypeContext& types_;
  lang::SourceMap sources_;
  runtime::Arena trees_;
  std::vector<const parser::surface::File*> prelude_;
};

} // namespace harness
