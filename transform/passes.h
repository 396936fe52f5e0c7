// The passes: functions from a checked module to a fresh one that means the same.
//
// transform/ holds the table of passes (passes.cpp), one file for each pass, what passes may change
// (effects.h), where bindings stand (placement.h), and the properties that passes need and ensure
// (properties.h). A pass names no operator: it asks the row. It never leaves parts of the old
// module in the new one, so the old one can be dropped.
#pragma once

#include "lang/diagnostic.h"
#include "lang/op.h"
#include "lang/typing.h"
#include "tensor/engine.h"
#include "transform/properties.h"

#include <functional>
#include <memory>

namespace transform {

/// The type checker, which is no business of this folder.
using TypeCheck = std::function<lang::Typing(const lang::Module&, lang::Diagnostics&)>;

/// Names of globals.
using Entries = std::span<const std::string_view>;
inline constexpr std::string_view mainName[] = {"main"};
inline constexpr Entries mainAlone = mainName;

/// The globals of these names that there are.
std::vector<const lang::Global*> entriesOf(const lang::Module& module, Entries names);

/// What passes are given besides the module.
struct PassContext {
  const lang::OperatorTable& operators;
  /// Of the module.
  const lang::Typing& typing;
  /// For a pass that makes modules on its way.
  const TypeCheck& check;
  /// Takes what makes the pass impossible for this program, with places in its text.
  lang::Diagnostics& findings;
  /// What computes tensors, for a pass that runs parts of a program; it may be null.
  const tensor::TensorEngine* engine = nullptr;
  /// The globals that a program is run from; those of other names stand for nothing.
  Entries entries = mainAlone;
  /// Whether somebody follows the run: derivatives then do all that the functions do, in its order.
  bool keepsSteps = false;
};

/// Null where nothing is to do, which saves the copy and its check.
using Pass = std::unique_ptr<lang::Module> (*)(const lang::Module& module,
                                               const PassContext& context);

/// One pass.
struct PassRow {
  std::string_view name;
  /// One sentence.
  std::string_view doc;
  /// What the module must have, and what the result has; every pass keeps a module sound, its types
  /// and its value.
  std::span<const Property> needs;
  std::span<const Property> ensures;
  Pass run;
};

/// All passes, in the order of their names.
std::span<const PassRow> passRows();

/// The pass of that name, or nullptr.
const PassRow* findPass(std::string_view name);

std::unique_ptr<lang::Module> aNormalForm(const lang::Module& module, const PassContext& context);
std::unique_ptr<lang::Module> commonSubexpressions(const lang::Module& module,
                                                   const PassContext& context);
std::unique_ptr<lang::Module> constantFolding(const lang::Module& module,
                                              const PassContext& context);
std::unique_ptr<lang::Module> deadCode(const lang::Module& module, const PassContext& context);
std::unique_ptr<lang::Module> deforest(const lang::Module& module, const PassContext& context);
std::unique_ptr<lang::Module> derivatives(const lang::Module& module, const PassContext& context);
std::unique_ptr<lang::Module> flattenTuples(const lang::Module& module, const PassContext& context);
std::unique_ptr<lang::Module> graphForm(const lang::Module& module, const PassContext& context);
std::unique_ptr<lang::Module> inlineQuiet(const lang::Module& module, const PassContext& context);
std::unique_ptr<lang::Module> inlining(const lang::Module& module, const PassContext& context);
std::unique_ptr<lang::Module> lambdaLifting(const lang::Module& module, const PassContext& context);
std::unique_ptr<lang::Module> simplify(const lang::Module& module, const PassContext& context);
std::unique_ptr<lang::Module> specialise(const lang::Module& module, const PassContext& context);
std::unique_ptr<lang::Module> unusedDefinitions(const lang::Module& module,
                                                const PassContext& context);

} // namespace transform
