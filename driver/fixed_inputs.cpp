// A step of passes: the copy of the entry has fewer parameters, and constants where those were
// used.
#include "driver/fixed_inputs.h"

#include "driver/session/derive.h"
#include "driver/session/pass_options.h"
#include "driver/values/input_fit.h"
#include "driver/values/name_pattern.h"
#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "lang/source/utf8.h"
#include "runtime/formats/quote.h"

#include <algorithm>
#include <fmt/format.h>

namespace driver {

namespace {

using lang::Var;

/// Of each parameter its value, or nothing.
using Fixed = std::vector<std::optional<runtime::Tensor>>;

class InputFixer : public lang::Rewriter {
public:
  InputFixer(const lang::Module& from, lang::Builder& into, const lang::Function& entry,
             const Fixed& fixed)
      : Rewriter(from, into), entry_(entry) {
    for (size_t i = 0; i < fixed.size(); ++i)
      if (fixed[i])
        substitute(*entry.parameters[i], into.tensor(*fixed[i]));
      else
        kept_.push_back(entry.parameters[i]);
  }

private:
  std::span<const Var* const> parametersOf(const lang::Function& old) override {
    return &old == &entry_ ? std::span<const Var* const>(kept_) : old.parameters;
  }

  const lang::Function& entry_;
  std::vector<const Var*> kept_;
};

bool isMentioned(const lang::Module& module, const lang::Global& entry) {
  bool found = false;
  lang::walk(
      module, [](const lang::Binding&) {},
      [&](const lang::Operand& operand) { found |= operand.value == &entry; });
  return found;
}

bool isFixable(const lang::Type& type) {
  return type.isTensor() &&
         std::ranges::all_of(type.shape, [](const lang::Dim* dim) { return dim->isConstant(); });
}

/// Which parameters the patterns name.
std::vector<bool> namedBy(const std::vector<std::string>& patterns, const lang::Global& entry,
                          const lang::Typing& typing, Answer& answer) {
  std::span<const Var* const> parameters = entry.function->parameters;
  std::vector<bool> named(parameters.size(), false);
  for (const std::string& pattern : patterns) {
    std::string_view bare = pattern;
    if (bare.starts_with('%'))
      bare.remove_prefix(1);
    bool isUsed = false;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (!isNamedBy(bare, parameters[i]->name))
        continue;
      isUsed = named[i] = true;
      if (const lang::Type* type = typing.of(*parameters[i]); !isFixable(*type))
        answer.fail(ExitCode::World,
                    fmt::format("{} cannot be fixed: it is `{}`, and only tensors whose sizes are "
                                "numbers can",
                                formats::backquoted(parameterName(*parameters[i])),
                                lang::typeText(type)));
    }
    if (!isUsed)
      answer.fail(ExitCode::World,
                  fmt::format("`--fix` names {}, and `@{}` has no such parameter",
                              formats::backquoted(pattern), lang::printable(entry.name)));
  }
  return named;
}

void putIn(Session& session, Program& program, const lang::Global& entry, const Fixed& fixed) {
  lang::Diagnostics findings;
  const std::string name(entry.name);
  const std::string_view entries[] = {name};
  transform::RunOptions how = passOptions(session, entries, findings);
  how.declaring = transform::Declaring::WhenNeeded;
  const lang::Function& function = *entry.function;
  auto step = [&](const lang::Module& module, const transform::PassContext& context) {
    return lang::rewritten<InputFixer>(module, context.operators, function, fixed);
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

std::optional<std::vector<FixedInput>> fixInputs(Session& session, Program& program,
                                                 const std::string& name, const RunOptions& options,
                                                 Answer& answer) {
  std::vector<FixedInput> list;
  if (options.fixed.empty())
    return list;
  const lang::Global& entry = *program.module->find(name);
  const std::vector<bool> named = namedBy(options.fixed, entry, program.typing, answer);
  if (isMentioned(*program.module, entry))
    answer.fail(ExitCode::World,
                fmt::format("`@{}` is called in the program, so its inputs cannot be fixed; name "
                            "one that calls it by `--entry`",
                            lang::printable(entry.name)));
  if (answer.code != ExitCode::Good)
    return std::nullopt;
  Arguments read = readSome(entry, program.typing, session.types(), options, named);
  for (const std::string& problem : read.problems)
    answer.fail(ExitCode::World, problem);
  if (!read.problems.empty())
    return std::nullopt;
  Fixed fixed(named.size());
  for (size_t i = 0; i < named.size(); ++i)
    if (named[i]) {
      list.push_back({std::string(entry.function->parameters[i]->name), i});
      fixed[i] = read.values[i].tensor();
    }
  putIn(session, program, entry, fixed);
  return list;
}

} // namespace driver
