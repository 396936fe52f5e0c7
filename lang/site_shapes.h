// Shape functions of one call site: the one for the types that the checker knows, and others for
// what these leave open, such as which dimension broadcasts. They are learned from the sizes that
// come along, so they serve all sizes that are alike.
#pragma once

#include "lang/shape_function.h"

namespace lang {

/// Answers for the calls of one operator with attributes and types of one site.
class SiteShapes {
public:
  /// `operands` are the checked types; they and the attributes must outlive this.
  SiteShapes(const OperatorRow& row, Types operands, const Attributes& attributes);

  /// As ShapeFunction::apply. Allocates only when it learns, which it does a few times at most.
  bool apply(std::span<const int64_t> operands, std::span<int64_t> results);

  /// How many shape functions there are.
  size_t known() const { return functions_.size(); }

private:
  bool learn(std::span<const int64_t> operands);

  const OperatorRow& row_;
  Types operands_;
  const Attributes& attributes_;
  std::vector<ShapeFunction> functions_;
  /// The one that applied last.
  size_t latest_ = 0;
  size_t lessons_ = 0;
};

} // namespace lang
