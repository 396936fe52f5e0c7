// Scopes and form. The walk keeps its own stack and enters a block's variables in the order of the
// text: the variable of a let is in scope in its own value only when that is a function.
#include "lang/verify.h"

#include "lang/op.h"
#include "lang/walk.h"

#include <unordered_set>

#include <fmt/format.h>

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
        where_ = global->name;
        checkFunction(*global->function);
        walkFunction(*global->function);
      }
    return std::move(problems_);
  }

private:
  template <typename... Args>
  void report(fmt::format_string<Args...> format, Args&&... args) {
    problems_.push_back(fmt::format("in `@{}`: ", where_) +
                        fmt::format(format, std::forward<Args>(args)...));
  }

  static std::string nameOf(const Var& var) {
    return var.name.empty() ? fmt::format("variable number {}", var.number)
                            : fmt::format("`%{}`", var.name);
  }

  void bind(const Var* var, std::initializer_list<VarOrigin> origins) {
    if (!var)
      return report("a binder has no variable");
    if (std::ranges::find(origins, var->origin) == origins.end())
      report("{} is bound in a place that its origin does not allow", nameOf(*var));
    if (var->number >= vars_.size())
      return report("{} has a number beyond those of the module", nameOf(*var));
    if (vars_[var->number] != VarState::Unbound)
      report("{} is bound twice", nameOf(*var));
    vars_[var->number] = VarState::InScope;
  }

  void leave(const Var* var) {
    if (var && var->number < vars_.size())
      vars_[var->number] = VarState::Left;
  }

  void use(const Operand& operand) {
    if (!operand.value)
      return report("an operand is missing");
    if (!operand.value->isAtom())
      return report("an operand is no atom");
    checkAtom(*operand.value);
  }

  void checkAtom(const Expr& atom) {
    match(
        atom, [](const Expr&) {}, [&](const Var& var) { checkUse(var); },
        [&](const Constant& constant) {
          if (!constant.type || !constant.type->isTensor())
            report("a constant has no tensor type");
          else if (!constant.tensor && !constant.type->shape.empty())
            report("a constant of rank {} has no tensor", constant.type->shape.size());
        },
        [&](const Global& global) {
          if (!globals_.contains(&global))
            report("`@{}` does not belong to the module", global.name);
        },
        [&](const OperatorRef& op) {
          if (!op.row)
            report("an operator has no row");
        },
        [&](const Constructor& constructor) { checkConstructor(constructor); });
  }

  void checkUse(const Var& var) {
    if (var.number >= vars_.size())
      report("{} has a number beyond those of the module", nameOf(var));
    else if (vars_[var.number] == VarState::Unbound)
      report("{} is used before it is bound", nameOf(var));
    else if (vars_[var.number] == VarState::Left)
      report("{} is used outside of its scope", nameOf(var));
  }

  void checkConstructor(const Constructor& constructor) {
    const TypeDefinition* type = constructor.definition;
    if (!type || constructor.index >= type->constructors.size() ||
        type->constructors[constructor.index] != &constructor)
      report("constructor `{}` is not one of its type's", constructor.name);
  }

  void checkFunction(const Function& function) {
    if (function.number >= functions_.size())
      report("a function has number {} beyond those of the module", function.number);
    else if (functions_[function.number])
      report("two functions have the number {}", function.number);
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
      report("a call of `{}` has {} attribute values for {} attributes", row.name, values,
             row.attributes.size());
    else if (rows != 0 && call.attributes->rows.data() != row.attributes.data())
      report("a call of `{}` has the attributes of another operator", row.name);
  }

  void checkPattern(const Pattern& root) {
    std::vector<const Pattern*> stack{&root};
    while (!stack.empty()) {
      const Pattern* pattern = stack.back();
      stack.pop_back();
      if ((pattern->kind == PatternKind::Var) != (pattern->var != nullptr))
        report("a pattern binds a variable that it does not name");
      if ((pattern->kind == PatternKind::Constructor) != (pattern->constructor != nullptr))
        report("a pattern has a constructor that it does not name");
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
      return report("a binding is incomplete");
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
  std::string_view where_;
  std::vector<VarState> vars_;
  std::vector<bool> functions_;
  std::unordered_set<const Global*> globals_;
  std::vector<Frame> stack_;
  std::vector<std::string> problems_;
};

} // namespace

std::vector<std::string> verify(const Module& module) {
  return Verifier(module).run();
}

} // namespace lang
