// A tree of Baton's notation is compared by what its writer makes of it, which knows nothing of
// tokens; trees of Relay's text by their tokens alone.
#include "tests/fuzz/layout.h"

#include "parser/baton/parse.h"
#include "parser/baton/write.h"
#include "parser/format/format.h"
#include "parser/relay/parse.h"

#include <algorithm>
#include <fmt/format.h>

namespace fuzz {

namespace {

using parser::surface::Notation;

/// One text, read.
struct ReadSource {
  runtime::Arena trees = {};
  const lang::SourceFile* source = nullptr;
  const parser::surface::File* tree = nullptr;
  lang::Diagnostics findings = {};

  bool isGood() const { return tree && !findings.hasErrors(); }
};

void readSource(ReadSource& read, lang::SourceMap& sources, const std::string& text,
                Notation notation) {
  read.source = sources.add("text", text);
  read.tree = notation == Notation::Baton
                  ? parser::baton::parseText(read.trees, *read.source, read.findings)
                  : parser::parseText(read.trees, *read.source, read.findings);
}

size_t commentBytes(const ReadSource& read) {
  size_t bytes = 0;
  for (lang::SourceRange range : read.tree->comments) {
    std::string_view text =
        read.source->text().substr(range.begin - read.source->base(), range.end - range.begin);
    bytes += size_t(std::ranges::count_if(text, [](char c) { return !std::isspace(uint8_t(c)); }));
  }
  return bytes;
}

/// Strings and comments of several lines may have any blanks.
bool endsLineInBlanks(const std::string& text) {
  bool mayHave = text.find("/*") != text.npos || text.find('"') != text.npos ||
                 text.find("#[metadata]") != text.npos;
  return !mayHave && (text.find(" \n") != text.npos || text.find("\n\n\n") != text.npos);
}

std::string brokenLayout(const ReadSource& before, lang::SourceMap& sources, Notation notation) {
  parser::format::LaidOut result = parser::format::layOut(*before.source, notation);
  ReadSource after;
  readSource(after, sources, result.text, notation);
  auto told = [&](std::string_view what) { return fmt::format("{}:\n{}", what, result.text); };
  if (!after.isGood())
    return told("the layout cannot be read");
  parser::format::Difference found = parser::format::difference(result.tokens, *after.source);
  if (!found.text.empty())
    return told(found.text);
  if (notation == Notation::Baton &&
      parser::baton::write(*before.tree) != parser::baton::write(*after.tree))
    return told("the layout is another program");
  if (before.tree->comments.size() != after.tree->comments.size() ||
      commentBytes(before) != commentBytes(after))
    return told("a comment is lost");
  if (endsLineInBlanks(result.text))
    return told("the layout has blanks where nothing follows");
  std::string again = parser::format::layOut(*after.source, notation).text;
  return again == result.text ? "" : told("laid out again it is\n" + again + "\nafter");
}

} // namespace

LayoutOutcome tryLayout(const std::string& text, Notation notation) {
  lang::SourceMap sources;
  ReadSource before;
  readSource(before, sources, text, notation);
  if (!before.isGood())
    return {};
  std::string broken = brokenLayout(before, sources, notation);
  return {true, broken.empty() ? "" : broken + "\nThe text is\n" + text};
}

} // namespace fuzz
