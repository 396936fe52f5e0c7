// A comment documents what begins on the line below it; one behind other text of its line does not.
#include "parser/surface/doc_comment.h"

#include <algorithm>
#include <vector>

namespace parser {

namespace {

constexpr size_t longestDoc = 4096;

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

/// The lines of a comment without what makes it one.
void addLines(std::string_view comment, std::vector<std::string_view>& lines) {
  if (comment.starts_with("//")) {
    lines.push_back(trimmed(comment, "/ \t"));
    return;
  }
  comment.remove_prefix(std::min<size_t>(2, comment.size()));
  if (comment.ends_with("*/"))
    comment.remove_suffix(2);
  while (!comment.empty()) {
    size_t length = std::min(comment.find('\n'), comment.size());
    std::string_view line = trimmed(comment.substr(0, length), "* \t");
    if (!line.empty() || !lines.empty())
      lines.push_back(line);
    comment.remove_prefix(std::min(length + 1, comment.size()));
  }
}

/// True when only one line break and blanks stand between a comment and what is below it.
bool isAdjacent(std::string_view between) {
  return between.find_first_not_of(" \t\r\n") == std::string_view::npos &&
         std::ranges::count(between, '\n') <= 1;
}

bool beginsLine(std::string_view before) {
  size_t last = before.find_last_not_of(" \t");
  return last == std::string_view::npos || before[last] == '\n';
}

} // namespace

std::string docComment(const surface::File& tree, const lang::SourceFile& source,
                       lang::SourceRange name) {
  auto found = std::ranges::find_if(
      tree.definitions, [&](const surface::Definition* it) { return it->name.range == name; });
  if (found == tree.definitions.end())
    return "";
  std::string_view text = source.text();
  uint32_t below = (*found)->range.begin;
  auto comment = std::ranges::lower_bound(tree.comments, below, {}, &lang::SourceRange::begin);
  std::vector<lang::SourceRange> comments;
  while (comment != tree.comments.begin()) {
    --comment;
    // A comment of one line may hold its line break.
    // In Baton's notation others are for who reads the text.
    if (tree.notation == surface::Notation::Baton &&
        !text.substr(comment->begin - source.base()).starts_with("///"))
      break;
    uint32_t end = comment->end - (text[comment->end - source.base() - 1] == '\n' ? 1 : 0);
    if (!isAdjacent(text.substr(end - source.base(), below - end)) ||
        !beginsLine(text.substr(0, comment->begin - source.base())))
      break;
    comments.push_back({comment->begin, end});
    below = comment->begin;
  }
  std::vector<std::string_view> lines;
  for (size_t i = comments.size(); i-- > 0;)
    addLines(text.substr(comments[i].begin - source.base(), comments[i].end - comments[i].begin),
             lines);
  std::string doc;
  for (std::string_view line : lines)
    if (doc.size() + line.size() < longestDoc)
      (doc += line) += '\n';
  return std::string(trimmed(doc, "\n"));
}

} // namespace parser
