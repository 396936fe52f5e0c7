// Words that stand together in a section share it.
#include "driver/doc_words.h"

#include <algorithm>
#include <fmt/format.h>

namespace driver {

namespace {

/// Words with blanks between them, and the section that tells of them.
struct Section {
  std::string_view words;
  std::string_view heading;
};

constexpr Section sections[] = {
    {"ops prelude // /* */ ///", "Names"},
    {"inf nan true false list bool f16 f32 f64 bf16 i8 i16 i32 i64 u8 u16 u32 u64", "Numbers"},
    {"type with struct class enum record List Ref", "Types"},
    {"init", "Values from a key"},
    {"def fn lambda function return ->", "Definitions"},
    {"|> _", "Calls"},
    {"+ - * / % ** @ ! && || == != < <= > >= and or not", "Operators"},
    {"let if else elif match case =>", "Blocks, branches, matches"},
    {"[] [ ] .. : ? slice index", "Brackets behind a value"},
    {"print fail assert_close raise assert", "Showing and failing"},
    {"import as from", "Files"},
    {"test", "Tests"},
    {"lazy ref ref_read ref_write match?", "What programs of Relay's text need"},
};

bool isAmong(std::string_view words, std::string_view word) {
  for (size_t begin = 0; begin < words.size();) {
    size_t end = std::min(words.find(' ', begin), words.size());
    if (words.substr(begin, end - begin) == word)
      return true;
    begin = end + 1;
  }
  return false;
}

/// What stands under a heading, without blank lines around it.
std::string_view under(std::string_view heading) {
  std::string_view text = notationTexts().front().text;
  size_t begin = text.find(fmt::format("\n## {}\n", heading));
  if (begin == std::string_view::npos)
    return {};
  text.remove_prefix(text.find_first_not_of('\n', begin + heading.size() + 5));
  text = text.substr(0, text.find("\n## "));
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

/// Markdown as plain text: code indented in place of fences.
std::string plain(std::string_view text) {
  std::string made;
  bool isCode = false;
  while (!text.empty()) {
    size_t length = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    if (line.starts_with("```"))
      isCode = !isCode;
    else
      made += fmt::format("{}{}\n", isCode && !line.empty() ? "    " : "", line);
  }
  return made;
}

} // namespace

std::string wordPage(std::string_view word) {
  auto found = std::ranges::find_if(
      sections, [&](const Section& section) { return isAmong(section.words, word); });
  if (found == std::end(sections))
    return "";
  return fmt::format("## {}\n\nIn docs/notation.md, under \"{}\":\n\n{}", word, found->heading,
                     plain(under(found->heading)));
}

} // namespace driver
