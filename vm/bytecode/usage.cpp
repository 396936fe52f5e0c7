// Recursion follows the nesting of blocks, which the reader bounds.
#include "vm/bytecode/usage.h"

#include "lang/ir/walk.h"

#include <algorithm>
#include <unordered_set>

namespace bytecode {

using namespace lang;

bool Itself::isCalledBy(const Expr& value) const {
  const auto* call = value.as<Call>();
  return call && (call->callee.value == global || call->callee.value == var);
}

Usage::Usage(const Function& function, Itself itself,
             const std::vector<std::vector<const Var*>>& freeVariables)
    : itself_(itself), free_(freeVariables) {
  addBlock(*function.body, true);
}

void Usage::addBlock(const Block& block, bool isTail) {
  uses_.beginBlock();
  bindings_ += block.bindings.size();
  auto use = [&](const Expr& atom, uint32_t times) {
    const auto* var = atom.as<Var>();
    if (!var)
      return;
    uses_.use(*var);
    counts_[var] += times;
  };
  for (size_t i = 0; i < block.bindings.size(); ++i) {
    const Expr& value = *block.bindings[i].value;
    bool isLast =
        isTail && i + 1 == block.bindings.size() && block.result.value == block.bindings[i].var;
    uses_.beginBinding();
    if (value.isAtom())
      use(value, 1);
    forEachOperand(value, [&](const Operand& operand) { use(*operand.value, 1); });
    if (const auto* project = value.as<Project>())
      if (const auto* var = project->tuple.value->as<Var>())
        projections_[var].push_back({&block, i});
    if (fieldsMade(value) > 0)
      forEachOperand(value, [&](const Operand& operand) {
        if (const auto* var = operand.value->as<Var>())
          constructions_[var] = {&block, i};
      });
    if (isFunctionCall(value)) {
      calling_.insert(&block);
      if (const auto* var = value.as<Call>()->callee.value->as<Var>())
        ++calls_[var];
      std::span<const Operand> arguments = value.as<Call>()->arguments;
      for (size_t k = 0; k < arguments.size(); ++k)
        if (const auto* var = arguments[k].value->as<Var>())
          arguments_[var] = {uint32_t(k), isLast || (isTail && isWrappedCall(block, i, itself_))};
    }
    if (const auto* nested = value.as<Function>()) {
      for (const Var* var : free_[nested->number])
        use(*var, 2);
      continue;
    }
    forEachBlock(value, [&](const Block& inner) {
      addBlock(inner, isLast);
      if (calls(inner))
        calling_.insert(&block);
    });
  }
  uses_.beginBinding();
  use(*block.result.value, 1);
  uses_.endBlock(block);
}

uint32_t Usage::count(const Var& var) const {
  auto found = counts_.find(&var);
  return found == counts_.end() ? 0 : found->second;
}

bool isFunctionCall(const Expr& value) {
  const auto* call = value.as<Call>();
  return call && !call->callee.value->as<OperatorRef>() && !call->callee.value->as<Constructor>();
}

bool isWrappedCall(const Block& block, size_t at, Itself itself) {
  std::span<const Binding> bindings = block.bindings;
  if (at + 1 >= bindings.size() || !itself.isCalledBy(*bindings[at].value))
    return false;
  std::unordered_set<const Expr*> inside;
  for (size_t i = at + 1; i < bindings.size(); ++i) {
    const Expr* innermost = bindings[i - 1].var;
    size_t uses = 0;
    forEachOperand(*bindings[i].value, [&](const Operand& operand) {
      uses += operand.value == innermost ? 1 : inside.contains(operand.value) ? 2 : 0;
    });
    if (uses != 1 || fieldsMade(*bindings[i].value) == 0)
      return false;
    inside.insert(innermost);
  }
  return block.result.value == bindings.back().var;
}

namespace {

/// What is still needed behind the place at hand in a function.
class Lifetimes {
public:
  Lifetimes(const Function& function, const Global& global,
            const std::vector<std::vector<const Var*>>& free)
      : usage_(function, Itself{.global = &global}, free) {}

  void enter(const Block& block) { open_.push_back({&block, 0}); }
  void leave() { open_.pop_back(); }
  /// The place is a binding of the innermost block.
  void moveTo(size_t binding) {
    open_.back().binding = binding;
    levels_[open_.back().block->bindings[binding].var] = open_.size() - 1;
  }

  /// Whether nothing behind the place needs a variable, which is one of this function's.
  bool dies(const Var& var) const {
    auto level = levels_.find(&var);
    for (size_t i = open_.size(); i-- > (level == levels_.end() ? 0 : level->second);) {
      auto last = usage_.last(*open_[i].block, var);
      if (last && *last > open_[i].binding)
        return false;
    }
    return true;
  }

private:
  struct Open {
    const Block* block;
    size_t binding;
  };

  Usage usage_;
  /// The blocks around the place, and in which of them a variable is bound.
  std::vector<Open> open_;
  std::unordered_map<const Var*, size_t> levels_;
};

/// Looks for parameters that a function does not only borrow, given what is known of the others.
class OwnershipFinder {
public:
  OwnershipFinder(const Module& module, const Typing& typing, OwnedParameters& owned)
      : typing_(typing), owned_(owned), free_(freeVariables(module).of), waits_(owned.size()) {
    for (const Global* global : module.globals) {
      if (!global->function)
        continue;
      wait(*global);
      walk(
          *global->function->body, [](const Binding&) {},
          [&](const Operand& operand) {
            if (const auto* mentioned = operand.value->as<Global>())
              callers_[mentioned].insert(global);
          });
    }
  }

  /// Those that are called mostly stand behind their callers, so the last ones are looked at first.
  void run() {
    while (!waiting_.empty()) {
      const Global& global = *waiting_.back();
      waiting_.pop_back();
      waits_[global.number] = false;
      look(global);
    }
  }

private:
  void wait(const Global& global) {
    if (!waits_[global.number])
      waiting_.push_back(&global);
    waits_[global.number] = true;
  }

  void look(const Global& global) {
    parameters_.clear();
    global_ = &global;
    const Function& function = *global.function;
    for (size_t i = 0; i < function.parameters.size(); ++i)
      parameters_[function.parameters[i]] = i;
    borrowed_.clear();
    for (const Var* parameter : function.parameters)
      if (!owned_[global.number][parameters_[parameter]])
        borrowed_.insert(parameter);
    lifetimes_.emplace(function, global, free_);
    lookAt(*function.body, true);
  }

  void own(const Global& global, size_t parameter) {
    if (owned_[global.number][parameter])
      return;
    owned_[global.number][parameter] = true;
    wait(global);
    for (const Global* caller : callers_[&global])
      wait(*caller);
  }

  void consume(const Expr& atom) {
    const auto* var = atom.as<Var>();
    if (!var)
      return;
    if (auto found = parameters_.find(var); found != parameters_.end())
      own(*global_, found->second);
  }

  void lookAt(const Block& block, bool isTail) {
    lifetimes_->enter(block);
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      const Binding& binding = block.bindings[i];
      lifetimes_->moveTo(i);
      bool isLast = isTail && i + 1 == block.bindings.size() && block.result.value == binding.var;
      lookAt(binding, isLast || (isTail && isWrappedCall(block, i, {.global = global_})));
    }
    consume(*block.result.value);
    lifetimes_->leave();
  }

  void lookAt(const Binding& binding, bool isLast) {
    const Expr& value = *binding.value;
    if (value.isAtom())
      return consume(value);
    if (const auto* call = value.as<Call>())
      return lookAt(*call, isLast);
    if (const auto* function = value.as<Function>()) {
      for (const Var* var : free_[function->number])
        consume(*var);
      return;
    }
    if (const auto* project = value.as<Project>())
      return derive(*project->tuple.value, *binding.var);
    if (const auto* match = value.as<Match>())
      lookAt(*match);
    else if (!value.as<If>())
      forEachOperand(value, [&](const Operand& operand) { consume(*operand.value); });
    forEachBlock(value, [&](const Block& block) { lookAt(block, isLast); });
  }

  /// What is taken out of what is borrowed is borrowed too.
  void derive(const Expr& from, const Var& var) {
    const auto* owner = from.as<Var>();
    if (owner && borrowed_.contains(owner))
      borrowed_.insert(&var);
  }

  void lookAt(const Match& match) {
    for (const Arm& arm : match.arms) {
      forEachPatternVar(*arm.pattern, [&](const Var& var) { derive(*match.scrutinee.value, var); });
      size_t fields = arm.pattern->parts.size();
      if (fields > 0 && constructions_.find(*arm.body, 0, fields) < arm.body->bindings.size())
        consume(*match.scrutinee.value);
    }
  }

  void lookAt(const Call& call, bool isLast) {
    const auto* global = call.callee.value->as<Global>();
    bool isOperator = call.callee.value->as<OperatorRef>();
    for (size_t i = 0; i < call.arguments.size() && !isOperator; ++i) {
      const Expr& argument = *call.arguments[i].value;
      if (!global || !global->function || owned_[global->number][i]) {
        consume(argument);
        continue;
      }
      const auto* var = argument.as<Var>();
      if (var && !borrowed_.contains(var) &&
          (isLast || (holdsTensor(*var) && lifetimes_->dies(*var))))
        own(*global, i);
    }
  }

  /// Whether a variable is a tensor or a tuple with one in it.
  bool holdsTensor(const Var& var) const {
    const Type* type = typing_.of(var);
    return type && holdsTensor(*type);
  }

  static bool holdsTensor(const Type& type) {
    return (type.isTensor() && !type.shape.empty()) ||
           (type.isTuple() &&
            std::ranges::any_of(type.parts, [](const Type* part) { return holdsTensor(*part); }));
  }

  const Typing& typing_;
  OwnedParameters& owned_;
  Constructions constructions_;
  std::vector<std::vector<const Var*>> free_;
  std::unordered_map<const Global*, std::unordered_set<const Global*>> callers_;
  std::vector<const Global*> waiting_;
  /// By Global::number.
  std::vector<bool> waits_;
  const Global* global_ = nullptr;
  std::unordered_map<const Var*, size_t> parameters_;
  std::optional<Lifetimes> lifetimes_;
  /// Parameters that are borrowed as far as is known, and what is taken out of them.
  std::unordered_set<const Var*> borrowed_;
};

} // namespace

OwnedParameters findOwnedParameters(const Module& module, const Typing& typing) {
  OwnedParameters owned;
  for (const Global* global : module.globals) {
    owned.resize(std::max(owned.size(), global->number + size_t(1)));
    owned[global->number].resize(global->function ? global->function->parameters.size() : 0);
  }
  OwnershipFinder(module, typing, owned).run();
  return owned;
}

} // namespace bytecode
