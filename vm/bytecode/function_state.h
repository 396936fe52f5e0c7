// What is known of a function that is compiled, and its code in the making. All parts of the
// compiler work on one of these.
#pragma once

#include "vm/bytecode/code.h"
#include "vm/bytecode/instances.h"

#include <deque>

namespace bytecode {

using lang::Binding;
using lang::Block;
using lang::Expr;
using lang::Operand;
using lang::Var;
using vm::Hold;

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

struct FunctionState {
  FunctionState(Instances& all, const Instance& compiled);

  Itself itself() const { return {instance.global, instance.self}; }
  /// Whether the function gives the fields of a tuple instead of it.
  bool isFlat() const;
  Rep rep(const lang::Type* type) const { return instances.rep(type, environment); }
  const lang::Type* typeOf(const Expr& atom) const;
  /// The type of an atom that a call gets, also of a function; null for one that has no type.
  const lang::Type* givenType(const Expr& atom) const;
  uint16_t layoutMade(const Binding& binding);
  /// A variable that no text has.
  const Var& hiddenVar(const lang::Type* type);
  bool isHidden(const Var& var) const { return var.number > instances.module.varCount; }

  /// Says what the instructions from here on come from.
  void origin(lang::SourceRange range, const lang::OperatorRow* row = nullptr,
              const lang::Call* call = nullptr);
  uint32_t operatorNumber(const lang::OperatorRow& row);
  uint32_t caller(const lang::Call& call);
  uint16_t hostCall(vm::HostSite site, std::span<const uint16_t> operands, std::vector<Rep> reps,
                    std::optional<Rep> result, uint16_t reg = vm::none);
  void kernelCall(vm::HostSite site, vm::KernelSite kernel, std::span<const uint16_t> operands,
                  std::vector<Rep> reps, Rep result, uint16_t reg);

  Instances& instances;
  Compiled& made;
  const Instance& instance;
  const Environment& environment;
  const lang::Function& function;
  const lang::FunctionChecks* checks;
  Usage usage;
  Code code;
  Registers registers;
  /// The sizes of named dimensions in this call.
  std::optional<uint16_t> sizes;
  /// Variables that nobody wrote, such as objects inside of patterns.
  std::deque<Var> hidden;
};

} // namespace bytecode
