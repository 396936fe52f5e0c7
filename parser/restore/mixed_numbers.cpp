// Marks what numbers go into, until nothing is new; blocks come behind the values that they are in.
#include "parser/restore/mixed_numbers.h"

#include "lang/ir/numbers_meant.h"

#include <algorithm>
#include <unordered_set>

namespace parser::restoring {

namespace {

/// More rounds than programs take that people write; then anything might be.
constexpr int mostRounds = 8;

class NumberFlow {
public:
  NumberFlow(const lang::Block& body, const lang::Typing& typing) : body_(body), typing_(typing) {}

  bool mixes() {
    for (int round = 0; round < mostRounds; ++round) {
      size_t before = open_.size();
      lang::walk(
          body_, [&](const lang::Binding& binding) { visit(binding); },
          [](const lang::Operand&) {});
      if (mixes_ || open_.size() == before)
        return mixes_;
    }
    return true;
  }

private:
  bool isOpen(const lang::Operand& operand) const { return isOpen(*operand.value); }
  bool isOpen(const lang::Expr& atom) const {
    if (const auto* var = atom.as<lang::Var>())
      return open_.contains(var);
    const auto* constant = atom.as<lang::Constant>();
    return constant && !constant->type->dtype.isBool();
  }

  const lang::Type* tensorOf(const lang::Operand& operand) const {
    const auto* constant = operand.value->as<lang::Constant>();
    const lang::Type* type = constant ? constant->type : typing_.of(*operand.value);
    return type && type->isTensor() ? type : nullptr;
  }

  void visit(const lang::Binding& binding) {
    if (const auto* match = binding.value->as<lang::Match>(); match && isOpen(match->scrutinee))
      for (const lang::Arm& arm : match->arms)
        lang::forEachPatternVar(*arm.pattern, [&](const lang::Var& var) { open_.insert(&var); });
    if (const auto* call = binding.value->as<lang::Call>())
      checkCall(*call);
    if (isOpenValue(*binding.value))
      open_.insert(binding.var);
  }

  bool isOpenValue(const lang::Expr& value) const {
    if (value.isAtom())
      return isOpen(value);
    const auto* call = value.as<lang::Call>();
    // Operands of operators are of types that go together; what data holds is not.
    bool isOperator = call && call->callee.value->as<lang::OperatorRef>();
    if (isOperator && std::ranges::any_of(call->arguments, [&](const lang::Operand& argument) {
          return tensorOf(argument) && !isOpen(argument);
        }))
      return false;
    bool found = false;
    lang::forEachOperand(value, [&](const lang::Operand& operand) { found |= isOpen(operand); });
    lang::forEachBlock(value, [&](const lang::Block& block) { found |= isOpen(block.result); });
    return found;
  }

  /// The signature of a definition says the types of its operands.
  void checkCall(const lang::Call& call) {
    if (call.callee.value->as<lang::Global>())
      return;
    const auto* op = call.callee.value->as<lang::OperatorRef>();
    bool meansReals = op && lang::meansReals(*op->row, call.arguments);
    for (const lang::Operand& argument : call.arguments) {
      const lang::Type* number = tensorOf(argument);
      mixes_ |= meansReals && argument.value->as<lang::Var>() && isOpen(argument) && number &&
                !number->dtype.isFloat() && !number->dtype.isBool();
    }
    for (const lang::Operand& left : call.arguments)
      for (const lang::Operand& right : call.arguments) {
        const lang::Type *number = tensorOf(left), *other = tensorOf(right);
        mixes_ |= left.value->as<lang::Var>() && isOpen(left) && number && other &&
                  number->dtype != other->dtype;
      }
  }

  const lang::Block& body_;
  const lang::Typing& typing_;
  std::unordered_set<const lang::Var*> open_;
  bool mixes_ = false;
};

} // namespace

bool mixesNumbers(const lang::Block& body, const lang::Typing& typing) {
  return NumberFlow(body, typing).mixes();
}

} // namespace parser::restoring
