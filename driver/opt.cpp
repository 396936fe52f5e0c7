// `baton opt` and `baton passes`: passes over a program.
#include "driver/budget.h"
#include "driver/load.h"
#include "driver/pass_options.h"
#include "formats/quote.h"
#include "lang/edit_distance.h"
#include "lang/print.h"
#include "parser/metadata.h"
#include "transform/run_passes.h"

#include <fmt/format.h>

namespace driver {

namespace {

/// What stands for every pass; in this form, since an operator has the same name, which no file
/// here may know.
constexpr std::string_view everyPass = R"(all)";

/// The row of a pass, or why there is none.
const transform::PassRow* findPass(std::string_view name, Answer& answer) {
  if (const transform::PassRow* row = transform::findPass(name))
    return row;
  std::vector<std::string_view> names;
  for (const transform::PassRow& row : transform::passRows())
    names.push_back(row.name);
  auto similar = lang::similarNames(name, names);
  answer.fail(ExitCode::World,
              fmt::format("there is no pass {}; {}", formats::backquoted(name),
                          similar.empty() ? fmt::format("the passes are {}", fmt::join(names, ", "))
                                          : fmt::format("did you mean `{}`?", similar[0])));
  return nullptr;
}

std::string textOf(const lang::Module& module, const lang::OperatorTable& operators) {
  return parser::wholeText(lang::printModule(module, operators, {.mostInLiteral = mostInLiteral}));
}

} // namespace

Answer opt(Session& session, const OptOptions& options, const Look& look) {
  Answer answer;
  std::vector<const transform::PassRow*> passes;
  for (const std::string& name : options.passes)
    passes.push_back(findPass(name, answer));
  bool printsAll = options.printAfter == everyPass;
  const transform::PassRow* shown = nullptr;
  if (!options.printAfter.empty() && !printsAll)
    shown = findPass(options.printAfter, answer);
  if (shown && std::ranges::count(passes, shown) == 0)
    answer.fail(
        ExitCode::World,
        fmt::format("`--print-after` names `{}`, which is not among `--passes`", shown->name));
  if (answer.code != ExitCode::Good)
    return answer;
  auto program = loadGood(session, options.file, look, answer);
  if (!program)
    return answer;
  auto after = [&](std::string_view pass, const lang::Module& module, const lang::Typing&) {
    if (printsAll || (shown && shown->name == pass))
      answer.errors += fmt::format("// after {}\n{}", pass, textOf(module, session.operators()));
  };
  lang::Diagnostics findings;
  transform::RunOptions how = passOptions(session, transform::mainAlone, findings);
  how.verify = options.verify;
  how.after = after;
  std::optional<runtime::Checked<transform::TypedModule>> result;
  auto runAll = [&] {
    result.emplace(transform::runPasses(*program->module, program->typing, passes, how));
  };
  if (!withinLimits(options.limits, session, look, answer, runAll))
    return answer;
  if (*result) {
    answer.output = textOf(*(*result)->module, session.operators());
  } else if (findings.hasErrors()) {
    answer.errors += findingsText(session, findings, options.file, look);
    answer.code = ExitCode::Program;
  } else {
    answer.fail(ExitCode::World, result->failure().text);
  }
  return answer;
}

Answer passes() {
  Answer answer;
  for (const transform::PassRow& row : transform::passRows())
    answer.output += fmt::format("{:<24} {}\n", row.name, row.doc);
  return answer;
}

} // namespace driver
