// From a checked module to a program of the machine, and what the machine's host has to know of it.
#pragma once

#include "lang/calls/run_checks.h"
#include "lang/ir/typing.h"
#include "lang/op/declared.h"
#include "vm/bytecode/code.h"
#include "vm/bytecode/layouts.h"

#include <deque>
#include <memory>

namespace bytecode {

/// An operator that the machine's host applies.
struct OperatorSite {
  const lang::Binding* binding = nullptr;
  const lang::OperatorRow* row = nullptr;
  /// Of the result.
  const lang::Type* type = nullptr;
  /// Whether an executable has to bring the operator along: nothing else does it, or it alone has
  /// the words for sizes and values that do not fit.
  bool isNeeded = true;
};

/// Whether somebody looks at what operators give: those that give floats are then sites, and no
/// scalar code.
enum class Watching : uint8_t { Nothing, Results };

/// A program, and what it was made from, which must outlive it.
struct Compiled {
  vm::Program program;
  Layouts layouts{program};
  Literals literals{program};
  /// Of each of the program's sites; empty unless it is of kind Language.
  std::deque<OperatorSite> sites;
  std::unique_ptr<lang::Boundaries> boundaries;
  std::unique_ptr<lang::RunChecks> checks;
  /// The numbers of operators by row.
  std::unordered_map<const lang::OperatorRow*, uint32_t> operators;
  Watching watching = Watching::Nothing;
};

/// Compiles what the entries need, whose numbers go to the program in their order. Throws TooLarge
/// for programs beyond the machine's bounds.
std::unique_ptr<Compiled> compile(const lang::Module& module, const lang::Typing& typing,
                                  const lang::OperatorTable& operators,
                                  std::span<const lang::Global* const> entries,
                                  Watching watching = Watching::Nothing);

/// Whether `compile` boxes the scalars of a program because nothing tells which instance of a
/// generic function a call needs; those beyond the machine's bounds are not boxed.
bool needsBoxes(const lang::Module& module, const lang::Typing& typing,
                const lang::OperatorTable& operators, std::span<const lang::Global* const> entries);

/// Throws std::logic_error, which is a fault of Baton, when the verifier refuses what was compiled.
void requireSound(const vm::Program& program);

} // namespace bytecode
