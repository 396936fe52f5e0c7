// `baton grad`: the derivative of a definition as source.
#include "driver/session/budget.h"
#include "driver/session/derive.h"
#include "driver/session/find_global.h"
#include "driver/session/load.h"
#include "driver/session/shown_passes.h"
#include "lang/ir/differentiable.h"
#include "lang/source/utf8.h"
#include "runtime/formats/quote.h"
#include "transform/analysis/placement.h"
#include "transform/differentiate/entry_gradient.h"

#include <charconv>
#include <fmt/format.h>

namespace driver {

namespace {

/// The parameter that a word names, by its name or its number.
std::optional<size_t> findParameter(const lang::Function& function, std::string_view word) {
  if (word.starts_with('%'))
    word.remove_prefix(1);
  for (size_t i = 0; i < function.parameters.size(); ++i)
    if (function.parameters[i]->name == word)
      return i;
  size_t number = 0;
  auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  bool isNumber = read.ec == std::errc() && read.ptr == word.data() + word.size();
  return isNumber && number < function.parameters.size() ? std::optional(number) : std::nullopt;
}

/// What to differentiate with respect to: what was asked for, or all that holds floats.
std::optional<transform::WithRespectTo> withRespectTo(const lang::Global& global,
                                                      const Program& program,
                                                      const std::vector<std::string>& words,
                                                      Answer& answer) {
  const lang::Function& function = *global.function;
  const lang::Typing& typing = program.typing;
  const lang::Words name = lang::globalName(lang::printable(global.name));
  auto fail = [&](ExitCode code, const lang::Words& what) {
    answer.fail(code, what.in(program.notation()));
  };
  std::vector<size_t> able = transform::parametersWithGradient(function, typing);
  transform::WithRespectTo wrt;
  for (const std::string& word : words) {
    std::optional<size_t> found = findParameter(function, word);
    if (!found || std::ranges::count(able, *found) == 0) {
      const lang::Var* parameter = found ? function.parameters[*found] : nullptr;
      if (parameter)
        fail(ExitCode::Program, lang::words("`{}` of `{}` is `{}`, which has no gradient",
                                            lang::localName(lang::printable(parameter->name)), name,
                                            typing.of(*parameter)));
      else
        fail(ExitCode::World,
             lang::words("`{}` has no parameter {}", name, formats::backquoted(word)));
      return std::nullopt;
    }
    wrt.parameters.push_back(*found);
  }
  if (words.empty())
    wrt.parameters = able;
  wrt.isTuple = wrt.parameters.size() != 1;
  if (able.empty())
    fail(ExitCode::Program, lang::words("no parameter of `{}` has a gradient: a gradient is with "
                                        "respect to floats",
                                        name));
  return able.empty() ? std::nullopt : std::optional(wrt);
}

} // namespace

Answer grad(Session& session, const GradOptions& options, const Look& look) {
  Answer answer;
  ShownPasses shown(session, options.view, answer);
  if (!shown.isGood())
    return answer;
  auto program = loadGood(session, options.file, look, answer);
  const lang::Global* global =
      program ? findGlobal(*program, options.of, "--of", answer) : nullptr;
  if (!global)
    return answer;
  auto wrt = withRespectTo(*global, *program, options.wrt, answer);
  if (!wrt)
    return answer;
  const lang::Type* result = program->typing.result(*global->function);
  bool isScalar = result->isTensor() && result->shape.empty() && result->dtype.isFloat();
  if (!lang::holdsFloats(result)) {
    answer.fail(ExitCode::Program,
                lang::words("`{}` gives `{}`, and only what gives floats has a derivative",
                            lang::globalName(lang::printable(global->name)), result)
                    .in(program->notation()));
    return answer;
  }
  std::string name(global->name);
  Derivation derivation(session, *program);
  auto derivative = [&](const lang::Module& module, const transform::PassContext& context) {
    return transform::withDerivative(
        module, context, name,
        isScalar ? transform::Reverse::Gradient : transform::Reverse::PullBack, *wrt);
  };
  auto namedLets = [](const lang::Module& module, const transform::PassContext& context) {
    return transform::place(module, context.operators, {.restoresLets = true});
  };
  bool isDone = false;
  auto derive = [&] {
    isDone = derivation.writeOut(std::array<std::string_view, 1>{name}) &&
             derivation.add(steps::derivative, derivative) &&
             derivation.clean(std::string(program->module->globals.back()->name)) &&
             derivation.add(steps::namedLets, namedLets);
  };
  if (!withinLimits(options.limits, session, look, answer, derive))
    return answer;
  if (!isDone) {
    answer.errors += findingsText(session, derivation.findings, options.file, look);
    answer.code = ExitCode::Program;
    return answer;
  }
  if (shown.end())
    answer.output = passedText(session, *program->module);
  return answer;
}

} // namespace driver
