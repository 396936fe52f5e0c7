// Each is held against the first one of its name.
#include "parser/surface/distinct_names.h"

#include <unordered_map>

namespace parser {

void demandDistinct(lang::Diagnostics& diagnostics, std::span<const surface::Identifier> names) {
  std::unordered_map<std::string_view, lang::SourceRange> known;
  for (const surface::Identifier& name : names)
    if (auto [first, isNew] = known.try_emplace(name.text, name.range); !isNew)
      diagnostics.report(lang::Message::RepeatedArgument, name.range, name.text)
          .label(first->second, "first given here");
}

} // namespace parser
