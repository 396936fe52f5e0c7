// What only one side of a branch needs has no part in the derivative of the other side, where it
// may be no number. `graph-form` does the same and more, which is too much for a program whose
// steps somebody follows: here lets stay lets, in their order.
//
//   let %root = sqrt(%x);                  if (%x > 0f) {
//   if (%x > 0f) { %root } else { 0f }  =>   let %root = sqrt(%x);
//                                            %root
//                                          } else { 0f }
#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "transform/analysis/placement.h"
#include "transform/passes.h"

namespace transform {

using namespace lang;

namespace {

/// The functions that derivatives of a module may reach.
class Differentiated {
public:
  explicit Differentiated(const Module& module) {
    walk(
        module,
        [&](const Binding& binding) {
          definitions_[binding.var] = binding.value;
          const auto* call = binding.value->as<Call>();
          const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
          if (op && op->row->action == Action::Expand && !call->arguments.empty())
            open_.push_back(call->arguments[0].value);
        },
        [](const Operand&) {});
    while (!open_.empty()) {
      const Expr* atom = open_.back();
      open_.pop_back();
      if (seen_.insert(atom).second)
        enter(*atom);
    }
  }

  std::unordered_set<const Function*> functions;

private:
  void enter(const Expr& atom) {
    const auto* global = atom.as<Global>();
    if (global && global->function)
      return add(*global->function);
    auto definition = definitions_.find(atom.as<Var>());
    if (definition == definitions_.end())
      return;
    if (const auto* literal = definition->second->as<Function>())
      return add(*literal);
    if (definition->second->isAtom())
      open_.push_back(definition->second);
    forEachOperand(*definition->second,
                   [&](const Operand& operand) { open_.push_back(operand.value); });
    forEachBlock(*definition->second, [&](const Block& block) { add(block); });
  }

  void add(const Function& function) {
    functions.insert(&function);
    add(*function.body);
  }

  void add(const Block& block) {
    walk(
        block,
        [&](const Binding& binding) {
          if (const auto* literal = binding.value->as<Function>())
            functions.insert(literal);
        },
        [&](const Operand& operand) { open_.push_back(operand.value); });
  }

  std::unordered_map<const Expr*, const Expr*> definitions_;
  std::vector<const Expr*> open_;
  std::unordered_set<const Expr*> seen_;
};

} // namespace

std::unique_ptr<Module> letSinking(const Module& module, const PassContext& context) {
  return place(module, context.operators, {.sinksLetsOf = Differentiated(module).functions});
}

} // namespace transform
