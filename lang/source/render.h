// Diagnostics as text for people and as JSON for tools.
//
// The excerpt shows every line that a place begins or ends on, `^` under the finding and `-` under
// its labels. A text may be anything, also one line of a hundred megabytes: of a long line only the
// part around the places is shown, and nothing goes out that could move a terminal's cursor.
#pragma once

#include "lang/source/diagnostic.h"

namespace lang {

/// How findings are laid out.
struct RenderOptions {
  /// Colours by ANSI escapes.
  bool colour = false;
  /// The most columns of a source line that are shown.
  uint32_t columns = 120;
  /// Of what is said without a place in a file, which has its own.
  Notation notation = Notation::Relay;
};

/// What is laid out: a diagnostic, or something else that has a place, such as a fault at run time.
struct Finding {
  Severity severity = Severity::Error;
  /// The code in brackets, or empty.
  std::string_view code = {};
  Words text = {};
  SourceRange range = {};
  std::vector<Label> labels = {};
  std::vector<Words> notes = {};
  std::vector<Suggestion> suggestions = {};
  ShapeTable shapes = {};
};

/// A finding as text: heading, place, excerpt, shapes, notes and help. It ends in a line break.
std::string renderFinding(const Finding& finding, const SourceMap& sources,
                          const RenderOptions& options = {});

/// A diagnostic as text.
std::string renderDiagnostic(const Diagnostic& diagnostic, const SourceMap& sources,
                             const RenderOptions& options = {});

/// All diagnostics as text in their order, an empty line between them, and behind them a last line
/// such as `2 errors, 1 warning in model.rly`. Empty when there are none.
std::string renderDiagnostics(const Diagnostics& diagnostics, const SourceMap& sources,
                              std::string_view fileName, const RenderOptions& options = {});

/// A diagnostic as a JSON object with `code`, `severity`, `message`, `file`, `line`, `column`,
/// `endLine` and `endColumn`; lines and columns count from 1, columns are bytes. One without a
/// place is at the start of `fileName`. `shapes`, `labels` (each with `message` and its place),
/// `notes` and `suggestions` (each with `message` and `edits`, which have a place and the new
/// `text`) are there when it has some.
std::string diagnosticJson(const Diagnostic& diagnostic, const SourceMap& sources,
                           std::string_view fileName);

} // namespace lang
