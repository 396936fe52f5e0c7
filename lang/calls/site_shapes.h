// Shape functions of one call site: the one for the types that the checker knows, and others for
// sizes at which the relation answers otherwise, or only then. They are learned from the sizes that
// come along, or from such as might, so they serve all sizes that are alike.
#pragma once

#include "lang/op/shape_function.h"

namespace lang {

/// Answers for the calls of one operator with attributes and types of one site.
class SiteShapes {
public:
  /// `operands` are the checked types; they and the attributes must outlive this.
  SiteShapes(const OperatorRow& row, Types operands, const Attributes& attributes);

  /// As ShapeFunction::apply. Allocates only when it learns, which it does a few times at most.
  bool apply(std::span<const int64_t> operands, std::span<int64_t> results);

  /// What was learned, no more than a few.
  std::span<const ShapeFunction> known() const { return functions_; }

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

/// Shape functions of a site before any sizes come along: the one for its types, and those for
/// sizes that it does not serve: some that are 1, and others that are alike. Of other sizes the
/// relation must be asked; and of all, when there is none. The results have so many extents.
std::vector<ShapeFunction> foreseenShapes(const OperatorRow& row, Types operands,
                                          size_t resultExtents, const Attributes& attributes);

} // namespace lang
