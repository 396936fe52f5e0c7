// Counting uses. Only what the result and the lets reach counts: an unused temporary is not printed
// and neither are its uses.
#include "lang/print/vars.h"

namespace lang::printing {

PrintedVar& PrintedVars::operator[](const Var& var) {
  if (var.number >= vars_.size())
    vars_.resize(std::max<size_t>(var.number + size_t(1), 2 * vars_.size()));
  return vars_[var.number];
}

const Var* PrintedVars::temporary(const Expr* atom) {
  const Var* var = atom->as<Var>();
  return var && var->origin == VarOrigin::Temporary && (*this)[*var].value ? var : nullptr;
}

const Var* PrintedVars::soleTemporary(const Expr* atom) {
  const Var* var = temporary(atom);
  return var && (*this)[*var].uses == 1 && !(*this)[*var].isFinished() ? var : nullptr;
}

const Expr* PrintedVars::resolve(const Expr* atom) {
  for (;;) {
    const Var* var = temporary(atom);
    if (!var || !(*this)[*var].value->isAtom())
      return atom;
    atom = (*this)[*var].value;
  }
}

void PrintedVars::use(const Expr* atom) {
  atom = resolve(atom);
  const Var* var = atom->as<Var>();
  if (var && (*this)[*var].uses++ == 0 && temporary(var))
    values_.push_back((*this)[*var].value);
}

void PrintedVars::enter(const Block& block) {
  for (const Binding& binding : block.bindings)
    if (!binding.isLet())
      (*this)[*binding.var].value = binding.value;
  for (const Binding& binding : block.bindings) {
    if (binding.isLet() && binding.value->isAtom())
      use(binding.value);
    else if (binding.isLet())
      values_.push_back(binding.value);
  }
  use(block.result.value);
}

void PrintedVars::countAll() {
  while (!values_.empty() || !blocks_.empty()) {
    if (values_.empty()) {
      const Block* block = blocks_.back();
      blocks_.pop_back();
      enter(*block);
      continue;
    }
    const Expr* value = values_.back();
    values_.pop_back();
    forEachOperand(*value, [&](const Operand& operand) { use(operand.value); });
    forEachBlock(*value, [&](const Block& block) { blocks_.push_back(&block); });
  }
}

void PrintedVars::count(const Block& root) {
  blocks_.push_back(&root);
  countAll();
}

void PrintedVars::count(const Expr& root) {
  if (root.isAtom())
    use(&root);
  else
    values_.push_back(&root);
  countAll();
}

} // namespace lang::printing
