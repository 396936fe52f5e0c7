// From a place in the text to the node of the core IR that stands there.
#pragma once

#include "driver/session/session.h"

#include <optional>

namespace driver {

/// The innermost node around a place.
struct NodeAt {
  lang::SourceRange range;
  /// The expression, null for the name of a data type.
  const lang::Expr* expr = nullptr;
  /// Its type, or for a callee that is no local the type of the call; null when not known or when
  /// the node itself says it.
  const lang::Type* type = nullptr;
  /// The call whose callee it is, or null; of a local always null.
  const lang::Call* call = nullptr;
  const lang::TypeDefinition* definition = nullptr;
  /// Names win over expressions of the same place.
  bool isName = false;
};

/// Looks for the byte at `offset` in a program that has a module.
std::optional<NodeAt> findAt(const Program& program, uint32_t offset);

} // namespace driver
