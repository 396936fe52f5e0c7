// What programs can name and what is said of it, in Baton's notation: operators, the prelude, the
// library, and the definitions of any text.
#pragma once

#include "driver/lookup.h"
#include "lang/op/op.h"
#include "parser/surface/surface.h"

namespace driver {

struct Documented {
  /// As programs say it: `softmax`, `optim.adam`.
  std::string name;
  /// `function`, `type`, `constant` or `operator`.
  std::string_view kind;
  /// The head of a definition, or the call of an operator.
  std::string head;
  /// The comment above a definition; of an operator one sentence.
  std::string doc;
  /// A test that mentions it, as it is written.
  std::string example = {};
  /// Of a type its constructors.
  std::vector<std::string_view> otherNames = {};
  const lang::OperatorRow* row = nullptr;
  /// Of a function of the library all of its text.
  std::string_view text = {};

  /// The first line, without what it is called elsewhere.
  std::string_view summary() const {
    std::string_view line = std::string_view(doc).substr(0, doc.find('\n'));
    return line.substr(0, line.find(" Elsewhere it is called"));
  }
};

/// What is named together.
struct DocumentedModule {
  /// `operators`, `prelude`, or by which a text is imported.
  std::string name;
  std::string doc;
  /// By name, or in the order of a text.
  std::vector<Documented> entries;
  bool isImported = false;
};

/// What a comment says that other libraries call its definition, behind `Elsewhere it is called`.
std::vector<std::string_view> calledElsewhere(std::string_view doc);

/// What a text defines; names begin with `prefix`.
std::vector<Documented> definitionsOf(const parser::surface::File& tree,
                                      const lang::SourceFile& source, std::string_view prefix);

/// The library, then the prelude and the operators.
std::vector<DocumentedModule> allDocumented(const lang::OperatorTable& table);

} // namespace driver
