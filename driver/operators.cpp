// `baton operators`: what the operator table says.
#include "driver/commands.h"
#include "formats/quote.h"
#include "stdlib/operator_reference.h"

#include <fmt/format.h>

namespace driver {

Answer operators(const lang::OperatorTable& table, const OperatorsOptions& options) {
  Answer answer;
  if (options.markdown) {
    answer.output = stdlib::operatorReference(table);
    return answer;
  }
  if (options.name.empty()) {
    for (const lang::OperatorRow* row : table.all())
      answer.output += fmt::format("{:<32} {}\n", row->name, row->doc);
    return answer;
  }
  if (const lang::OperatorRow* row = table.find(options.name)) {
    answer.output = stdlib::operatorReference(table, *row);
    return answer;
  }
  auto similar = table.similar(options.name);
  answer.fail(ExitCode::World,
              fmt::format("there is no operator {}{}", formats::backquoted(options.name),
                          similar.empty() ? std::string()
                                          : fmt::format("; did you mean `{}`?", similar[0])));
  return answer;
}

} // namespace driver
