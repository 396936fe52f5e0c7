// Making nodes of the surface tree, and how deep they are. A spine to the left counts one level.
#pragma once

#include "parser/surface/surface.h"
#include "runtime/arena.h"

#include <algorithm>

namespace parser {

template <typename Node>
Node* newNode(runtime::Arena& arena, lang::SourceRange range) {
  Node* made = arena.make<Node>();
  made->kind = Node::tag;
  made->range = range;
  return made;
}

/// The depth of the operand at the left end of a spine: it counts one level more, a spine does not.
inline uint32_t spineDepth(const surface::Expr* left) {
  using enum surface::ExprKind;
  bool isSpine = left->kind == Infix || left->kind == Call || left->kind == Project ||
                 left->kind == Field || left->kind == Index || left->kind == With;
  return left->depth - (isSpine ? 1u : 0u);
}

inline uint32_t depthOf(std::span<const surface::Expr* const> exprs) {
  uint32_t depth = 0;
  for (const surface::Expr* expr : exprs)
    depth = std::max<uint32_t>(depth, expr->depth);
  return depth;
}

inline uint32_t depthOf(std::span<const surface::Attribute> attributes) {
  uint32_t depth = 0;
  for (const surface::Attribute& attribute : attributes)
    depth = std::max<uint32_t>(depth, attribute.value.depth);
  return depth;
}

inline uint32_t depthOf(std::span<const surface::Type* const> types) {
  uint32_t depth = 0;
  for (const surface::Type* type : types)
    depth = std::max<uint32_t>(depth, type->depth);
  return depth;
}

} // namespace parser
