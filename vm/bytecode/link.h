// An executable together with the language: constructors and operators by their names.
#pragma once

#include "runtime/result.h"
#include "vm/bytecode/compile.h"
#include "vm/executable/executable.h"

#include <deque>

namespace bytecode {

/// An executable whose layouts mean constructors of a module, and what its sites call there.
struct Linked {
  explicit Linked(std::unique_ptr<executable::Executable> file)
      : executable(std::move(file)), layouts(executable->program) {}

  std::unique_ptr<executable::Executable> executable;
  Layouts layouts;
  std::deque<OperatorSite> sites;
  /// Of each entry a function whose last parameter is of the type of the result.
  std::vector<const lang::Global*> signatures;
};

/// Links with the module that was read from the executable's `language` and checked; both must
/// outlive what is given. An error when it is not the module of this program.
runtime::Result<std::unique_ptr<Linked>> link(std::unique_ptr<executable::Executable> executable,
                                              lang::Module& language, const lang::Typing& typing);

} // namespace bytecode
