// Headings, notes, the summary line, and JSON; excerpts are in excerpt.cpp.
#include "lang/render.h"

#include "lang/excerpt.h"
#include "lang/render_shapes.h"
#include "lang/utf8.h"

namespace lang {

namespace {

std::string heading(const Finding& finding, const RenderOptions& options) {
  bool isError = finding.severity == Severity::Error;
  std::string kind = isError ? "error" : "warning";
  if (!finding.code.empty())
    kind += fmt::format("[{}]", finding.code);
  return painted(kind, isError ? Style::Error : Style::Warning, options) +
         painted(": " + finding.text, Style::Strong, options) + '\n';
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
                          const RenderOptions& options) {
  std::vector<Mark> marks{{finding.range, true}};
  for (const Label& label : finding.labels)
    marks.push_back({label.range, false, label.text});
  size_t gutter = gutterWidth(marks, sources);
  std::string text = heading(finding, options);
  text += renderExcerpt(marks, finding.severity, sources, gutter, options);
  text += renderShapes(finding, sources, gutter, options);
  for (const std::string& note : finding.notes)
    text += remark("note", note, gutter, options);
  if (!finding.help.empty())
    text += remark("help", finding.help, gutter, options);
  return text;
}

std::string renderDiagnostic(const Diagnostic& diagnostic, const SourceMap& sources,
                             const RenderOptions& options) {
  const MessageRow& row = messageRow(diagnostic.message);
  return renderFinding({row.severity, row.code, diagnostic.text, diagnostic.range,
                        diagnostic.labels, diagnostic.notes, diagnostic.help, diagnostic.shapes},
                       sources, options);
}

std::string renderDiagnostics(const Diagnostics& diagnostics, const SourceMap& sources,
                              std::string_view fileName, const RenderOptions& options) {
  if (diagnostics.all().empty())
    return "";
  std::string text;
  for (const Diagnostic& item : diagnostics.all())
    text += renderDiagnostic(item, sources, options) + '\n';
  return text + summary(diagnostics, fileName);
}

std::string diagnosticJson(const Diagnostic& diagnostic, const SourceMap& sources,
                           std::string_view fileName) {
  LineColumn begin, end;
  std::string_view name = fileName;
  if (const SourceFile* file = sources.find(diagnostic.range)) {
    name = file->name();
    begin = file->position(diagnostic.range.begin);
    end = file->position(std::max(diagnostic.range.begin, diagnostic.range.end));
  }
  std::string shapes;
  if (!diagnostic.shapes.rows.empty())
    shapes = R"(,"shapes":)" + shapesJson(diagnostic.shapes, sources);
  return fmt::format(R"({{"code":{},"severity":{},"message":{},"file":{},)"
                     R"("line":{},"column":{},"endLine":{},"endColumn":{}{}}})",
                     jsonQuoted(messageRow(diagnostic.message).code),
                     diagnostic.severity() == Severity::Error ? R"("error")" : R"("warning")",
                     jsonQuoted(diagnostic.text), jsonQuoted(name), begin.line, begin.column,
                     end.line, end.column, shapes);
}

} // namespace lang
