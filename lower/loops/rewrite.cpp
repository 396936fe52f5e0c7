// How a step is found and applied, and schedules as texts.
#include "lower/loops/rewrite.h"

#include "lower/loops/edit.h"
#include "lower/loops/verify.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace loops {

namespace {

/// How many arguments a row wants at least and at most.
std::pair<size_t, size_t> arity(const Rewrite& rewrite) {
  size_t words = 1 + size_t(std::ranges::count(rewrite.arguments, ' '));
  size_t optional = size_t(std::ranges::count(rewrite.arguments, '['));
  return {words - optional, words};
}

void apply(Nest& nest, const Step& step) {
  auto row = std::ranges::find(rewriteTable(), std::string_view(step.rewrite), &Rewrite::name);
  if (row == rewriteTable().end()) {
    std::vector<std::string_view> names;
    for (const Rewrite& each : rewriteTable())
      names.push_back(each.name);
    refuse(fmt::format("there is no rewrite `{}`; there are {}", step.rewrite,
                       fmt::join(names, ", ")));
  }
  auto [least, most] = arity(*row);
  if (step.arguments.size() < least || step.arguments.size() > most)
    refuse(fmt::format("`{}` takes `{}`", row->name, row->arguments));
  row->apply(nest, step.arguments);
}

} // namespace

runtime::Checked<Nest> applied(const Nest& nest, const Step& step) {
  Nest result = nest;
  try {
    apply(result, step);
    simplify(result);
  } catch (const Inapplicable& inapplicable) {
    return runtime::Problem{inapplicable.problem};
  }
  if (result.table.isTooLarge())
    return runtime::Problem{"its positions become too long"};
  return result;
}

runtime::Checked<Nest> rewritten(const Nest& nest, const Step& step) {
  auto result = applied(nest, step);
  if (result)
    if (std::string problem = problemOf(*result); !problem.empty())
      return runtime::Problem{"the result is not valid: " + problem};
  return result;
}

runtime::Checked<std::vector<Step>> scheduleOf(std::string_view text) {
  constexpr size_t mostSteps = 10000;
  std::vector<Step> steps;
  size_t number = 0;
  while (!text.empty()) {
    size_t length = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    line = line.substr(0, line.find('#'));
    Step step;
    step.line = ++number;
    while (!line.empty()) {
      size_t start = std::min(line.find_first_not_of(" \t\r"), line.size());
      line.remove_prefix(start);
      size_t end = std::min(line.find_first_of(" \t\r"), line.size());
      if (end > 0)
        (step.rewrite.empty() ? step.rewrite : step.arguments.emplace_back()) = line.substr(0, end);
      line.remove_prefix(end);
    }
    if (!step.rewrite.empty())
      steps.push_back(std::move(step));
    if (steps.size() > mostSteps)
      return runtime::Problem{fmt::format("a schedule has at most {} steps", mostSteps)};
  }
  return steps;
}

std::string textOf(const Step& step) {
  std::string text = step.rewrite;
  for (const std::string& argument : step.arguments)
    text += " " + argument;
  return text;
}

} // namespace loops
