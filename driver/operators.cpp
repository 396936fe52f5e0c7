// `baton operators`: what the operator table says, and the functions of the prelude beside it.
#include "driver/commands.h"
#include "driver/lookup.h"
#include "stdlib/operator_reference.h"
#include "stdlib/prelude_reference.h"

namespace driver {

namespace {

std::vector<Findable> allOperators(const lang::OperatorTable& table) {
  std::vector<Findable> entries;
  for (const lang::OperatorRow* row : table.all())
    entries.push_back({std::string(row->name), row->doc, row->otherNames(), row->details});
  for (const stdlib::PreludeFunction& function : stdlib::preludeFunctions())
    entries.push_back(
        {"@" + function.name, std::string_view(function.doc).substr(0, function.doc.find('\n'))});
  return entries;
}

/// What has exactly that name: an operator, a function of the prelude, whose `@` may be left out,
/// or both.
std::string referenceOf(const lang::OperatorTable& table, std::string_view name) {
  std::string text;
  if (const lang::OperatorRow* row = table.find(name))
    text = stdlib::operatorReference(table, *row);
  std::string_view bare = name.substr(name.starts_with('@') ? 1 : 0);
  for (const stdlib::PreludeFunction& function : stdlib::preludeFunctions())
    if (function.name == bare)
      text += (text.empty() ? "" : "\n") + stdlib::preludeReference(function);
  return text;
}

} // namespace

Answer operators(const lang::OperatorTable& table, const OperatorsOptions& options) {
  Answer answer;
  if (options.markdown) {
    answer.output = stdlib::operatorReference(table);
    return answer;
  }
  std::vector<Findable> entries = allOperators(table);
  std::string_view word = options.name;
  if (!word.empty())
    answer.output = referenceOf(table, word);
  if (answer.output.empty())
    answer.output = linesOf(entries, foundWith(entries, word));
  else if (std::string others = linesOf(entries, foundCalled(entries, word)); !others.empty())
    answer.output += "\n" + others;
  if (answer.output.empty())
    answer.fail(ExitCode::World, nothingFound("operator", word, entries));
  return answer;
}

} // namespace driver
