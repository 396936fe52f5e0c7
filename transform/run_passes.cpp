// Checks around passes.
#include "transform/run_passes.h"

#include "lang/ir/copy.h"
#include "lang/ir/verify.h"
#include "runtime/budget.h"
#include "transform/analysis/placement.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

/// The first text of an error, or an empty one.
std::string errorText(const Diagnostics& findings) {
  for (const Diagnostic& diagnostic : findings.all())
    if (diagnostic.severity() == Severity::Error)
      return diagnostic.text.plain();
  return "";
}

/// A program on its way through passes.
class Way {
public:
  Way(const Module& from, const Typing& typing, const RunOptions& options)
      : from_(from), fromTyping_(typing), options_(options) {
    if (options.declaring == Declaring::First)
      declare();
  }

  /// Why it cannot go on, if so.
  std::optional<runtime::Problem> problem;

  void run(const PassRow& pass, unsigned times, bool keepsSteps) {
    for (Property property : pass.needs)
      if (auto found = violations(module(), property); !found.empty()) {
        problem = {
            fmt::format("`{}` needs {}, and {}", pass.name, propertyName(property), found[0])};
        return;
      }
    bool isChanged = true;
    for (unsigned i = 0; i < times && isChanged && !problem; ++i)
      isChanged = step(pass.name, pass.run, keepsSteps);
    if (problem)
      return;
    if (options_.verify)
      demandEnsured(pass);
    if (options_.after)
      options_.after(pass.name, module(), typing());
  }

  void run(std::string_view name, StepFunction make) {
    step(name, make, /*keepsSteps=*/false);
    if (!problem && options_.after)
      options_.after(name, module(), typing());
  }

  TypedModule finish() { return std::move(made_); }

private:
  const Module& module() const { return made_.module ? *made_.module : from_; }
  const Typing& typing() const { return made_.module ? made_.typing : fromTyping_; }

  /// Declares all types. A declared type can make a let of a temporary.
  void declare() {
    isDeclared_ = true;
    take("declaring all types", place(*copyDeclared(module(), typing()), options_.operators));
  }

  /// Whether it made another module.
  bool step(std::string_view name, StepFunction make, bool keepsSteps) {
    runtime::Budget::begin(name);
    auto next = made(make, keepsSteps);
    if (!next)
      return false;
    if (take(name, std::move(next)))
      return true;
    // The pass left out what types followed from.
    declare();
    return step(name, make, keepsSteps);
  }

  /// Goes on with a module; false where it is ill-typed because types were not declared.
  bool take(std::string_view maker, std::unique_ptr<Module> next) {
    if (auto problems = lang::verify(*next); !problems.empty())
      throw PassFault(maker, fmt::format("{} gives an unsound module: {}", maker, problems[0]));
    Diagnostics findings;
    Typing found = options_.check(*next, findings);
    if (findings.hasErrors() && !isDeclared_)
      return false;
    if (findings.hasErrors())
      throw PassFault(maker,
                      fmt::format("{} gives an ill-typed module: {}", maker, errorText(findings)),
                      std::move(next));
    made_ = {std::move(next), std::move(found)};
    return true;
  }

  std::unique_ptr<Module> made(StepFunction make, bool keepsSteps) {
    Diagnostics own;
    Diagnostics& findings = options_.findings ? *options_.findings : own;
    auto next = make(module(), {.operators = options_.operators,
                                .typing = typing(),
                                .check = options_.check,
                                .findings = findings,
                                .engine = options_.engine,
                                .entries = options_.entries,
                                .keepsSteps = keepsSteps,
                                .within = options_.within ? &options_.within : nullptr,
                                .keepLogarithms = options_.keepLogarithms,
                                .readPanels = options_.readPanels,
                                .rowsAtOnce = options_.rowsAtOnce,
                                .needsBoxes = options_.needsBoxes});
    if (!findings.hasErrors())
      return next;
    problem = {errorText(findings)};
    return nullptr;
  }

  void demandEnsured(const PassRow& pass) const {
    for (Property property : pass.ensures)
      if (auto found = violations(module(), property); !found.empty())
        throw PassFault(pass.name, fmt::format("{} does not ensure {}: {}", pass.name,
                                               propertyName(property), found[0]));
  }

  const Module& from_;
  const Typing& fromTyping_;
  const RunOptions& options_;
  /// What passes made of it, if any did.
  TypedModule made_;
  bool isDeclared_ = false;
};

runtime::Checked<TypedModule> ended(Way& way) {
  if (way.problem)
    return *way.problem;
  return way.finish();
}

const PassRow& passOf(const Step& step) {
  if (const PassRow* pass = findPass(step.pass))
    return *pass;
  throw std::logic_error(fmt::format("a pipeline names `{}`, which is no pass", step.pass));
}

} // namespace

runtime::Checked<TypedModule> runPasses(const Module& module, const Typing& typing,
                                        const Pipeline& pipeline, const RunOptions& options) {
  Way way(module, typing, options);
  for (size_t i = 0; i < pipeline.steps.size() && !way.problem; ++i)
    if (const Step& step = pipeline.steps[i];
        std::ranges::find(options.skipped, step.pass) == options.skipped.end())
      way.run(passOf(step), step.times, pipeline.keepsSteps);
  return ended(way);
}

runtime::Checked<TypedModule> runPasses(const Module& module, const Typing& typing,
                                        std::span<const PassRow* const> passes,
                                        const RunOptions& options) {
  Way way(module, typing, options);
  for (size_t i = 0; i < passes.size() && !way.problem; ++i)
    way.run(*passes[i], 1, /*keepsSteps=*/false);
  return ended(way);
}

runtime::Checked<TypedModule> runStep(const Module& module, const Typing& typing,
                                      std::string_view name, StepFunction step,
                                      const RunOptions& options) {
  Way way(module, typing, options);
  way.run(name, step);
  return ended(way);
}

} // namespace transform
