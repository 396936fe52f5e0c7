// Running passes one after the other. All that is done to a program runs here: what each pass gives
// is verified and checked before the next one sees it.
//
// What a pass finds wrong with a program ends the run; the text is the problem, and the whole is in
// `findings`.
#pragma once

#include "runtime/function_ref.h"
#include "runtime/result.h"
#include "transform/passes.h"
#include "transform/pipelines.h"

#include <stdexcept>

namespace transform {

/// A module with its types.
struct TypedModule {
  std::unique_ptr<lang::Module> module;
  lang::Typing typing;
};

/// A pass whose result is wrong, which is a fault of ours.
struct PassFault : std::logic_error {
  PassFault(std::string_view name, const std::string& text, std::unique_ptr<lang::Module> gave = {})
      : logic_error(text), pass(name), module(std::move(gave)) {}

  std::string pass;
  /// What it gave, if that is sound and not well typed.
  std::shared_ptr<const lang::Module> module;
};

/// When all types of a program are declared, for passes to leave out what they follow from: before
/// the first pass, or when it turns out that a pass needs it. Then a program that nothing is done
/// to is not copied.
enum class Declaring : uint8_t { First, WhenNeeded };

struct RunOptions {
  const lang::OperatorTable& operators;
  TypeCheck check;
  /// Also asks for the properties that the passes ensure.
  bool verify = false;
  /// Passes that pipelines leave out; each isOptional().
  std::span<const std::string> skipped = {};
  Declaring declaring = Declaring::First;
  PassWatch after = {};
  /// As in PassContext.
  PassWatch within = {};
  /// Takes what passes find wrong with the program; null for no more than the first text.
  lang::Diagnostics* findings = nullptr;
  /// From here on as in PassContext.
  const tensor::TensorEngine* engine = nullptr;
  Entries entries = mainAlone;
  LogarithmKeeper keepLogarithms = nullptr;
  PanelReader readPanels = nullptr;
  RowsAtOnce rowsAtOnce = {};
  BoxQuestion needsBoxes = nullptr;
};

/// What a pipeline, or passes one after the other, make of a checked module; no module where
/// nothing was done and types are declared when needed. A result that is not sound or not well
/// typed, or with `verify` without a property that its pass ensures, throws PassFault; a pass that
/// needs what the module has not is the problem.
runtime::Checked<TypedModule> runPasses(const lang::Module& module, const lang::Typing& typing,
                                        const Pipeline& pipeline, const RunOptions& options);
runtime::Checked<TypedModule> runPasses(const lang::Module& module, const lang::Typing& typing,
                                        std::span<const PassRow* const> passes,
                                        const RunOptions& options);

/// The same with one step that is no pass of the table, for it adds what only its caller knows of.
using StepFunction =
    runtime::FunctionRef<std::unique_ptr<lang::Module>(const lang::Module&, const PassContext&)>;
runtime::Checked<TypedModule> runStep(const lang::Module& module, const lang::Typing& typing,
                                      std::string_view name, StepFunction step,
                                      const RunOptions& options);

} // namespace transform
