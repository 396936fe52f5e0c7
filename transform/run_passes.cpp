// Checks around passes.
#include "transform/run_passes.h"

#include "lang/copy.h"
#include "lang/verify.h"
#include "runtime/budget.h"
#include "transform/placement.h"

#include <stdexcept>

#include <fmt/format.h>

namespace transform {

using namespace lang;

namespace {

/// A fresh module with its types.
TypedModule typed(std::unique_ptr<Module> module, std::string_view maker,
                  const RunOptions& options) {
  if (options.verify)
    if (auto problems = verify(*module); !problems.empty())
      throw std::logic_error(fmt::format("{} gives an unsound module: {}", maker, problems[0]));
  Diagnostics diagnostics;
  Typing typing = options.check(*module, diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.all())
    if (diagnostic.severity() == Severity::Error)
      throw std::logic_error(
          fmt::format("{} gives an ill-typed module: {}", maker, diagnostic.text));
  return {std::move(module), std::move(typing)};
}

void demandEnsured(const Module& module, const PassRow& pass) {
  for (Property property : pass.ensures)
    if (auto found = violations(module, property); !found.empty())
      throw std::logic_error(
          fmt::format("{} does not ensure {}: {}", pass.name, propertyName(property), found[0]));
}

} // namespace

runtime::Checked<TypedModule> runPasses(const Module& module, const Typing& typing,
                                        std::span<const PassRow* const> passes,
                                        const RunOptions& options) {
  // A declared type can make a let of a temporary.
  auto declared = place(*copyDeclared(module, typing), options.operators);
  TypedModule current = typed(std::move(declared), "declaring all types", options);
  for (const PassRow* pass : passes) {
    runtime::Budget::begin(pass->name);
    for (Property property : pass->needs)
      if (auto found = violations(*current.module, property); !found.empty())
        return runtime::Problem{
            fmt::format("`{}` needs {}, and {}", pass->name, propertyName(property), found[0])};
    lang::Diagnostics own;
    lang::Diagnostics& findings = options.findings ? *options.findings : own;
    auto made =
        pass->run(*current.module, {options.operators, current.typing, options.check, findings,
                                    options.engine, options.entries, options.keepsSteps});
    if (findings.hasErrors())
      return runtime::Problem{findings.all().front().text};
    if (made)
      current = typed(std::move(made), pass->name, options);
    if (options.verify)
      demandEnsured(*current.module, *pass);
    if (options.after)
      options.after(*pass, *current.module);
  }
  return current;
}

} // namespace transform
