// Atoms in attributes, and free variables of all functions in one walk.
//
// A use is free in every open function from the innermost one out to the one that binds the
// variable. Those that know of the variable already lie outside of those that don't, so it is
// enough to remember for each variable the innermost function that knows of it.
#include "lang/ir/walk.h"

namespace lang {

void forEachAttributeAtom(const Expr& expr, const std::function<void(const Expr&)>& visit) {
  std::vector<const AttributeValue*> stack;
  if (const auto* call = expr.as<Call>()) {
    for (const NamedAttribute& attribute : call->named)
      stack.push_back(&attribute.value);
    if (call->attributes)
      for (const AttributeValue& value : call->attributes->values)
        stack.push_back(&value);
  }
  if (const auto* function = expr.as<Function>())
    for (const NamedAttribute& attribute : function->attributes)
      stack.push_back(&attribute.value);
  while (!stack.empty()) {
    const AttributeValue* value = stack.back();
    stack.pop_back();
    if (value->expr)
      visit(*value->expr);
    for (const AttributeValue& item : value->items)
      stack.push_back(&item);
  }
}

namespace {

class FreeVariableSearch {
public:
  explicit FreeVariableSearch(const Module& module)
      : functions_(module.functionCount), vars_(module.varCount) {
    found_.of.resize(module.functionCount);
  }

  FreeVariables run(const Module& module) {
    for (const Global* global : module.globals)
      if (global->function) {
        open(*global->function);
        while (!frames_.empty())
          step();
      }
    return std::move(found_);
  }

private:
  struct OpenState {
    const Function* parent = nullptr;
    size_t depth = 0;
    bool isOpen = false;
  };
  /// A block in progress; with a function, its body.
  struct Frame {
    const Block* block;
    const Function* function = nullptr;
    size_t next = 0;
  };

  /// The innermost function so far that binds the variable or knows of it.
  const Function*& known(const Var& var) { return vars_[var.number]; }
  OpenState& state(const Function& function) { return functions_[function.number]; }

  void bind(const Var& var) {
    ++found_.steps;
    known(var) = chain_.back();
  }

  void open(const Function& function) {
    state(function) = {chain_.empty() ? nullptr : chain_.back(), chain_.size(), true};
    chain_.push_back(&function);
    for (const Var* parameter : function.parameters)
      bind(*parameter);
    frames_.push_back({function.body, &function});
  }

  void use(const Operand& operand) {
    ++found_.steps;
    const auto* var = operand.value->as<Var>();
    if (!var)
      return;
    const Function*& innermost = known(*var);
    for (; !state(*innermost).isOpen; innermost = state(*innermost).parent)
      ++found_.steps;
    for (size_t depth = state(*innermost).depth + 1; depth < chain_.size(); ++depth) {
      ++found_.steps;
      found_.of[chain_[depth]->number].push_back(var);
    }
    innermost = chain_.back();
  }

  void step() {
    Frame& frame = frames_.back();
    if (frame.next == frame.block->bindings.size()) {
      use(frame.block->result);
      if (frame.function) {
        state(*frame.function).isOpen = false;
        chain_.pop_back();
      }
      frames_.pop_back();
      return;
    }
    const Binding& binding = frame.block->bindings[frame.next++];
    bind(*binding.var);
    const Expr& value = *binding.value;
    if (value.isAtom())
      use({&value, value.range});
    forEachOperand(value, [&](const Operand& operand) { use(operand); });
    if (const auto* function = value.as<Function>())
      return open(*function);
    if (const auto* match = value.as<Match>())
      for (const Arm& arm : match->arms)
        forEachPatternVar(*arm.pattern, [&](const Var& var) { bind(var); });
    size_t nested = frames_.size();
    forEachBlock(value, [&](const Block& block) { frames_.push_back({&block}); });
    std::reverse(frames_.begin() + ptrdiff_t(nested), frames_.end());
  }

  std::vector<OpenState> functions_;
  /// The functions around the current place, outermost first.
  std::vector<const Function*> chain_;
  std::vector<const Function*> vars_;
  std::vector<Frame> frames_;
  FreeVariables found_;
};

} // namespace

FreeVariables freeVariables(const Module& module) {
  return FreeVariableSearch(module).run(module);
}

} // namespace lang
