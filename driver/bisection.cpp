// Definitions are put together as texts: the text of a program after any pass reads back as the
// same program, and a definition has no other bond to its module than names.
#include "driver/bisection.h"

#include "driver/session/definition_text.h"
#include "driver/session/line_difference.h"
#include "driver/session/pass_options.h"
#include "driver/values/text.h"
#include "lang/calls/same_value.h"
#include "lang/ir/copy.h"
#include "lang/print/print.h"
#include "transform/differentiate/entry_gradient.h"
#include "transform/differentiate/pending_derivatives.h"
#include "typecheck/check.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace driver {

using runtime::RunFault;
using runtime::Value;

namespace {

/// A text made of definitions that were printed alone. Lines of graphs, `%0`, have one namespace
/// for the whole text, so each definition gets numbers behind those of the ones before.
class JoinedText {
public:
  std::string text = "#[version = \"0.0.5\"]\n";

  void add(std::string_view definition) {
    size_t end = next_;
    bool isString = false;
    for (size_t i = 0; i < definition.size(); ++i) {
      text += definition[i];
      if (definition[i] == '\\' && isString && i + 1 < definition.size())
        text += definition[++i];
      else if (definition[i] == '"')
        isString = !isString;
      else if (definition[i] == '%' && !isString)
        i += addNumber(definition.substr(i + 1), end);
    }
    next_ = end;
  }

private:
  /// The number that a text begins with, moved; answers with its length, which may be none.
  size_t addNumber(std::string_view from, size_t& end) {
    size_t number = 0;
    auto read = std::from_chars(from.data(), from.data() + from.size(), number);
    if (read.ec != std::errc())
      return 0;
    text += std::to_string(next_ + number);
    end = std::max(end, next_ + number + 1);
    return size_t(read.ptr - from.data());
  }

  size_t next_ = 0;
};

/// What passes keep is no matter of how much a run takes.
bool isOfLimits(const RunFault& fault) {
  using enum runtime::FaultKind;
  return fault.kind == Depth || fault.kind == Steps || fault.kind == Memory || fault.kind == Time;
}

} // namespace

Bisection::Bisection(Session& session, const lang::Module& module, const lang::Typing& typing,
                     std::string entry, std::vector<Value> arguments, interp::Options how,
                     unsigned order)
    : session_(session),
      entry_(std::move(entry)), gradients_{.global = entry_,
                                           .wanted = order,
                                           .mayGoForward = !transform::hasOwnRules(module)},
      arguments_(std::move(arguments)), how_(std::move(how)), good_(outcomeOf(module, typing)),
      before_(definitionsOf(module)) {
  if (!good_.end)
    notes_ = fmt::format("note: the program cannot be run before all passes: {}\n", good_.text);
}

Bisection::Outcome Bisection::outcomeOf(const lang::Module& module,
                                        const lang::Typing& typing) const {
  if (!transform::hasUnwritten(module) && gradients_.written == gradients_.wanted)
    return endOf(module, gradients_.global);
  std::string why;
  for (const auto* pipeline : {&transform::followedPipeline, &transform::followedCopiesPipeline,
                               &transform::derivativePipeline}) {
    lang::Diagnostics findings;
    const std::string_view entries[] = {entry_};
    transform::RunOptions options = passOptions(session_, entries, findings);
    options.after = options.within = {};
    auto made = transform::runPasses(module, typing, *pipeline, options);
    if (made) {
      Outcome outcome = gradientOf(*made->module, made->typing);
      outcome.isDerived = true;
      if (outcome.end)
        return outcome;
      why = outcome.text;
    } else {
      why = made.failure().text;
    }
  }
  return {.text = why};
}

Bisection::Outcome Bisection::gradientOf(const lang::Module& module,
                                         const lang::Typing& typing) const {
  GradientOrders orders = gradients_;
  auto add = [&](const lang::Module& from, const transform::PassContext& context) {
    return withNextOrder(from, context, orders);
  };
  transform::TypedModule made;
  for (; orders.written < orders.wanted; ++orders.written) {
    lang::Diagnostics findings;
    transform::RunOptions options = passOptions(session_, transform::mainAlone, findings);
    options.after = options.within = {};
    auto next = transform::runStep(made.module ? *made.module : module,
                                   made.module ? made.typing : typing, orders.step(), add, options);
    if (!next)
      return {.text = next.failure().text};
    made = *std::move(next);
    orders.global = made.module->globals.back()->name;
  }
  return endOf(made.module ? *made.module : module, orders.global);
}

/// Runs a copy, as passes drop what they were given.
Bisection::Outcome Bisection::endOf(const lang::Module& module, const std::string& called) const {
  std::shared_ptr<const lang::Module> own = lang::copyModule(module);
  lang::Diagnostics findings;
  const lang::Typing typing = typecheck::checkModule(*own, session_.operators(), findings);
  const lang::Global* entry = own->find(called);
  if (!entry || entry->function->parameters.size() != arguments_.size())
    return {.text = fmt::format("there is no `@{}` that takes the arguments", called)};
  auto end = interp::interpret(*own, typing, session_.operators(), *entry, arguments_, how_);
  const auto* fault = std::get_if<RunFault>(&end);
  if (fault && isOfLimits(*fault))
    return {.text = fault->problem.plain()};
  std::string text = fault ? "the fault: " + fault->problem.plain()
                           : valueText(std::get<Value>(end), session_.types(), typing);
  return {.end = std::move(end), .text = std::move(text), .module = std::move(own)};
}

const std::string* Bisection::Definitions::find(std::string_view global) const {
  auto found = std::ranges::find(globals, global, &Named::first);
  return found == globals.end() ? nullptr : &found->second;
}

Bisection::Definitions Bisection::definitionsOf(const lang::Module& module) const {
  constexpr int64_t everyElement = INT64_MAX;
  Definitions made;
  for (const lang::TypeDefinition* type :
       std::span(module.typeDefinitions).subspan(module.preludeTypes))
    made.types.emplace_back(type->name, definitionText(*type, lang::Notation::Relay) + '\n');
  for (const lang::Global* global : std::span(module.globals).subspan(module.preludeGlobals)) {
    if (!global->function)
      continue;
    lang::Printed printed =
        lang::printGlobal(module, *global, session_.operators(), {.mostInLiteral = everyElement});
    made.isWhole &= !printed.needsMetadata;
    made.globals.emplace_back(global->name, std::move(printed.text));
  }
  return made;
}

bool Bisection::isWrong(const Outcome& now) const {
  if (!good_.end || !now.end || std::holds_alternative<RunFault>(*good_.end))
    return false;
  const Value* value = std::get_if<Value>(&*now.end);
  const Value& wanted = std::get<Value>(*good_.end);
  if (!value)
    return true;
  auto rounds = [](const std::string& pass) {
    const transform::PassRow* row = transform::findPass(pass.substr(pass.find('/') + 1));
    return row && row->rounds;
  };
  bool isNear = good_.isDerived || std::ranges::any_of(skipped_, rounds);
  return isNear ? !lang::nearNumbers(wanted, *value) : !lang::sameNumbers(wanted, *value);
}

void Bisection::look(std::string_view pass, const lang::Module& module,
                     const lang::Typing& typing) {
  if (isFound_)
    return;
  if (pass == gradients_.step() && gradients_.written < gradients_.wanted) {
    ++gradients_.written;
    gradients_.global = module.globals.back()->name;
  }
  Outcome now = outcomeOf(module, typing);
  skipped_.emplace_back(pass);
  if (!now.end) {
    notes_ += fmt::format("note: the program cannot be run after `{}`: {}\n", pass, now.text);
    return;
  }
  if (isWrong(now)) {
    found_ = fmt::format("the pass `{}`{} changes what `@{}` gives\n  before: {}\n  after: {}\n",
                         pass, skipped_.size() > 1 ? ", or one since the last run," : "", entry_,
                         good_.text, now.text);
    blame(definitionsOf(module), /*isIllTyped=*/false);
    return;
  }
  ++compared_;
  skipped_.clear();
  good_ = std::move(now);
  before_ = definitionsOf(module);
}

void Bisection::refuse(const transform::PassFault& fault) {
  found_ = std::string(fault.what()) + '\n';
  isFound_ = true;
  if (fault.module)
    blame(definitionsOf(*fault.module), /*isIllTyped=*/true);
}

bool Bisection::isWrongWith(const Definitions& after, const std::vector<std::string>& changed,
                            size_t count, bool isIllTyped) const {
  JoinedText joined;
  for (const auto& [name, type] : before_.types)
    joined.text += type;
  for (const auto& [name, type] : after.types)
    if (std::ranges::count(before_.types, name, &Definitions::Named::first) == 0)
      joined.text += type;
  auto isTaken = [&](const std::string& name) {
    auto end = changed.begin() + ptrdiff_t(count);
    return std::find(changed.begin(), end, name) != end;
  };
  for (const auto& [name, definition] : before_.globals)
    joined.add(isTaken(name) ? *after.find(name) : definition);
  for (const auto& [name, definition] : after.globals)
    if (!before_.find(name))
      joined.add(definition);
  auto program = session_.loadText("mixed", std::move(joined.text));
  if (!program || !program->isGood())
    return isIllTyped;
  return !isIllTyped && isWrong(outcomeOf(*program->module, program->typing));
}

void Bisection::blame(const Definitions& after, bool isIllTyped) {
  isFound_ = true;
  std::vector<std::string> changed;
  for (const auto& [name, definition] : before_.globals)
    if (const std::string* now = after.find(name); now && *now != definition)
      changed.push_back(name);
  auto isWrongUpTo = [&](size_t count) { return isWrongWith(after, changed, count, isIllTyped); };
  const bool areTold = before_.isWhole && after.isWhole;
  if (changed.empty() || !areTold || !isWrongUpTo(changed.size()) || isWrongUpTo(0)) {
    found_ += fmt::format("no definition alone makes the difference; it changes {}\n",
                          changed.empty() ? "none that is in the text"
                                          : fmt::format("`@{}`", fmt::join(changed, "`, `@")));
    return;
  }
  // With the first `good` the program is as it was, with the first `bad` it is not.
  size_t good = 0, bad = changed.size();
  while (bad - good > 1) {
    size_t middle = good + (bad - good) / 2;
    (isWrongUpTo(middle) ? bad : good) = middle;
  }
  const std::string& name = changed[bad - 1];
  found_ += fmt::format("the first of its changes that matters is in `@{}`\n{}", name,
                        lineDifference(*before_.find(name), *after.find(name)));
}

std::string Bisection::report() const {
  if (isFound_)
    return "error: " + found_;
  if (!isCompared())
    return fmt::format("error: no run of `@{}` came to an end, so nothing was compared\n", entry_);
  return fmt::format("`@{}` gives the same after each of {} passes that were compared\n{}\n",
                     entry_, compared_, good_.text);
}

} // namespace driver
