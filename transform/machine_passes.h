// What programs go through before they are compiled for the machine.
#pragma once

#include "transform/run_passes.h"

namespace transform {

struct MachinePassOptions {
  const lang::OperatorTable& operators;
  TypeCheck check;
  /// What is run.
  Entries entries = mainAlone;
  /// Opens no calls, for whoever counts them.
  bool keepsCalls = false;
  /// Whether the machine would have to box the scalars of a program, which makes it slow: copies of
  /// generic functions for each use may do without. Where there is none, nothing is copied.
  std::function<bool(const lang::Module&, const lang::Typing&)> needsBoxes = {};
};

/// Fuses chains of functions over data, opens calls of small quiet functions, and gives functions
/// the fields of tuples that they only take apart. Runs end as before, but for limits: fewer calls
/// are made, and less memory is taken. Without a module where nothing was done.
TypedModule forMachine(const lang::Module& module, const lang::Typing& typing,
                       const MachinePassOptions& options);

} // namespace transform
