// Excerpts of source texts with marks below the lines: the inner part of render.h.
#pragma once

#include "lang/source/render.h"

namespace lang {

/// A place to be marked and what is said about it there.
struct Mark {
  SourceRange range;
  bool isPrimary = false;
  std::string text = {};
};

enum class Style : uint8_t { Error, Warning, Note, Gutter, Strong };

/// The text in a style, or as it is without colour.
std::string painted(std::string_view text, Style style, const RenderOptions& options);

/// The place of the first mark, the marked lines of its file, then those of other files, with line
/// numbers right-aligned in `gutter` columns. Marks without a place are left out.
std::string renderExcerpt(const std::vector<Mark>& marks, Severity severity,
                          const SourceMap& sources, size_t gutter, const RenderOptions& options);

/// How many digits the largest line number has that the marks show.
size_t gutterWidth(const std::vector<Mark>& marks, const SourceMap& sources);

} // namespace lang
