// Where constant factors and summands around sums of products can go: what the pass `fold-scales`
// writes.
#pragma once

#include "lang/ir/module.h"
#include "transform/analysis/constant_uses.h"
#include "transform/passes.h"

#include <optional>

namespace transform {

/// A call whose weights change, and the values around it that go with that.
struct ScaleFold {
  const lang::Binding* call;
  size_t weightsAt;
  runtime::Tensor weights;
  /// Values behind the call: the first is used by the second, and so on; the last one is what the
  /// call gives, plus the summands.
  std::vector<const lang::Binding*> behind = {};
  std::optional<runtime::Tensor> summands = {};
  /// Values before it: the call uses the first, that the second, and so on, and the last `source`,
  /// which takes their place.
  std::vector<const lang::Binding*> before = {};
  const lang::Var* source = nullptr;
};

struct ScaleFolds {
  std::vector<ScaleFold> all;
  /// Of the constants that only what was folded used, all uses are forgotten.
  ConstantUses uses;
};

/// Finds what can be folded in a module; the context has an engine, which computes what is put in.
ScaleFolds scaleFolds(const lang::Module& module, const PassContext& context);

} // namespace transform
