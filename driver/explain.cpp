// `baton explain`: what a message means, from the pages of docs/messages. A page is Markdown in a
// small form (`# code`, a line that sums it up, paragraphs, `## ` headings, fenced blocks), which
// tests/tools/messages_test.py checks; its plain form is the page itself.
#include "driver/commands.h"
#include "driver/message_pages.h"
#include "driver/session/fault_text.h"
#include "lang/source/diagnostic.h"
#include "lang/source/edit_distance.h"
#include "runtime/formats/quote.h"

#include <algorithm>
#include <fmt/format.h>

namespace driver {

namespace {

std::string_view pageOf(std::string_view code) {
  for (const MessagePage& page : messagePages())
    if (page.file.starts_with(code) && page.file.substr(code.size()) == ".md")
      return page.text;
  return {};
}

/// Takes the first line off a text.
std::string_view takeLine(std::string_view& text) {
  size_t length = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return line;
}

/// The line under the title.
std::string_view summaryOf(std::string_view page) {
  takeLine(page);
  takeLine(page);
  return takeLine(page);
}

/// A page for a terminal: headings in bold, code indented in place of the fences.
std::string styled(std::string_view page) {
  std::string text;
  bool isCode = false;
  while (!page.empty()) {
    std::string_view line = takeLine(page);
    size_t hashes = std::min(line.find_first_not_of('#'), line.size());
    if (line.starts_with("```"))
      isCode = !isCode;
    else if (isCode)
      text += line.empty() ? "\n" : fmt::format("    {}\n", line);
    else if (hashes > 0 && line.substr(hashes).starts_with(' '))
      text += fmt::format("\x1b[1m{}\x1b[0m\n", line.substr(hashes + 1));
    else
      text += fmt::format("{}\n", line);
  }
  return text;
}

/// The codes of one severity.
std::vector<std::string_view> codesOf(lang::Severity severity) {
  std::vector<std::string_view> codes;
  for (const lang::MessageRow& row : lang::messageRows())
    if (row.severity == severity)
      codes.push_back(row.code);
  if (severity == lang::Severity::Error)
    codes.push_back(runTimeCode);
  std::ranges::sort(codes);
  return codes;
}

/// All codes of one severity, each with the line that sums it up.
std::string listOf(lang::Severity severity, std::string_view heading, bool isBold) {
  size_t width = 0;
  const std::vector<std::string_view> codes = codesOf(severity);
  for (std::string_view code : codes)
    width = std::max(width, code.size());
  std::string text =
      isBold ? fmt::format("\x1b[1m{}\x1b[0m\n", heading) : fmt::format("{}\n", heading);
  for (std::string_view code : codes)
    text += fmt::format("  {:<{}}  {}\n", code, width, summaryOf(pageOf(code)));
  return text;
}

} // namespace

Answer explain(const ExplainOptions& options, const Look& look) {
  Answer answer;
  if (options.code.empty()) {
    answer.output =
        listOf(lang::Severity::Error, "Errors", look.bold) + '\n' +
        listOf(lang::Severity::Warning, "Warnings, each turned off by --allow CODE", look.bold);
    return answer;
  }
  std::vector<std::string_view> codes = codesOf(lang::Severity::Error);
  std::ranges::copy(codesOf(lang::Severity::Warning), std::back_inserter(codes));
  if (std::ranges::find(codes, options.code) == codes.end()) {
    auto near = lang::similarNames(options.code, codes);
    answer.fail(ExitCode::World,
                fmt::format("there is no message {}; {}", formats::backquoted(options.code),
                            near.empty() ? "`baton explain` lists all"
                                         : fmt::format("did you mean `{}`?", near[0])));
    return answer;
  }
  std::string_view page = pageOf(options.code);
  answer.output = look.bold ? styled(page) : std::string(page);
  return answer;
}

} // namespace driver
