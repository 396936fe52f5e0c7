// A page is plain enough to be read as it is.
#include "driver/doc_pages.h"

#include "lang/source/utf8.h"
#include "parser/baton/write.h"
#include "parser/format/format.h"
#include "parser/restore/restore.h"
#include "stdlib/operator_reference.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace driver {

namespace {

constexpr size_t lineWidth = 100;

std::string asCode(std::string_view text) {
  std::string code;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    code += line.empty() ? "\n" : fmt::format("    {}\n", line);
    begin = end + 1;
  }
  return code;
}

/// An expression of Relay's text in Baton's notation; as it is where that cannot be done.
std::string inBaton(Session& session, std::string_view code) {
  auto program = session.loadText("example", fmt::format("#[version = \"0.0.5\"]\n{}\n", code));
  if (!program || !program->isGood())
    return std::string(code);
  lang::Arena arena;
  parser::Restored restored =
      parser::restore(arena, *program->module, session.operators(), &program->typing);
  std::string text = parser::format::laidOut(parser::baton::write(*restored.file));
  constexpr std::string_view head = "def main() = ";
  return text.starts_with(head)
             ? text.substr(head.size(), text.find_last_not_of('\n') + 1 - head.size())
             : text;
}

std::string examplesOf(Session& session, const lang::OperatorRow& row) {
  std::string text;
  for (const lang::Example& example : row.examples)
    text += fmt::format("{}\n// => {}\n", inBaton(session, example.expr),
                        inBaton(session, example.value));
  return text;
}

std::string pageAt(std::string_view heading, Session& session, const Documented& entry) {
  std::string text = fmt::format("{} {}\n\n{}", heading, entry.name, asCode(entry.head));
  if (entry.row && entry.row->name != entry.name)
    text += fmt::format("\nIn Relay's text it is `{}`.\n", entry.row->name);
  if (entry.row)
    text += "\n" + stdlib::operatorBody(*entry.row, parser::surface::Notation::Baton);
  else if (!entry.doc.empty())
    text += fmt::format("\n{}\n", entry.doc);
  std::string example = entry.row ? examplesOf(session, *entry.row) : entry.example;
  return example.empty() ? text : text + "\nFor example:\n\n" + asCode(example);
}

/// A call with what must be given.
std::string briefCall(const Documented& entry) {
  std::string given;
  bool isMore = false;
  for (const lang::OperandRow& operand : entry.row->operands)
    given += fmt::format("{}{}", given.empty() ? "" : ", ", operand.name);
  for (const lang::AttributeRow& attribute : entry.row->attributes)
    if (attribute.defaultText.empty())
      given += fmt::format("{}{}", given.empty() ? "" : ", ", attribute.name);
    else
      isMore = true;
  return fmt::format("{}({}{})", entry.name, given, !isMore ? "" : given.empty() ? "..." : ", ...");
}

/// Names with commas between them, in lines.
std::string namesOf(const DocumentedModule& module) {
  std::string text, line;
  for (const Documented& entry : module.entries) {
    bool isLast = &entry == &module.entries.back();
    std::string word = entry.name + (isLast ? "" : ",");
    if (!line.empty() && line.size() + 1 + word.size() > lineWidth)
      text += std::exchange(line, "") + "\n";
    line += (line.empty() ? "" : " ") + word;
  }
  return text + line + "\n";
}

/// A text that is short enough for a page, as code under a line that says so.
std::string writtenAs(const Documented& entry) {
  constexpr ptrdiff_t mostLines = 40;
  bool isShown = !entry.text.empty() && std::ranges::count(entry.text, '\n') < mostLines;
  return isShown ? "\nWritten as:\n\n" + asCode(entry.text) : "";
}

bool isOfOperators(const DocumentedModule& module) {
  return !module.entries.empty() && module.entries[0].row;
}

std::string importOf(const DocumentedModule& module) {
  return module.isImported ? fmt::format("    import {}\n\n", module.name) : "";
}

} // namespace

std::string page(Session& session, const Documented& entry) {
  return pageAt("##", session, entry) + writtenAs(entry);
}

std::string headsOf(const DocumentedModule& module) {
  if (isOfOperators(module))
    return overview(module);
  std::string text = fmt::format("# {}\n\n{}{}\n", module.name, importOf(module), module.doc);
  for (const Documented& entry : module.entries)
    text += fmt::format("\n{}\n{}", entry.head, asCode(entry.summary()));
  return text;
}

std::string overview(const DocumentedModule& module) {
  std::string text = fmt::format("# {}\n\n{}{}\n\n", module.name, importOf(module), module.doc);
  if (isOfOperators(module))
    return text + namesOf(module);
  for (const Documented& entry : module.entries)
    text += fmt::format("{:<32} {}\n", entry.name, entry.summary());
  return text;
}

std::string libraryReference(Session& session) {
  std::string text =
      "# Library\n\n"
      "What programs in Baton's notation can name. This file is made by `baton doc --markdown` "
      "from the\ntexts in `stdlib/` and the table of operators; change it there.\n";
  for (const DocumentedModule& module : allDocumented(session.operators())) {
    text += fmt::format("\n## {}\n\n{}{}\n", module.name, importOf(module), module.doc);
    if (isOfOperators(module)) {
      text += "[operators.md](operators.md) tells more of them.\n\n";
      for (const Documented& entry : module.entries)
        text += fmt::format("* `{}`: {}\n", briefCall(entry), entry.doc);
      continue;
    }
    for (const Documented& entry : module.entries)
      text += "\n" + pageAt("###", session, entry);
  }
  return text;
}

std::string definitionsReference(Session& session, std::span<const Documented> entries) {
  std::string text;
  for (const Documented& entry : entries)
    text += (text.empty() ? "" : "\n") + pageAt("##", session, entry);
  return text;
}

std::string documentedJson(std::span<const DocumentedModule> modules) {
  std::string text;
  for (const DocumentedModule& module : modules)
    for (const Documented& entry : module.entries)
      text += fmt::format(
          R"({}{{"name":{},"kind":{},"module":{},"head":{},"doc":{},"example":{}}})",
          text.empty() ? "[" : ",\n", lang::jsonQuoted(entry.name), lang::jsonQuoted(entry.kind),
          lang::jsonQuoted(module.name), lang::jsonQuoted(entry.head), lang::jsonQuoted(entry.doc),
          lang::jsonQuoted(entry.example));
  return (text.empty() ? "[" : text) + "]\n";
}

} // namespace driver
