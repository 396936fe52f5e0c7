// Running passes one after the other: types are declared first, and what each pass gives is checked
// before the next one sees it.
//
// What a pass finds wrong with a program ends the run; the text is the problem, and the whole is in
// `findings`.
#pragma once

#include "runtime/result.h"
#include "transform/passes.h"

namespace transform {

/// A module with its types.
struct TypedModule {
  std::unique_ptr<lang::Module> module;
  lang::Typing typing;
};

struct RunOptions {
  const lang::OperatorTable& operators;
  TypeCheck check;
  /// Also asks the verifier, and for the properties that the passes ensure.
  bool verify = false;
  /// Called with what each pass gave.
  std::function<void(const PassRow&, const lang::Module&)> after = {};
  /// Takes what passes find wrong with the program; null for no more than the first text.
  lang::Diagnostics* findings = nullptr;
  /// For passes that run parts of a program.
  const tensor::TensorEngine* engine = nullptr;
  Entries entries = mainAlone;
  /// As in PassContext.
  bool keepsSteps = false;
};

/// What passes, one after the other, make of a checked module. A result that is not well typed, or
/// with `verify` not sound or without a property that its pass ensures, is a fault of ours and
/// throws std::logic_error; a pass that needs what
/// the module has not is the problem.
runtime::Checked<TypedModule> runPasses(const lang::Module& module, const lang::Typing& typing,
                                        std::span<const PassRow* const> passes,
                                        const RunOptions& options);

} // namespace transform
