// From a checked module to a program of the machine, and what the machine's host has to know of it.
#pragma once

#include "bytecode/layouts.h"
#include "lang/boundary.h"
#include "lang/typing.h"

#include <deque>
#include <memory>

namespace bytecode {

/// What a host site stands for. Operands: those of the operator; the value that is shown; the
/// arguments of a function, with the sizes of a closure behind them; the sizes known, of which a
/// closure takes some; a value and the sizes known; a result and the sizes known; the fields of a
/// constructor; what no arm is for; the value of a call and where it is written.
enum class SiteKind : uint8_t {
  Operator,
  Show,
  CheckArguments,
  OuterSizes,
  CheckVar,
  CheckResult,
  CheckFields,
  Unmatched,
  Deliver,
  /// The condition in a tensor.
  Unbox
};

struct Site {
  SiteKind kind;
  lang::SourceRange range = {};
  /// Of Operator, and the last two.
  const lang::Binding* binding = nullptr;
  const lang::OperatorRow* row = nullptr;
  const lang::FunctionChecks* checks = nullptr;
  /// Of CheckVar.
  const lang::Function* function = nullptr;
  const lang::Var* var = nullptr;
  /// Of Operator: the type of the result. Of CheckVar: that of the variable.
  const lang::Type* type = nullptr;
  /// The call that a check is for, if it is known.
  const lang::Call* call = nullptr;
  bool hasOuterSizes = false;
};

/// Where code comes from.
struct Origin {
  lang::SourceRange range;
  const lang::OperatorRow* row = nullptr;
  const lang::Call* call = nullptr;
};

/// A program, and what it was made from, which must outlive it.
struct Compiled {
  vm::Program program;
  Layouts layouts{program};
  std::vector<Site> sites;
  std::vector<Origin> origins;
  std::unique_ptr<lang::Boundaries> boundaries;
  uint32_t entry = 0;
};

/// Compiles what the entry needs. Throws TooLarge for programs beyond the machine's
/// bounds.
std::unique_ptr<Compiled> compile(const lang::Module& module, const lang::Typing& typing,
                                  const lang::OperatorTable& operators, const lang::Global& entry);

} // namespace bytecode
