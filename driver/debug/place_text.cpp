// The file of the program goes without saying.
#include "driver/debug/place_text.h"

#include "lang/source/utf8.h"

#include <fmt/format.h>

namespace driver {

std::string placeText(const lang::SourceMap& sources, lang::SourceRange range,
                      const lang::SourceFile* main) {
  const lang::SourceFile* file = range.isValid() ? sources.find(range) : nullptr;
  if (!file)
    return "";
  lang::LineColumn at = file->position(range.begin);
  std::string text = fmt::format("{}:{}", at.line, at.column);
  return file == main ? text : lang::printable(file->name()) + ":" + text;
}

} // namespace driver
