// What editors show where the mouse is: the innermost expression or name, its type, and its
// documentation.
//
// A program with errors is as good as any other, as far as its text can be understood (Stage).
#pragma once

#include "driver/session/session.h"

#include <optional>

namespace driver {

/// What stands at a place of a program.
struct Hover {
  lang::SourceRange range;
  /// Such as `parameter`, `let`, `operator`, `attribute`, `size` or `call`.
  std::string_view kind;
  /// With its sigil; empty for an expression that is no name.
  std::string name = {};
  /// Empty when it is not known.
  std::string type = {};
  /// Lines of text, or empty.
  std::string doc = {};
};

/// Reads `LINE:COL`, both from 1; nothing when the text is none.
std::optional<lang::LineColumn> readPlace(std::string_view text);

/// What stands at a byte of a program that has a module.
std::optional<Hover> hoverAt(Session& session, const Program& program, uint32_t offset);

/// For people, in a few lines.
std::string hoverText(const Hover& hover);

/// One object with `range`, `kind`, `name`, `type` (null when it is not known) and `doc`.
std::string hoverJson(const Hover& hover, const lang::SourceMap& sources);

} // namespace driver
