// Scopes and form. The walk keeps its own stack and enters a block's variables in the order of the
// text: the variable of a let is in scope in its own value only when that is a function.
#include "lang/ir/verify.h"

#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "lang/source/findings.h"

#include <unordered_set>

namespace lang {

namespace {

enum class VarState : uint8_t { Unbound, InScope, Left };

/// A block that is being checked, and what it brings into scope besides its bindings.
struct Frame {
  const Block* block;
  const Function* function = nullptr;
  const Pattern* pattern = nullptr;
  size_t next = 0;
  bool isEntered = false;
  /// Bound by the last binding, in scope once the blocks inside its value are done.
  const Var* pending = nullptr;
};

class Verifier {
public:
  explicit Verifier(const Module& module)
      : module_(module), vars_(module.varCount), functions_(module.functionCount),
        globals_(module.globals.begin(), module.globals.end()) {}

  std::vector<std::string> run() {
    for (const Global* global : module_.globals)
      if (global->function) {
        found_.where = global->name;
        checkFunction(*global->function);
        walkFunction(*global->function);
      }
    return std::move(found_.sentences);
  }

private:
  static std::string nameOf(const Var& var) {
    return var.name.empty() ? fmt::format("variable number {}", var.number)
                            : fmt::format("`%{}`", var.name);
  }

  void bind(const Var* var, std::initializer_list<VarOrigin> origins) {
    if (!var)
      return found_.add("a binder has no variable");
    if (std::ranges::find(origins, var->origin) == origins.end())
      found_.add("{} is bound in a place that its origin does not allow", nameOf(*var));
    if (var->number >= vars_.size())
      return found_.add("{} has a number beyond those of the module", nameOf(*var));
    if (vars_[var->number] != VarState::Unbound)
      found_.add("{} is bound twice", nameOf(*var));
    vars_[var->number] = VarState::InScope;
  }

  void leave(const Var* var) {
    if (var && var->number < vars_.size())
      vars_[var->number] = VarState::Left;
  }

  void use(const Operand& operand) {
    if (!operand.value)
      return found_.add("an operand is missing");
    if (!operand.value->isAtom())
      return found_.add("an operand is no atom");
    checkAtom(*operand.value);
  }

  void checkAtom(const Expr& atom) {
    match(
        atom, [](const Expr&) {}, [&](const Var& var) { checkUse(var); },
        [&](const Constant& constant) {
          if (!constant.type || !constant.type->isTensor())
            found_.add("a constant has no tensor type");
          else if (!constant.tensor && !constant.type->shape.empty())
            found_.add("a constant of rank {} has no tensor", constant.type->shape.size());
        },
        [&](const Global& global) {
          if (!globals_.contains(&global))
            found_.add("`@{}` does not belong to the module", global.name);
        },
        [&](const OperatorRef& op) {
          if (!op.row)
            found_.add("an operator has no row");
        },
        [&](const Constructor& constructor) { checkConstructor(constructor); });
  }

  void checkUse(const Var& var) {
    if (var.number >= vars_.size())
      found_.add("{} has a number beyond those of the module", nameOf(var));
    else if (vars_[var.number] == VarState::Unbound)
      found_.add("{} is used before it is bound", nameOf(var));
    else if (vars_[var.number] == VarState::Left)
      found_.add("{} is used outside of its scope", nameOf(var));
  }

  void checkConstructor(const Constructor& constructor) {
    const TypeDefinition* type = constructor.definition;
    if (!type || constructor.index >= type->constructors.size() ||
        type->constructors[constructor.index] != &constructor)
      found_.add("constructor `{}` is not one of its type's", constructor.name);
  }

  void checkFunction(const Function& function) {
    if (function.number >= functions_.size())
      found_.add("a function has number {} beyond those of the module", function.number);
    else if (functions_[function.number])
      found_.add("two functions have the number {}", function.number);
    else
      functions_[function.number] = true;
  }

  void checkCall(const Call& call) {
    const auto* op = call.callee.value ? call.callee.value->as<OperatorRef>() : nullptr;
    if (!op || !op->row)
      return;
    const OperatorRow& row = *op->row;
    size_t rows = call.attributes ? call.attributes->rows.size() : 0;
    size_t values = call.attributes ? call.attributes->values.size() : 0;
    if (rows != row.attributes.size() || values != rows)
      found_.add("a call of `{}` has {} attribute values for {} attributes", row.name, values,
                 row.attributes.size());
    else if (rows != 0 && call.attributes->rows.data() != row.attributes.data())
      found_.add("a call of `{}` has the attributes of another operator", row.name);
  }

  void checkPattern(const Pattern& root) {
    std::vector<const Pattern*> stack{&root};
    while (!stack.empty()) {
      const Pattern* pattern = stack.back();
      stack.pop_back();
      if ((pattern->kind == PatternKind::Var) != (pattern->var != nullptr))
        found_.add("a pattern binds a variable that it does not name");
      if ((pattern->kind == PatternKind::Constructor) != (pattern->constructor != nullptr))
        found_.add("a pattern has a constructor that it does not name");
      if (pattern->constructor)
        checkConstructor(*pattern->constructor);
      stack.insert(stack.end(), pattern->parts.begin(), pattern->parts.end());
    }
  }

  void checkValue(const Expr& value) {
    if (value.isAtom())
      checkAtom(value);
    forEachOperand(value, [&](const Operand& operand) { use(operand); });
    if (const auto* call = value.as<Call>())
      checkCall(*call);
    if (const auto* function = value.as<Function>())
      checkFunction(*function);
    if (const auto* match = value.as<Match>())
      for (const Arm& arm : match->arms)
        checkPattern(*arm.pattern);
  }

  /// Puts the blocks of a value on the stack, the first on top.
  void pushBlocks(const Expr& value) {
    size_t first = stack_.size();
    forEachBlock(value, [&](const Block& block) { stack_.push_back({&block}); });
    if (const auto* function = value.as<Function>())
      stack_.back().function = function;
    if (const auto* match = value.as<Match>())
      for (size_t i = 0; i < match->arms.size(); ++i)
        stack_[first + i].pattern = match->arms[i].pattern;
    std::reverse(stack_.begin() + ptrdiff_t(first), stack_.end());
  }

  void enter(Frame& frame) {
    frame.isEntered = true;
    if (frame.function)
      for (const Var* parameter : frame.function->parameters)
        bind(parameter, {VarOrigin::Parameter, VarOrigin::Free});
    if (frame.pattern)
      forEachPatternVar(*frame.pattern, [&](const Var& var) { bind(&var, {VarOrigin::Pattern}); });
  }

  void leave(const Frame& frame) {
    for (const Binding& binding : frame.block->bindings)
      leave(binding.var);
    if (frame.function)
      for (const Var* parameter : frame.function->parameters)
        leave(parameter);
    if (frame.pattern)
      forEachPatternVar(*frame.pattern, [&](const Var& var) { leave(&var); });
  }

  void step(Frame& frame) {
    const Binding& binding = frame.block->bindings[frame.next++];
    if (!binding.var || !binding.value)
      return found_.add("a binding is incomplete");
    bool mayRecurse = binding.isLet() && binding.value->kind == ExprKind::Function;
    if (mayRecurse)
      bind(binding.var, {VarOrigin::Let});
    else
      frame.pending = binding.var;
    checkValue(*binding.value);
    pushBlocks(*binding.value);
  }

  void walkFunction(const Function& function) {
    stack_.push_back({function.body, &function});
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      if (!frame.isEntered)
        enter(frame);
      if (frame.pending)
        bind(std::exchange(frame.pending, nullptr), {VarOrigin::Let, VarOrigin::Temporary});
      if (frame.next < frame.block->bindings.size()) {
        step(frame);
        continue;
      }
      use(frame.block->result);
      leave(frame);
      stack_.pop_back();
    }
  }

  const Module& module_;
  Findings found_;
  std::vector<VarState> vars_;
  std::vector<bool> functions_;
  std::unordered_set<const Global*> globals_;
  std::vector<Frame> stack_;
};

} // namespace

std::vector<std::string> verify(const Module& module) {
  return Verifier(module).run();
}

} // namespace lang
