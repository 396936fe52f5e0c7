// A file's name says as much as it does to people: those of Baton's own notation end in `.baton`.
#include "driver/session/notation.h"

#include <algorithm>

namespace driver {

parser::surface::Notation notationOf(const lang::SourceFile& source) {
  std::string_view text = source.text();
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  bool hasHeader = text.starts_with("#[version") || text.starts_with("v0.0.");
  return source.name().ends_with(".baton") && !hasHeader ? parser::surface::Notation::Baton
                                                         : parser::surface::Notation::Relay;
}

std::string withoutByteOrderMark(std::string text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark))
    text.erase(0, mark.size());
  return text;
}

} // namespace driver
