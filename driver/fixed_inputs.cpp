// A step of passes: the copy of the entry has fewer parameters, and constants where those were
// used.
#include "driver/fixed_inputs.h"

#include "driver/fixed_code.h"
#include "driver/session/derive.h"
#include "driver/session/pass_options.h"
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

std::string nameIn(const Program& program, const lang::Global& global) {
  return lang::globalName(lang::printable(global.name)).in(program.notation());
}

/// Which parameters the patterns name.
std::vector<bool> namedBy(const std::vector<std::string>& patterns, const Program& program,
                          const lang::Global& entry, Answer& answer) {
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
                  fmt::format("`--fix` names {}, and `{}` has no such parameter",
                              formats::backquoted(pattern), nameIn(program, entry)));
  }
  return named;
}

/// Which parameters are to be fixed; nothing when the answer says what stands in the way.
std::optional<std::vector<bool>> fixable(const std::vector<std::string>& patterns,
                                         const Program& program, const std::string& name,
                                         Answer& answer) {
  const lang::Global& entry = *program.module->find(name);
  std::vector<bool> named = namedBy(patterns, program, entry, answer);
  if (isMentioned(*program.module, entry))
    answer.fail(
        ExitCode::World,
        fmt::format("`{}` is called in the program, so its inputs cannot be fixed; name one "
                    "that calls it by `--entry`",
                    nameIn(program, entry)));
  return answer.code == ExitCode::Good ? std::optional(std::move(named)) : std::nullopt;
}

/// What becomes of the parameters; nothing when a value is too large.
std::optional<FixedValues> fixedValues(const Program& program, const lang::Global& entry,
                                       const Arguments& read, const std::vector<bool>& named,
                                       Answer& answer) {
  FixedValues fixed{.entry = std::string(entry.name)};
  for (size_t i = 0; i < named.size(); ++i) {
    fixed.values.push_back(named[i] ? std::optional(read.values[i]) : std::nullopt);
    if (!named[i] || !isTooLargeForCode(read.values[i]))
      continue;
    const std::string parameter = parameterName(*entry.function->parameters[i], program.notation());
    answer.fail(ExitCode::World, fmt::format("{} cannot be fixed: it has more than 10,000 parts",
                                             formats::backquoted(parameter)));
  }
  for (const auto& [size, number] : read.sizes)
    fixed.sizes.emplace(lang::dimText(size), number);
  return answer.code == ExitCode::Good ? std::optional(std::move(fixed)) : std::nullopt;
}

void putIn(Program& program, const FixedValues& fixed, const transform::RunOptions& how) {
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
  if (options.fixed.empty())
    return FixedInputs();
  auto named = fixable(options.fixed, program, name, answer);
  if (!named)
    return std::nullopt;
  lang::Diagnostics findings;
  const std::string_view entries[] = {name};
  transform::RunOptions how = passOptions(session, entries, findings);
  how.declaring = transform::Declaring::WhenNeeded;
  goOn(program,
       transform::runPasses(*program.module, program.typing, transform::toFixPipeline, how));
  const lang::Global& entry = *program.module->find(name);
  Arguments read = readSome(entry, program, session.types(), options, *named);
  for (const std::string& problem : read.problems)
    answer.fail(ExitCode::World, problem);
  if (!read.problems.empty())
    return std::nullopt;
  auto fixed = fixedValues(program, entry, read, *named, answer);
  if (!fixed)
    return std::nullopt;
  FixedInputs list;
  for (size_t i = 0; i < named->size(); ++i)
    if ((*named)[i])
      list.parameters.push_back({std::string(entry.function->parameters[i]->name), i});
  for (const auto& [size, number] : fixed->sizes)
    list.sizes.push_back(size);
  putIn(program, *fixed, how);
  return list;
}

} // namespace driver
