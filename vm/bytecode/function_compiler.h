// Code of one function.
//
// A variable is held in a register: as a scalar, or as a reference that is owned or borrowed. What
// is taken out of an object is borrowed from it until the object is given up; then `open` makes the
// fields that are still needed owned, and the others go with it. A last use that keeps a reference
// moves it, an earlier one retains it (Reinking and others, Perceus). Branches start from the same
// state and give up the same variables, so what is held afterwards does not depend on the way.
#pragma once

#include "vm/bytecode/code.h"
#include "vm/bytecode/held.h"
#include "vm/bytecode/instances.h"
#include "vm/bytecode/scalar_compiler.h"

#include <deque>

namespace bytecode {

using lang::Binding;
using lang::Block;
using lang::Expr;
using lang::Operand;
using lang::Var;
using vm::Hold;

/// Compiles an instance and what it needs of the host, and asks `instances` for what it calls.
void compileFunction(Instances& instances, const Instance& instance);

/// Memory of an object that was given up, for the next one of as many fields.
struct ReusableMemory {
  uint16_t reg;
  size_t fields;
  const Block* block;
  /// The binding that uses it, or has branches that do.
  size_t binding;
};

/// A block in the making: where it is, and where its result goes.
struct Scope {
  const Block& block;
  uint32_t level = 0;
  /// The result is the function's.
  bool isTail = false;
  /// Else the register that gets it, and the type that it is to have.
  uint16_t target = vm::none;
  const lang::Type* wanted = nullptr;
  size_t at = 0;
};

class FunctionCompiler {
public:
  FunctionCompiler(Instances& instances, const Instance& instance);
  void compile();

private:
  struct Callee;
  struct Passing;
  class PassingOrder;
  /// What branches start from.
  struct Snapshot {
    HeldVars held;
    std::vector<bool> used;
    size_t firstFree;
    std::vector<ReusableMemory> memory;
    std::vector<const Var*> hidden;
  };
  using Types = lang::Types;

  // function_compiler.cpp: blocks and branches.
  void begin();
  std::optional<uint16_t> beginCaptures();
  void checkParameters(std::optional<uint16_t> outer);
  Itself itself() const { return {instance_.global, instance_.self}; }
  void origin(lang::SourceRange range, const lang::OperatorRow* row = nullptr,
              const lang::Call* call = nullptr);
  void block(Scope& scope);
  void finishBlock(Scope& scope);
  void returnValue(Scope& scope, const Operand& result);
  void branch(Scope& scope, const Binding& binding, const lang::If& value, bool isLast);
  bool jumpUnless(Scope& scope, const lang::If& value, bool holds, Label otherwise);
  bool isFused(const Scope& scope, const Binding& binding);
  void inner(Scope& scope, const Binding& binding, const Block& inside, bool isLast,
             uint16_t target);
  void enterBranch(Scope& outer, Scope& own);
  std::vector<const Var*> dyingWithBranches(const Scope& outer) const;
  uint16_t targetFor(Scope& scope, bool isLast);
  void afterBranches(Scope& scope, const Binding& binding, bool isLast, uint16_t target);
  std::optional<size_t> unclaimedConstruction(const Block& block, size_t fields);
  const Binding& upcomingCall(const Scope& scope) const;
  void reserve(const Scope& scope);
  std::optional<uint16_t> tokenFor(const Scope& scope, const Var& var);
  Snapshot snapshot() const {
    return {held_, registers_.used, registers_.firstFree, memory_, hiddenHeld_};
  }
  void restore(const Snapshot& snapshot);
  /// A variable that no text has.
  const Var& hiddenVar(const lang::Type* type);
  bool isHidden(const Var& var) const { return var.number > instances_.module.varCount; }

  // match_compiler.cpp: taking apart.
  const Var& scrutinee(Scope& scope, const Operand& operand);
  void match(Scope& scope, const Binding& binding, const lang::Match& value, bool isLast);
  static bool isDisjoint(const lang::Match& value);
  static bool isSwitch(const lang::Match& value);
  uint16_t layoutOf(const lang::Constructor& constructor, const lang::Type* type);
  std::vector<const lang::Arm*> inOrder(const lang::Match& value, const lang::Type* type,
                                        uint16_t layout);
  std::vector<size_t> inOrder(const lang::Pattern& pattern) const;
  static bool isFlat(const lang::Pattern& pattern);
  static bool isOnlyOneLeft(const lang::Pattern& pattern,
                            const std::vector<const lang::Constructor*>& gone);
  std::vector<Label> switchOn(const lang::Match& value, uint16_t object, Label unmatched);
  void fail(const lang::Match& value, const Var& object);
  bool matchArm(const lang::Pattern& pattern, const lang::Type* type, const Var& value,
                uint32_t level, bool isTagKnown, Label next);
  std::vector<const Var*> loadParts(const lang::Pattern& pattern, Types types, uint16_t layout,
                                    const Var& value, uint32_t level);
  void checkParts();
  void holdField(const Var& var, Rep rep, uint16_t reg, const Var& object, size_t field,
                 uint32_t level);
  void copyTo(const Var& var, const Var& value, uint32_t level);
  void project(Scope& scope, const Binding& binding, const lang::Project& value);
  void takeApart(Scope& scope, const Var& tuple);

  // value_compiler.cpp: what makes values.
  void value(Scope& scope, const Binding& binding, bool isLast);
  uint16_t layoutMade(const Binding& binding);
  void construct(Scope& scope, const Binding& binding, uint16_t layout,
                 std::span<const Operand> fields, Types types, const Environment& environment);
  void closure(Scope& scope, const Binding& binding, const lang::Function& function);
  void atom(Scope& scope, const Binding& binding, const Expr& atom);
  void readCell(Scope& scope, const Binding& binding, const lang::RefRead& value);
  void writeCell(Scope& scope, const Binding& binding, const lang::RefWrite& value);
  void unit(Scope& scope, const Binding& binding);
  uint16_t loadAtom(const Expr& atom, const lang::Type* wanted, const Environment& environment);
  void loadAtomTo(uint16_t reg, const Expr& atom, const lang::Type* wanted,
                  const Environment& environment);
  uint16_t layoutOf(const Expr& atom, const lang::Type* wanted, const Environment& environment);
  const lang::Type* givenType(const Expr& atom) const;

  // call_compiler.cpp: calls.
  void call(Scope& scope, const Binding& binding, const lang::Call& call, bool isLast);
  Callee calleeOf(const Operand& operand, std::span<const Operand> arguments,
                  const Binding& binding);
  void seeFunctions(Types given, Types wanted);
  Passing pass(Scope& scope, const Operand& operand, bool isOwned, bool isUsedAgain);
  uint16_t windowFor(std::span<const Passing> passings);
  void putArgument(uint16_t place, const Passing& passing, const Operand& operand,
                   const Callee& callee, size_t i);
  void fillFirst(std::vector<Passing> passings, std::span<const Operand> operands,
                 const Callee& callee);
  void fillWindow(uint16_t base, std::span<const Passing> passings,
                  std::span<const Operand> operands, const Callee& callee);
  bool isLentByCaller(const Operand& operand);
  std::vector<Passing> passAll(Scope& scope, std::span<const Operand> operands,
                               const Callee& callee);
  void freePassed(std::span<const Passing> passings, std::span<const Operand> operands);
  static std::vector<bool> usedAgain(std::span<const Operand> operands, const Callee& callee);
  bool mayBeTail(const Binding& binding, const lang::Call& call);
  void callFunction(Scope& scope, const Binding& binding, const Operand& called,
                    std::span<const Operand> arguments, bool isLast);
  void receive(Scope& scope, const Binding& binding, uint16_t reg);

  // flat_compiler.cpp: the fields of tuples instead of tuples, at the ends of calls.
  bool isFlat() const;
  std::vector<Passing> flatPassings(uint16_t base, std::span<const Rep> fields) const;
  void returnFields(std::vector<Passing> passings, std::span<const Operand> operands,
                    const Callee& callee);
  void returnTuple(Scope& scope, const lang::TupleExpr& tuple);
  std::optional<std::vector<const Binding*>> fieldsTaken(const Scope& scope, const Var& tuple,
                                                         size_t fields) const;
  void receiveFlat(Scope& scope, const Binding& binding, uint16_t base,
                   std::span<const Rep> fields);

  // wrapped_calls.cpp: calls of itself that only objects around the result keep from being tail
  // calls.
  using UseCounts = std::unordered_map<const Expr*, size_t>;
  bool callWrapped(Scope& scope);
  bool mayWrap(const Scope& scope);
  void wrap(Scope& scope, size_t at, UseCounts& usesLeft);

  // operator_compiler.cpp: operators.
  void callOperator(Scope& scope, const Binding& binding, const lang::Call& call,
                    const lang::OperatorRow& row);
  void showValue(const lang::Call& call);
  std::vector<uint16_t> givenTo(const Scope& scope, std::span<const Operand> operands) const;
  void callHost(Scope& scope, const Binding& binding, const lang::Call& call,
                const lang::OperatorRow& row);
  void callSite(Scope& scope, const Binding& binding, const lang::Call& call, vm::HostSite site,
                std::optional<vm::KernelSite> kernel);
  void callWithFields(Scope& scope, const Binding& binding, const lang::Call& call,
                      const lang::OperatorRow& row);
  std::optional<tensor::TensorFunction> scalarCode(const Binding& binding, const lang::Call& call,
                                                   const lang::OperatorRow& row);
  bool scalarCall(Scope& scope, const Binding& binding, const lang::Call& call,
                  const lang::OperatorRow& row);
  ScalarOperand scalarOperand(const Operand& operand) const;
  ScalarOperand inRegister(const ScalarOperand& operand);
  const Comparison* comparison(const Binding& binding);

  // group_compiler.cpp: functions that are one kernel.
  bool keepGroup(const Binding& binding, const lang::Function& function);
  bool callGroup(Scope& scope, const Binding& binding, const lang::Call& call);

  // holding.cpp: registers and references.
  const Held* find(const Var& var) const { return held_.find(var); }
  Held& held(const Var& var) { return held_.at(var); }
  Held& hold(const Var& var, Rep rep, uint16_t reg, uint32_t level);
  bool diesAt(const Scope& scope, const Var& var) const;
  bool isResult(const Scope& scope, const Binding& binding) const;
  /// A register with the operand, which may be looked at until the instruction is done.
  uint16_t look(const Operand& operand);
  /// A register with a reference that the instruction takes over, or a scalar. `isUsedAgain`: by a
  /// later operand of the same instruction.
  uint16_t take(Scope& scope, const Operand& operand, const lang::Type* wanted,
                const Environment& environment, bool isUsedAgain);
  std::vector<uint16_t> takeAll(Scope& scope, std::span<const Operand> operands, Types types,
                                const Environment& environment);
  /// Registers of scalars that this instruction uses last may hold its result.
  void freeDying(Scope& scope, std::span<const Operand> operands);
  /// Gives up what the instruction used last and did not take.
  void giveUpDying(Scope& scope, std::span<const Operand> operands);
  void freeTemporaries();
  void giveUp(const Var& var, std::optional<uint16_t> token = {});
  void keepFields(const Var& var);
  void forget(const Var& var);
  uint16_t registerFor(Scope& scope, const Binding& binding);
  void define(Scope& scope, const Binding& binding, Rep rep, uint16_t reg);
  void checkVar(const Var& var, lang::SourceRange range);
  uint32_t operatorNumber(const lang::OperatorRow& row);
  uint32_t caller(const lang::Call& call);
  uint16_t hostCall(vm::HostSite site, std::span<const uint16_t> operands, std::vector<Rep> reps,
                    std::optional<Rep> result, uint16_t reg = vm::none);
  void kernelCall(vm::HostSite site, vm::KernelSite kernel, std::span<const uint16_t> operands,
                  std::vector<Rep> reps, Rep result, uint16_t reg);
  std::optional<uint16_t> memoryFor(const Scope& scope, size_t binding, size_t fields);

  Rep rep(const lang::Type* type) const { return instances_.rep(type, environment_); }
  const lang::Type* typeOf(const Expr& atom) const;

  Instances& instances_;
  Compiled& made_;
  const Instance& instance_;
  const Environment& environment_;
  const lang::Function& function_;
  const lang::FunctionChecks* checks_;
  Usage usage_;
  Constructions constructions_;
  Code code_;
  Registers registers_;
  HeldVars held_;
  /// Of variables that nobody wrote, those that are taken apart and may still be held.
  std::vector<const Var*> hiddenHeld_;
  /// Parts that the pattern at hand names and that have to be compared.
  std::vector<const Var*> unchecked_;
  std::vector<ReusableMemory> memory_;
  /// Registers to be free after the operands of an instruction are read.
  std::vector<uint16_t> temporaries_;
  /// Variables that nobody wrote, such as objects inside of patterns.
  std::deque<Var> hidden_;
  /// The sizes of named dimensions in this call, and those that the closure took with it.
  std::optional<uint16_t> sizes_;
  /// Fields of tuples that were taken out already.
  std::unordered_set<const Binding*> takenApart_;
  const Var* outerSizes_ = nullptr;
  std::unordered_map<const Binding*, std::optional<Comparison>> comparisons_;
  /// Functions that are called as kernels, by the variables that name them.
  std::unordered_map<const Expr*, const lang::Function*> groups_;
};

/// Compiles what is no function of the text: the application of a constructor.
void compileWrapper(Instances& instances, const Instance& instance);

} // namespace bytecode
