// Code that derivatives run backwards, told from the code that it belongs to by its place: the
// range is that of the expression whose derivative it computes, with a mark in the highest bit of
// its end, which no text reaches. So passes that keep places keep this too. Whoever looks up the
// end of a range, or compares it with one of a text, takes the mark off.
#pragma once

#include "lang/source/source.h"

namespace lang {

inline constexpr uint32_t wayBackMark = uint32_t(1) << 31;

/// The range for code of the way back.
inline SourceRange onWayBack(SourceRange range) {
  return range.isValid() ? SourceRange{range.begin, range.end | wayBackMark} : range;
}

inline bool isOnWayBack(SourceRange range) {
  return (range.end & wayBackMark) != 0;
}

/// The range in the text.
inline SourceRange inText(SourceRange range) {
  return {range.begin, range.end & ~wayBackMark};
}

} // namespace lang
