// Expressions made again with other leaves: what composes tensor functions and what puts numbers in
// place of extents have in common. Constants are folded on the way, equal nodes become one.
#pragma once

#include "lower/tensor/walk.h"

#include <functional>
#include <unordered_map>

namespace tensor {

/// Nodes, each of which is there once.
class UniqueNodes {
public:
  explicit UniqueNodes(Arena& arena) : arena_(arena) {}

  Arena& arena() { return arena_; }
  /// The node itself, or an equal one that was there before; operands must be unique already.
  const ScalarNode* unique(const ScalarNode* node);

private:
  Arena& arena_;
  /// By what is made of kind and parts.
  std::unordered_multimap<uint64_t, const ScalarNode*> nodes_;
};

/// What becomes of the leaves of an expression.
struct Leaves {
  std::function<const ScalarNode*(const ScalarSize&)> size;
  /// Gets the position, and the value outside where the load has one, as they were made.
  std::function<const ScalarNode*(const ScalarLoad&, const ScalarNodes& position,
                                  const ScalarNode* outside)>
      load;
};

/// Makes expressions again; what it knows of one it keeps for the others.
class Rewriter {
public:
  /// Loops are numbered from `nextAxis`.
  Rewriter(UniqueNodes& nodes, uint32_t& nextAxis, Leaves leaves)
      : nodes_(nodes), nextAxis_(nextAxis), leaves_(std::move(leaves)) {}

  /// From here on an index along the axis is that node.
  void setIndex(uint32_t axis, const ScalarNode* node) { indices_[axis] = node; }

  LoopAxis freshAxis(const LoopAxis& axis);
  std::span<const LoopAxis> freshAxes(std::span<const LoopAxis> axes);

  const ScalarNode* rewritten(const ScalarNode* root);
  ScalarNodes rewrittenAll(std::span<const ScalarNode* const> roots);

private:
  std::span<const LoopAxis> loopsOf(const ScalarReduce& reduce);
  ScalarNodes done(std::span<const ScalarNode* const> nodes) const;
  const ScalarNode* make(const ScalarNode& node);

  UniqueNodes& nodes_;
  uint32_t& nextAxis_;
  Leaves leaves_;
  std::unordered_map<uint32_t, const ScalarNode*> indices_;
  std::unordered_map<const ScalarReduce*, std::span<const LoopAxis>> loops_;
  std::unordered_map<const ScalarNode*, const ScalarNode*> done_;
};

} // namespace tensor
