// The passes: functions from a checked module to a fresh one that means the same.
//
// transform/ holds the table of passes (transform/passes/table.cpp), one file for each pass, the
// orders in which they are run (pipelines.h) and what runs them (run_passes.h), what passes may
// change (transform/analysis/effects.h), where bindings stand (transform/analysis/placement.h), and
// the properties that passes need and ensure (properties.h). A pass names no operator: it asks the
// row. It never leaves parts of the old module in the new one, so the old one can be dropped.
//
// The functions themselves are declared beside their rows, so that nothing but the table is built
// again for a new one.
#pragma once

#include "lang/ir/typing.h"
#include "lang/op/declared.h"
#include "lang/source/diagnostic.h"
#include "lower/tensor/engine.h"
#include "transform/properties.h"

#include <functional>
#include <memory>

namespace lang {
class BlockBuilder;
}

namespace transform {

/// The type checker, which is no business of this folder.
using TypeCheck = std::function<lang::Typing(const lang::Module&, lang::Diagnostics&)>;

/// Names of globals.
using Entries = std::span<const std::string_view>;
inline constexpr std::string_view mainName[] = {"main"};
inline constexpr Entries mainAlone = mainName;

/// The globals of these names that there are.
std::vector<const lang::Global*> entriesOf(const lang::Module& module, Entries names);

/// What says logarithms of probabilities so that their derivatives keep digits, which only the
/// folder of the operators can.
using LogarithmKeeper = std::unique_ptr<lang::Module> (*)(const lang::Module& module,
                                                          const lang::OperatorTable& operators);

/// What reads weights from panels of them, each of `size` positions of dimension `dim` side by side
/// behind all that is at those: [dim / size][all other dimensions][size].
using PanelReader = const lang::Var* (*)(lang::BlockBuilder& out, const lang::Expr* panels,
                                         size_t rank, size_t dim, int64_t size);

/// What makes one tensor of rows, and parts of a tensor along its first dimension.
struct RowsAtOnce {
  const lang::Var* (*join)(lang::BlockBuilder& out,
                           const std::vector<const lang::Expr*>& rows) = nullptr;
  std::vector<const lang::Expr*> (*split)(lang::BlockBuilder& out, const lang::Expr* joined,
                                          size_t count) = nullptr;
};

/// Whether the machine would have to box the scalars of a program, run from `entries`.
using BoxQuestion = bool (*)(const lang::Module& module, const lang::Typing& typing,
                             const lang::OperatorTable& operators,
                             std::span<const lang::Global* const> entries);

/// Called with what each pass gave, which may be what it was given.
using PassWatch = std::function<void(std::string_view pass, const lang::Module& module,
                                     const lang::Typing& typing)>;

/// What passes are given besides the module.
struct PassContext {
  const lang::OperatorTable& operators;
  /// Of the module.
  const lang::Typing& typing;
  /// For a pass that makes modules on its way.
  const TypeCheck& check;
  /// Takes what makes the pass impossible for this program, with places in its text.
  lang::Diagnostics& findings;
  /// What computes tensors, for a pass that runs parts of a program; where it is null, nothing is
  /// computed.
  const tensor::TensorEngine* engine = nullptr;
  /// The globals that a program is run from; those of other names stand for nothing.
  Entries entries = mainAlone;
  /// Whether somebody follows the run: derivatives then do all that the functions do, in its order.
  bool keepsSteps = false;
  /// Told of whole modules that a pass makes on its way, as `PASS/STEP`; may be null.
  const PassWatch* within = nullptr;
  /// Where these are null, the passes that ask for them do nothing.
  LogarithmKeeper keepLogarithms = nullptr;
  PanelReader readPanels = nullptr;
  RowsAtOnce rowsAtOnce = {};
  BoxQuestion needsBoxes = nullptr;
};

/// Null where nothing is to do, which saves the copy and its check.
using PassFunction = std::unique_ptr<lang::Module>(const lang::Module& module,
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
  PassFunction* run;
  /// Whether floats may be rounded otherwise.
  bool rounds = false;
};

/// All passes, in the order of their names.
std::span<const PassRow> passRows();

/// The pass of that name, or nullptr.
const PassRow* findPass(std::string_view name);

} // namespace transform
