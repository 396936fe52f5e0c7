// What a run asks of pipelines and of the steps between them, and what stands in the way.
#include "driver/session/derive.h"

#include "driver/session/find_global.h"
#include "driver/session/load.h"
#include "driver/session/pass_options.h"
#include "driver/session/user_places.h"
#include "lang/ir/walk.h"
#include "transform/differentiate/entry_gradient.h"

#include <stdexcept>

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

} // namespace

bool Derivation::run(const transform::Pipeline& pipeline, transform::Entries entries) {
  return goOn(transform::runPasses(*program_.module, program_.typing, pipeline,
                                   passOptions(session_, entries, findings)));
}

bool Derivation::add(std::string_view name, transform::StepFunction make) {
  transform::RunOptions options = passOptions(session_, transform::mainAlone, findings);
  options.declaring = transform::Declaring::WhenNeeded;
  return goOn(transform::runStep(*program_.module, program_.typing, name, make, options));
}

/// What is found in functions of the prelude is told of their uses, which the first module has.
bool Derivation::goOn(runtime::Checked<transform::TypedModule> made) {
  if (!made && !findings.hasErrors())
    throw std::logic_error(made.failure().text);
  if (!made) {
    placeInProgram(findings, written_ ? *written_ : *program_.module, *program_.source);
    return false;
  }
  if (!written_)
    written_ = std::move(program_.module);
  program_.module = std::move(made->module);
  program_.typing = std::move(made->typing);
  return true;
}

bool Derivation::writeOut(transform::Entries entries) {
  return run(transform::derivativePipeline, entries);
}

/// Code that is as it was written can nearly always be differentiated; generic functions are copied
/// if need be, and only what is not known otherwise is put in the places of its calls.
bool Derivation::writeOutSteps(transform::Entries entries) {
  for (const auto* pipeline : {&transform::followedPipeline, &transform::followedCopiesPipeline}) {
    if (run(*pipeline, entries))
      return true;
    findings = {};
  }
  return writeOut(entries);
}

bool Derivation::clean(std::string_view entry) {
  return run(transform::gradientPipeline, std::array{entry});
}

std::unique_ptr<lang::Module> withNextOrder(const lang::Module& module,
                                            const transform::PassContext& context,
                                            const GradientOrders& orders) {
  if (orders.written)
    return transform::withNextGradient(module, context, orders.global, orders.mayGoForward,
                                       orders.written + 1 == orders.wanted);
  return transform::withEntryGradient(module, context, orders.global,
                                      orders.mayGoForward && orders.wanted > 1);
}

bool Derivation::addGradient(std::string_view entry, unsigned order) {
  GradientOrders orders{.global = std::string(entry),
                        .wanted = order,
                        .mayGoForward = !transform::hasOwnRules(*program_.module)};
  auto next = [&](const lang::Module& module, const transform::PassContext& context) {
    return withNextOrder(module, context, orders);
  };
  for (; orders.written < order; ++orders.written) {
    if (!add(orders.step(), next) || !clean(std::string(program_.module->globals.back()->name)))
      return false;
    orders.global = program_.module->globals.back()->name;
  }
  return true;
}

std::vector<std::string> namesWithGradient(const lang::Global& entry, const Program& program,
                                           const RunOptions& options) {
  std::vector<std::string> names;
  if (options.grad)
    for (size_t i : transform::parametersWithGradient(*entry.function, program.typing))
      names.emplace_back(entry.function->parameters[i]->name);
  return names;
}

bool writeOutDerivatives(Session& session, Program& program, transform::Entries entries,
                         const RunOptions& options, const Look& look, Answer& answer) {
  if (!options.grad && !asksForDerivatives(*program.module))
    return true;
  program.written = writtenIn(*program.module);
  Derivation derivation(session, program);
  const bool isFollowed = (options.isFollowed || options.trace) && !options.grad;
  bool isDone = (isFollowed ? derivation.writeOutSteps(entries) : derivation.writeOut(entries)) &&
                (!options.grad || derivation.addGradient(entries.front(), options.grad));
  if (!isDone) {
    answer.errors += findingsText(session, derivation.findings, options.file, look);
    answer.code = ExitCode::Program;
  }
  return isDone;
}

std::optional<ReadyProgram> loadReady(Session& session, Input input,
                                      std::span<const std::string> entries, const Look& look,
                                      Answer& answer, bool isFollowed,
                                      const std::function<bool(ReadyProgram&)>& first) {
  const std::string file = input.path();
  auto program = loadGood(session, std::move(input), look, answer);
  if (!program)
    return std::nullopt;
  ReadyProgram ready{*std::move(program)};
  const std::string usual = "main";
  for (const std::string& entry : entries.empty() ? std::span(&usual, 1) : entries) {
    const lang::Global* global = findGlobal(ready.program, entry, "--entry", answer);
    if (!global)
      return std::nullopt;
    if (std::ranges::count(ready.entries, global->name) == 0)
      ready.entries.emplace_back(global->name);
  }
  if (first && !first(ready))
    return std::nullopt;
  const std::vector<std::string_view> names(ready.entries.begin(), ready.entries.end());
  if (!writeOutDerivatives(session, ready.program, names, {.file = file, .isFollowed = isFollowed},
                           look, answer))
    return std::nullopt;
  return ready;
}

} // namespace driver
