// A session: the texts, types and trees that the programs of one run share.
//
// A Program points into its session, which must outlive it.
#pragma once

#include "driver/session/imported_files.h"
#include "driver/session/input.h"
#include "driver/session/written.h"
#include "lang/ir/module.h"
#include "lang/ir/typing.h"
#include "lang/op/declared.h"
#include "lang/source/diagnostic.h"
#include "parser/surface/surface.h"
#include "transform/passes.h"

#include <memory>

namespace driver {

/// How far a text is taken. What types must complete is checked in any case. Guessed: as far as
/// Checked whatever is wrong, with holes in place of what could not be understood.
enum class Stage { Resolved, Checked, Guessed };

/// Whether suggestions are those that help (suggestions.h), or all that came to mind.
enum class Suggestions { ThatHelp, AsFound };

/// One text and what was made of it.
struct Program {
  const lang::SourceFile* source = nullptr;
  /// Null when the text could not be given a meaning; of a program with errors, some types are
  /// missing.
  std::unique_ptr<lang::Module> module = nullptr;
  /// Knows nothing before the stage Checked.
  lang::Typing typing = {};
  /// Where definitions stand that were open; the module has their instances.
  std::vector<lang::SourceRange> open = {};
  /// What the text says; null when nothing could be read.
  const parser::surface::File* tree = nullptr;
  /// The texts that it imports.
  parser::Imports imports = {};
  /// In the order of the text.
  lang::Diagnostics diagnostics = {};
  /// What the text says, once derivatives are written out.
  Written written = {};
  /// What Guessed found behind errors: holes that stand for them, and other mistakes.
  lang::Diagnostics consequences = {};

  bool isGood() const { return module && !diagnostics.hasErrors(); }
  /// Relay's where there is no text.
  lang::Notation notation() const { return tree ? tree->notation : lang::Notation::Relay; }
  /// Whether it is written in Baton's notation.
  bool isBare() const { return notation() == lang::Notation::Baton; }
};

/// Who is told what each pass makes of a program.
struct PassWatcher {
  transform::PassWatch after = {};
  /// The same for what passes make on their way.
  transform::PassWatch within = {};
  /// Whether passes must ensure the properties that they promise.
  bool verify = false;
  /// Passes that are left out.
  std::vector<std::string> skipped = {};
};

class Session {
public:
  explicit Session(const lang::OperatorTable& operators,
                   Suggestions suggestions = Suggestions::ThatHelp)
      : operators_(operators), suggestions_(suggestions) {}

  /// Reads a program. The error says why it could not be had; mistakes in the text are diagnostics
  /// of the program.
  runtime::Result<Program> load(Input input, Stage stage = Stage::Checked);
  /// The same for a text in memory.
  runtime::Result<Program> loadText(std::string name, std::string text,
                                    Stage stage = Stage::Checked);

  /// Adds a text that places may be in, or null when there is no room for it.
  const lang::SourceFile* addText(std::string name, std::string text) {
    return sources_.add(std::move(name), std::move(text));
  }

  /// Makes the tests of programs that are loaded from here on functions of their modules.
  void includeTests() { withTests_ = true; }

  /// Keeps silent about a warning in the programs that are loaded from here on.
  void silence(lang::Message warning) { silenced_.push_back(warning); }

  /// A sink that keeps silent about what the session does.
  lang::Diagnostics noFindings() const;

  /// Lets somebody watch all passes from here on.
  void watchPasses(PassWatcher watcher) { passWatcher_ = std::move(watcher); }
  const PassWatcher& passWatcher() const { return passWatcher_; }

  const lang::SourceMap& sources() const { return sources_; }
  /// What ships with Baton in the language itself; empty before the first program.
  std::span<const parser::surface::File* const> preludeTrees() const { return prelude_; }
  const lang::OperatorTable& operators() const { return operators_; }
  lang::TypeContext& types() { return types_; }

private:
  std::span<const parser::surface::File* const> prelude();
  void read(Program& program, Stage stage);

  const lang::OperatorTable& operators_;
  Suggestions suggestions_;
  bool withTests_ = false;
  lang::SourceMap sources_;
  lang::TypeContext types_;
  runtime::Arena trees_;
  std::vector<const parser::surface::File*> prelude_;
  ImportedFiles imported_{sources_, trees_};
  std::vector<lang::Message> silenced_;
  PassWatcher passWatcher_;
};

} // namespace driver
