// The passes that make derivatives, in their order.
#include "driver/derive.h"

#include "lang/render.h"
#include "lang/walk.h"
#include "transform/entry_gradient.h"
#include "transform/run_passes.h"
#include "typecheck/check.h"

namespace driver {

namespace {

bool asksForDerivatives(const lang::Module& module) {
  bool found = false;
  lang::walk(
      module, [](const lang::Binding&) {},
      [&](const lang::Operand& operand) {
        const auto* op = operand.value->as<lang::OperatorRef>();
        found |= op && op->row->derivative != lang::Derivative::None;
      });
  return found;
}

/// A program on its way through passes.
class Derivation {
public:
  Derivation(Session& session, Program& program) : session_(session), program_(program) {}

  bool run(std::initializer_list<std::string_view> names) {
    std::vector<const transform::PassRow*> passes;
    for (std::string_view name : names)
      passes.push_back(transform::findPass(name));
    auto made = transform::runPasses(*program_.module, program_.typing, passes,
                                     {session_.operators(), check_, false, {}, &findings});
    if (!made)
      return false;
    program_.module = std::move(made->module);
    program_.typing = std::move(made->typing);
    return true;
  }

  bool differentiate(std::string_view entry, unsigned order) {
    auto made = transform::withEntryGradient(
        *program_.module, {session_.operators(), program_.typing, check_, findings}, entry, order);
    if (findings.hasErrors())
      return false;
    lang::Diagnostics diagnostics;
    lang::Typing typing = check_(*made, diagnostics);
    program_.module = std::move(made);
    program_.typing = std::move(typing);
    return true;
  }

  lang::Diagnostics findings;

private:
  Session& session_;
  Program& program_;
  transform::TypeCheck check_ = [this](const lang::Module& module, lang::Diagnostics& diagnostics) {
    return typecheck::checkModule(module, session_.operators(), diagnostics);
  };
};

} // namespace

std::vector<std::string> namesWithGradient(const lang::Global& entry, const Program& program,
                                           const RunOptions& options) {
  std::vector<std::string> names;
  if (options.grad)
    for (size_t i : transform::parametersWithGradient(*entry.function, program.typing))
      names.emplace_back(entry.function->parameters[i]->name);
  return names;
}

bool writeOutDerivatives(Session& session, Program& program, const RunOptions& options,
                         const Look& look, Answer& answer) {
  if (!options.grad && !asksForDerivatives(*program.module))
    return true;
  Derivation derivation(session, program);
  bool isDone = derivation.run({"inlining", "derivatives"}) &&
                (!options.grad || derivation.differentiate(options.entry, options.grad));
  if (!isDone) {
    answer.errors += lang::renderDiagnostics(derivation.findings, session.sources(), options.file,
                                             {look.colour});
    answer.code = ExitCode::Program;
  }
  return isDone;
}

} // namespace driver
