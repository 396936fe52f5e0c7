// The order of checking: strongly connected groups of globals, callees first.
#include "typecheck/check.h"

#include "lang/ir/components.h"
#include "lang/ir/walk.h"
#include "typecheck/complete.h"
#include "typecheck/infer.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace typecheck {

using lang::Global;

namespace {

/// Globals that mention each other, or may by calls of records, those that others mention before
/// them.
std::vector<std::vector<const Global*>> groupsOf(const lang::Module& module,
                                                 const RecordCalls* records) {
  std::vector<const Global*> globals = module.globals;
  // What a pattern or a function literal names may be any record, so their functions come first.
  if (records)
    std::ranges::stable_partition(
        globals, [&](const Global* global) { return records->isFunctionOfRecord(*global); });
  // Defaults are checked where they stand in.
  size_t numbers = globals.size();
  std::erase_if(globals,
                [&](const Global* global) { return records && records->isDefault(*global); });
  std::vector<uint32_t> nodes(numbers);
  for (uint32_t node = 0; node < globals.size(); ++node)
    nodes[globals[node]->number] = node;
  std::vector<std::vector<uint32_t>> mentions(globals.size());
  std::unordered_map<const lang::Var*, const lang::Expr*> values;
  auto addRecord = [&](uint32_t node, const lang::Binding& binding) {
    if (!records)
      return;
    values[binding.var] = binding.value;
    const auto* call = binding.value->as<lang::Call>();
    const auto* callee = call ? call->callee.value->as<lang::Var>() : nullptr;
    if (callee)
      for (const Global* meant : records->candidates(*callee, values[callee]))
        mentions[node].push_back(nodes[meant->number]);
  };
  auto addMentions = [&](uint32_t node, const lang::Function& function) {
    lang::walk(
        *function.body, [&](const lang::Binding& binding) { addRecord(node, binding); },
        [&](const lang::Operand& operand) {
          if (const auto* mentioned = operand.value->as<Global>())
            mentions[node].push_back(nodes[mentioned->number]);
        });
  };
  for (uint32_t node = 0; node < globals.size(); ++node) {
    addMentions(node, *globals[node]->function);
    if (records)
      for (const Global* value : records->defaultsOf(*globals[node]))
        addMentions(node, *value->function);
  }
  std::vector<std::vector<const Global*>> groups;
  for (const std::vector<uint32_t>& component : lang::componentsOf(mentions)) {
    groups.emplace_back();
    for (uint32_t node : component)
      groups.back().push_back(globals[node]);
  }
  return groups;
}

/// Infers a group, and all instances of open definitions that it asks for, before it goes on.
/// Groups that wait lie on a stack of their own, as definitions may use each other in chains of any
/// length.
class Runner {
public:
  Runner(Checking& checking, lang::Diagnostics& diagnostics)
      : checking_(checking), diagnostics_(diagnostics) {}

  void run(const std::vector<const Global*>& group) {
    push(group, nullptr);
    while (!stack_.empty()) {
      Step& step = stack_.back();
      if (Instance* next = nextNeeded(step))
        push(next->group, next);
      else if (step.inference->advance())
        finish();
      else
        needInstances(step);
    }
  }

private:
  struct Step {
    std::unique_ptr<lang::Diagnostics> own;
    std::unique_ptr<Inference> inference;
    Instance* instance;
    /// The instances that it waits for.
    std::vector<Instance*> needed = {};
  };

  /// What an instance needs was never begun before it: those that need each other are one.
  static void needInstances(Step& step) {
    auto needed = step.inference->needed();
    step.needed.assign(needed.begin(), needed.end());
    if (std::ranges::all_of(step.needed, &Instance::isBegun))
      throw std::logic_error("a definition waits for itself");
  }

  /// The next instance that a step waits for and nobody has begun; null when all are done.
  static Instance* nextNeeded(Step& step) {
    while (!step.needed.empty()) {
      Instance* next = step.needed.back();
      step.needed.pop_back();
      if (!next->isBegun)
        return next;
    }
    return nullptr;
  }

  /// What is wrong with an instance is told where it is used.
  void push(const std::vector<const Global*>& group, Instance* instance) {
    if (instance)
      instance->isBegun = true;
    Step step{instance ? std::make_unique<lang::Diagnostics>() : nullptr, nullptr, instance};
    if (!instance)
      step.inference = std::move(idle_);
    if (!step.inference)
      step.inference = std::make_unique<Inference>(checking_, instance ? *step.own : diagnostics_);
    step.inference->start(group);
    stack_.push_back(std::move(step));
  }

  /// What is doubtful in instances is told where it stands, once.
  void tellDoubts(const lang::Diagnostics& own) {
    for (const lang::Diagnostic& finding : own.all()) {
      auto isTold = [&](const lang::Diagnostic& told) {
        return told.range == finding.range && told.text.plain() == finding.text.plain();
      };
      if (finding.message == lang::Message::DoubtfulCall &&
          std::ranges::none_of(diagnostics_.all(), isTold))
        diagnostics_.report(finding.message, finding.range, "", "") = finding;
    }
  }

  void finish() {
    Step& step = stack_.back();
    if (step.instance) {
      step.instance->isDone = true;
      for (const lang::Diagnostic& finding : step.own->all())
        if (finding.severity() == lang::Severity::Error && !step.instance->problem)
          step.instance->problem = finding;
      if (!step.instance->problem)
        tellDoubts(*step.own);
    } else {
      idle_ = std::move(step.inference);
    }
    stack_.pop_back();
  }

  Checking& checking_;
  lang::Diagnostics& diagnostics_;
  std::vector<Step> stack_;
  /// Of a group of the program that is done, for the next one.
  std::unique_ptr<Inference> idle_;
};

std::string firstError(const lang::Diagnostics& findings) {
  for (const lang::Diagnostic& finding : findings.all())
    if (finding.severity() == lang::Severity::Error)
      return finding.text.plain();
  return "";
}

void inferAll(Checking& checking, lang::Diagnostics& diagnostics) {
  Runner runner(checking, diagnostics);
  for (const auto& group : groupsOf(checking.module, checking.records.get()))
    runner.run(group);
}

} // namespace

/// Whether all errors are sizes that are not what calls ask of them: where a shape is computed,
/// that is known once its sizes have become numbers.
static bool areOfSizes(const lang::Diagnostics& findings) {
  return findings.hasErrors() && std::ranges::all_of(findings.all(), [](const auto& finding) {
           return finding.severity() != lang::Severity::Error ||
                  finding.message == lang::Message::DimensionBound ||
                  finding.message == lang::Message::DimensionMultiple;
         });
}

lang::Typing checkModule(const lang::Module& module, const lang::OperatorTable& operators,
                         lang::Diagnostics& diagnostics) {
  Checking checking(module, nullptr, operators);
  inferAll(checking, diagnostics);
  return std::move(checking.typing);
}

Checked checkAndComplete(std::unique_ptr<lang::Module> module, const lang::OperatorTable& operators,
                         lang::Diagnostics& diagnostics) {
  if (!module->isOpen) {
    lang::Typing typing = checkModule(*module, operators, diagnostics);
    return {std::move(module), std::move(typing)};
  }
  auto checking = std::make_unique<Checking>(*module, module.get(), operators);
  inferAll(*checking, diagnostics);
  std::vector<lang::SourceRange> open;
  for (const Global* global : module->globals)
    if (checking->open.isOpen(*global))
      open.push_back(global->range);
  std::unique_ptr<lang::Module> completed;
  if (!diagnostics.hasErrors())
    completed = complete(*module, *checking, diagnostics);
  if (diagnostics.hasErrors())
    return {std::move(module), std::move(checking->typing), std::move(open)};
  // Their memory is for the next check.
  checking = nullptr;
  module = nullptr;
  // What is doubtful was told of the program as it is written.
  lang::Diagnostics silent;
  lang::Typing typing = checkModule(*completed, operators, silent);
  if (areOfSizes(silent)) {
    diagnostics.append(silent);
    return {std::move(completed), std::move(typing), std::move(open)};
  }
  if (silent.hasErrors())
    throw std::logic_error("completion gives an ill-typed module: " + firstError(silent));
  return {std::move(completed), std::move(typing), std::move(open)};
}

} // namespace typecheck
