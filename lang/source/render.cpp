// Headings, notes, the summary line, and JSON; excerpts are in excerpt.cpp.
#include "lang/source/render.h"

#include "lang/source/edit.h"
#include "lang/source/excerpt.h"
#include "lang/source/render_shapes.h"
#include "lang/source/utf8.h"
#include "lang/source/way_back.h"

namespace lang {

namespace {

/// The notation of the file that something is said of.
Notation notationOf(SourceRange range, const SourceMap& sources, Notation otherwise) {
  const SourceFile* file = sources.find(range);
  return file ? file->notation() : otherwise;
}

std::string heading(const Finding& finding, const RenderOptions& options) {
  bool isError = finding.severity == Severity::Error;
  std::string kind = isError ? "error" : "warning";
  if (!finding.code.empty())
    kind += fmt::format("[{}]", finding.code);
  return painted(kind, isError ? Style::Error : Style::Warning, options) +
         painted(": " + finding.text.in(options.notation), Style::Strong, options) + '\n';
}

std::string remark(std::string_view kind, std::string_view text, size_t gutter,
                   const RenderOptions& options) {
  return fmt::format("{} {} {}: {}\n", std::string(gutter + 1, ' '),
                     painted("=", Style::Gutter, options), painted(kind, Style::Note, options),
                     printable(text));
}

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string summary(const Diagnostics& diagnostics, std::string_view fileName) {
  size_t errors = 0, warnings = 0;
  for (const Diagnostic& item : diagnostics.all())
    ++(item.severity() == Severity::Error ? errors : warnings);
  bool isFull = diagnostics.all().size() >= Diagnostics::maximumErrors;
  if (isFull)
    errors = std::max(errors, diagnostics.errorCount());
  std::string text;
  if (errors > 0)
    text = counted(errors, "error");
  if (warnings > 0)
    text += (text.empty() ? "" : ", ") + counted(warnings, "warning");
  text += " in " + printable(fileName);
  if (isFull)
    text += fmt::format(" (the first {} are shown)", diagnostics.all().size());
  return text + '\n';
}

} // namespace

std::string renderFinding(const Finding& finding, const SourceMap& sources,
                          const RenderOptions& given) {
  RenderOptions options = given;
  options.notation = notationOf(finding.range, sources, given.notation);
  std::vector<Mark> marks{{inText(finding.range), true}};
  for (const Label& label : finding.labels)
    marks.push_back({inText(label.range), false, label.text.in(options.notation)});
  size_t gutter = gutterWidth(marks, sources);
  std::string text = heading(finding, options);
  text += renderExcerpt(marks, finding.severity, sources, gutter, options);
  text += renderShapes(finding, sources, gutter, options);
  for (const Words& note : finding.notes)
    text += remark("note", note.in(options.notation), gutter, options);
  for (const std::string& help : helpLines(finding.suggestions, sources, options.notation))
    text += remark("help", help, gutter, options);
  return text;
}

std::string renderDiagnostic(const Diagnostic& diagnostic, const SourceMap& sources,
                             const RenderOptions& options) {
  const MessageRow& row = messageRow(diagnostic.message);
  return renderFinding({row.severity, row.code, diagnostic.text, diagnostic.range,
                        diagnostic.labels, diagnostic.notes, diagnostic.suggestions,
                        diagnostic.shapes},
                       sources, options);
}

std::string renderDiagnostics(const Diagnostics& diagnostics, const SourceMap& sources,
                              std::string_view fileName, const RenderOptions& given) {
  if (diagnostics.all().empty())
    return "";
  RenderOptions options = given;
  options.notation = runtime::notationOf(fileName, "");
  std::string text;
  for (const Diagnostic& item : diagnostics.all())
    text += renderDiagnostic(item, sources, options) + '\n';
  return text + summary(diagnostics, fileName);
}

namespace {

/// The members `line`, `column`, `endLine` and `endColumn`.
std::string placeJson(SourceRange range, const SourceMap& sources) {
  LineColumn begin, end;
  if (const SourceFile* file = sources.find(range)) {
    begin = file->position(range.begin);
    end = file->position(std::max(range.begin, range.end));
  }
  return fmt::format(R"("line":{},"column":{},"endLine":{},"endColumn":{})", begin.line,
                     begin.column, end.line, end.column);
}

std::string suggestionJson(const Suggestion& suggestion, const SourceMap& sources,
                           Notation notation) {
  std::string edits;
  for (const Edit& edit : suggestion.edits)
    edits += fmt::format(R"({}{{{},"text":{}}})", edits.empty() ? "" : ",",
                         placeJson(edit.range, sources), jsonQuoted(edit.text.in(notation)));
  return fmt::format(R"({{"message":{},"edits":[{}]}})",
                     jsonQuoted(helpLines(std::span(&suggestion, 1), sources, notation)[0]), edits);
}

/// The member `name`, a list; empty when the list is.
std::string listJson(std::string_view name, const std::vector<std::string>& items) {
  return items.empty() ? "" : fmt::format(R"(,"{}":[{}])", name, fmt::join(items, ","));
}

std::string remarksJson(const Diagnostic& diagnostic, const SourceMap& sources,
                        std::string_view fileName, Notation notation) {
  std::vector<std::string> labels, notes, suggestions;
  for (const Label& label : diagnostic.labels) {
    const SourceFile* file = sources.find(label.range);
    labels.push_back(fmt::format(R"({{"message":{},"file":{},{}}})",
                                 jsonQuoted(label.text.in(notation)),
                                 jsonQuoted(file ? std::string_view(file->name()) : fileName),
                                 placeJson(label.range, sources)));
  }
  for (const Words& note : diagnostic.notes)
    notes.push_back(jsonQuoted(note.in(notation)));
  for (const Suggestion& suggestion : diagnostic.suggestions)
    suggestions.push_back(suggestionJson(suggestion, sources, notation));
  return listJson("labels", labels) + listJson("notes", notes) +
         listJson("suggestions", suggestions);
}

} // namespace

std::string diagnosticJson(const Diagnostic& diagnostic, const SourceMap& sources,
                           std::string_view fileName) {
  const SourceFile* file = sources.find(diagnostic.range);
  const Notation notation =
      notationOf(diagnostic.range, sources, runtime::notationOf(fileName, ""));
  std::string_view name = file ? std::string_view(file->name()) : fileName;
  std::string shapes;
  if (!diagnostic.shapes.rows.empty())
    shapes = R"(,"shapes":)" + shapesJson(diagnostic.shapes, sources, notation);
  return fmt::format(R"({{"code":{},"severity":{},"message":{},"file":{},{}{}{}}})",
                     jsonQuoted(messageRow(diagnostic.message).code),
                     diagnostic.severity() == Severity::Error ? R"("error")" : R"("warning")",
                     jsonQuoted(diagnostic.text.in(notation)), jsonQuoted(name),
                     placeJson(diagnostic.range, sources), shapes,
                     remarksJson(diagnostic, sources, name, notation));
}

} // namespace lang
