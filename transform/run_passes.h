// Running passes one after the other: types are declared first, and what each pass gives is checked
// before the next one sees it.
//
// The type checker is no business of this folder, so it is handed in.
#pragma once

#include "lang/diagnostic.h"
#include "runtime/result.h"
#include "transform/passes.h"

#include <functional>

namespace transform {

/// A module with its types.
struct TypedModule {
  std::unique_ptr<lang::Module> module;
  lang::Typing typing;
};

using TypeCheck = std::function<lang::Typing(const lang::Module&, lang::Diagnostics&)>;

struct RunOptions {
  const lang::OperatorTable& operators;
  TypeCheck check;
  /// Also asks the verifier, and for the properties that the passes ensure.
  bool verify = false;
  /// Called with what each pass gave.
  std::function<void(const PassRow&, const lang::Module&)> after = {};
};

/// What passes, one after the other, make of a checked module. A result that is not well typed, or
/// with `verify` not sound or without a property that its pass ensures, is a fault of ours and
/// throws std::logic_error; a pass that needs what
/// the module has not is the problem.
runtime::Checked<TypedModule> runPasses(const lang::Module& module, const lang::Typing& typing,
                                        std::span<const PassRow* const> passes,
                                        const RunOptions& options);

} // namespace transform
