// Synonyms are asked for when something is wrong, so they need no index.
#include "lang/op/other_names.h"

#include "lang/op/op.h"

namespace lang {

const OperatorRow* calledElsewhere(const OperatorTable& operators, std::string_view name) {
  for (const OperatorRow* row : operators.all())
    if (std::ranges::count(row->otherNames(), name) > 0)
      return row;
  return nullptr;
}

bool isRelayInfix(std::string_view symbol) {
  constexpr std::string_view symbols[] = {"*", "/", "+", "-", "<", "<=", ">", ">=", "==", "!="};
  return std::ranges::find(symbols, symbol) != std::end(symbols);
}

} // namespace lang
