// The walk over the definitions of a group that gives every variable a type, and asks relations
// what operators give.
//
// Recursion follows the nesting of functions, branches and arms, which the reader bounds; blocks
// are loops.
#pragma once

#include "typecheck/mentions.h"

#include <memory>

namespace typecheck {

class Walk {
public:
  Walk(Group& group, GroupSizes& sizes, Mentions& mentions);

  /// Walks over all definitions of the group.
  void definitions();
  /// Goes on with the instance of one use of an open definition, as a part of the group, with a
  /// call, or with an operator as a value.
  void goOn(PendingRelation& relation);

private:
  const Type* declare(const lang::Function& function);
  void inferBody(const lang::Function& function);
  void checkBody(const lang::Function& function, const Type* body);
  void inferBinding(const lang::Binding& binding);
  void inferFunctionBinding(const lang::Binding& binding, const lang::Function& function);

  // Each returns the type of the value.
  const Type* inferBlock(const lang::Block& block);
  const Type* infer(const lang::Expr& expr);
  const Type* inferOperand(const lang::Operand& operand, bool mayBeOperator = false);
  const Type* inferHole(const lang::Hole& hole);
  const Type* inferConstant(const lang::Constant& constant);
  const Type* inferTuple(const lang::TupleExpr& tuple);
  const Type* inferProject(const lang::Project& project);
  const Type* inferFunction(const lang::Function& function);
  const Type* inferRefRead(const lang::RefRead& read);
  const Type* inferRefWrite(const lang::RefWrite& write);

  // Calls.
  const Type* inferCall(const lang::Call& call);
  const Type* inferOperatorCall(const lang::Call& call, const lang::OperatorRow& row);
  const Type* refuseOperatorCall(const lang::Call& call, const lang::OperatorRow& row);
  const Type* inferRecordCall(const lang::Call& call, const lang::Global& named);
  bool placeMeant(const lang::Call& call, const lang::Global& named, const lang::Global& function);
  bool fillDefaults(std::vector<lang::Operand>& operands, const lang::Global& function,
                    lang::SourceRange range, std::vector<const lang::Block*>& defaults);
  const Type* inferCallOf(const lang::Call& call, const Type* callee);
  const Type* deferCall(const lang::Call& call, const Type* callee);
  const Type* inferFunctionCall(const lang::Call& call, const Type* callee);
  void inferArgument(const lang::Call& call, size_t i, const Type& function, const Type* argument);
  void reportArgument(const lang::Call& call, size_t i, const Type* wanted, const Type* given,
                      lang::Types parameters);
  void noteOpenRecursion(lang::Diagnostic& report, const lang::Call& call, const Type& wanted,
                         const Type& given);
  std::vector<const Type*> inferOperands(std::span<const lang::Operand> operands);

  // Uses of open definitions, records with other fields, sizes as numbers.
  const Type* inferOpenCall(const lang::Call& call, const lang::Global& global);
  const Type* inferOpenValue(const void* mention, lang::SourceRange range,
                             const lang::Global& global);
  const Type* addOpenUse(OpenUse& use, const void* mention, std::span<const Type* const> operands,
                         std::span<const lang::Operand> places, lang::SourceRange range);
  const Type* asFunction(const Type* value, const void* mention, lang::SourceRange range);
  const Type* operatorFunction(const PendingRelation& value, size_t count);
  void join(const PendingRelation& use);
  const Type* walkOwn(const Instance& instance);
  const Type* inferChange(const lang::Call& call, const lang::Constructor& change);
  const Type* inferSize(const lang::Call& call, const lang::Constant& size);

  // Branches.
  /// Where a branch stands that said the type of all of them, if any did.
  using Told = std::shared_ptr<lang::SourceRange>;
  const Type* inferIf(const lang::If& branch);
  const Type* inferMatch(const lang::Match& match);
  void inferPattern(const lang::Pattern& pattern, const Type* type);
  void inferConstructorPattern(const lang::Pattern& pattern, const Type* type);
  void tell(const Told& told, const Type* type, const lang::Operand& branch);
  MismatchReporter branchReporter(Told told, const lang::Operand& branch);
  const Type* joinable(const Type* branches, const Type* next);

  Group& group_;
  GroupSizes& sizes_;
  Mentions& mentions_;
  Checking& checking_;
  lang::Diagnostics& diagnostics_;
  Unifier& unifier_;
  Relations& relations_;
  lang::Typing& typing_;
  /// By Var::number, by Function::number, and the scopes of functions.
  std::vector<const Type*>& varTypes_;
  std::vector<const Type*>& resultTypes_;
  std::vector<size_t>& scopeOf_;
};

} // namespace typecheck
