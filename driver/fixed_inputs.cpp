// A step of passes: the copy of the entry has fewer parameters, and constants where those were
// used.
#include "driver/fixed_inputs.h"

#include "driver/fixed_code.h"
#include "driver/session/derive.h"
#include "driver/session/pass_options.h"
#include "driver/session/spoken.h"
#include "driver/values/input_fit.h"
#include "driver/values/name_pattern.h"
#include "lang/ir/walk.h"
#include "lang/source/utf8.h"
#include "runtime/formats/quote.h"

#include <algorithm>
#include <fmt/format.h>

namespace driver {

namespace {

using lang::Var;

bool isMentioned(const lang::Module& module, const lang::Global& entry) {
  bool found = false;
  lang::walk(
      module, [](const lang::Binding&) {},
      [&](const lang::Operand& operand) { found |= operand.value == &entry; });
  return found;
}

/// Which parameters the patterns name.
std::vector<bool> namedBy(const std::vector<std::string>& patterns, const lang::Global& entry,
                          Answer& answer) {
  std::span<const Var* const> parameters = entry.function->parameters;
  std::vector<bool> named(parameters.size(), false);
  for (const std::string& pattern : patterns) {
    std::string_view bare = pattern;
    if (bare.starts_with('%'))
      bare.remove_prefix(1);
    bool isUsed = false;
    for (size_t i = 0; i < parameters.size(); ++i)
      if (isNamedBy(bare, parameters[i]->name))
        isUsed = named[i] = true;
    if (!isUsed)
      answer.fail(ExitCode::World,
                  fmt::format("`--fix` names {}, and `@{}` has no such parameter",
                              formats::backquoted(pattern), lang::printable(entry.name)));
  }
  return named;
}

void putIn(Session& session, Program& program, const FixedValues& fixed) {
  lang::Diagnostics findings;
  const std::string_view entries[] = {fixed.entry};
  transform::RunOptions how = passOptions(session, entries, findings);
  how.declaring = transform::Declaring::WhenNeeded;
  auto step = [&](const lang::Module& module, const transform::PassContext& context) {
    return withFixed(module, context.operators, fixed);
  };
  goOn(program, transform::runStep(*program.module, program.typing, steps::fixedInputs, step, how));
  goOn(program,
       transform::runPasses(*program.module, program.typing, transform::fixedPipeline, how));
}

} // namespace

std::string fixingProblem(const RunOptions& options, std::string_view made) {
  return options.fixed.empty() && givesInputs(options)
             ? fmt::format("{} with inputs where `--fix` names their parameters", made)
             : "";
}

std::optional<FixedInputs> fixInputs(Session& session, Program& program, const std::string& name,
                                     const RunOptions& options, Answer& answer) {
  FixedInputs list;
  if (options.fixed.empty())
    return list;
  const lang::Global& entry = *program.module->find(name);
  const std::vector<bool> named = namedBy(options.fixed, entry, answer);
  if (isMentioned(*program.module, entry))
    answer.fail(ExitCode::World,
                fmt::format("`@{}` is called in the program, so its inputs cannot be fixed; name "
                            "one that calls it by `--entry`",
                            lang::printable(entry.name)));
  if (answer.code != ExitCode::Good)
    return std::nullopt;
  Arguments read = readSome(entry, program, session.types(), options, named);
  for (const std::string& problem : read.problems)
    answer.fail(ExitCode::World, problem);
  if (!read.problems.empty())
    return std::nullopt;
  FixedValues fixed{.entry = name};
  for (size_t i = 0; i < named.size(); ++i) {
    const lang::Var& parameter = *entry.function->parameters[i];
    if (named[i] && isTooLargeForCode(read.values[i]))
      answer.fail(
          ExitCode::World,
          inNotationOf(program, fmt::format("{} cannot be fixed: it has more than 10,000 parts",
                                            formats::backquoted(parameterName(parameter)))));
    fixed.values.push_back(named[i] ? std::optional(read.values[i]) : std::nullopt);
    if (named[i])
      list.parameters.push_back({std::string(parameter.name), i});
  }
  for (const auto& [size, number] : read.sizes) {
    fixed.sizes.emplace(lang::dimText(size), number);
    list.sizes.push_back(lang::dimText(size));
  }
  if (answer.code != ExitCode::Good)
    return std::nullopt;
  putIn(session, program, fixed);
  return list;
}

} // namespace driver
