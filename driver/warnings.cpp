// Only warnings can be turned off: a program with an error has no meaning.
#include "driver/warnings.h"

#include "lang/source/edit_distance.h"
#include "runtime/formats/quote.h"

#include <fmt/format.h>

namespace driver {

runtime::Result<lang::Message> warningOf(std::string_view code) {
  std::vector<std::string_view> warnings;
  auto rows = lang::messageRows();
  for (size_t i = 0; i < rows.size(); ++i) {
    bool isError = rows[i].severity == lang::Severity::Error;
    if (rows[i].code == code && !isError)
      return lang::Message(i);
    if (rows[i].code == code)
      return runtime::Error{
          fmt::format("`{}` is an error, and only warnings can be turned off", code)};
    if (!isError)
      warnings.push_back(rows[i].code);
  }
  auto near = lang::similarNames(code, warnings);
  return runtime::Error{
      fmt::format("there is no warning {}; {}", formats::backquoted(code),
                  near.empty() ? fmt::format("the warnings are {}", fmt::join(warnings, ", "))
                               : fmt::format("did you mean `{}`?", near[0]))};
}

} // namespace driver
