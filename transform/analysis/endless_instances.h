// Polymorphic recursion: generic definitions that call themselves for ever larger types, so that
// there are not enough copies of them for all the types that a run may come to.
#pragma once

#include "lang/ir/module.h"
#include "lang/ir/typing.h"

#include <optional>

namespace transform {

/// A call from which a definition is reached again, for a type that holds its own parameters.
struct GrowingCall {
  const lang::Call* call;
  const lang::Global* callee;
  const lang::TypeParameter* parameter;
  const lang::Type* type;
};

/// Such a call among all that a definition may do, if there is one.
std::optional<GrowingCall> growingCall(const lang::Global& global, lang::TypeContext& types,
                                       const lang::Typing& typing);

} // namespace transform
