// One operator call over the sizes that the checker left open: its tensor expression and its
// shapes, made once for all of them. Both come from the checked types of the call site, so they
// hold for values that are of these types; whether they are is looked at, since not all values are
// compared with their types on the way.
#pragma once

#include "lang/op/compute.h"
#include "runtime/checks/shapes.h"
#include "runtime/value.h"

namespace lang {

/// Whether all extents of tensors are numbers.
bool areClosed(Types tensors);

class OpenCall {
public:
  /// Whether types are made of tensors of known element type and rank.
  static bool isPossible(Types operands, const Type* output);

  /// The types are those that the checker found, or such as isPossible() holds of. They and the
  /// attributes must outlive this.
  OpenCall(const OperatorRow& row, std::vector<const Type*> operands, const Type* output,
           const Attributes& attributes);
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;

  const std::vector<const Type*>& operands() const { return operands_; }
  const Type* output() const { return output_; }

  /// Whether these are tensors of the types of the operands.
  bool takes(std::span<const runtime::Value> inputs) const;
  /// The shapes of the results of such tensors, without asking the relation; nothing when it must
  /// be asked.
  std::optional<std::vector<runtime::Shape>> resultShapes(std::span<const runtime::Shape> inputs);
  /// The expression with numbers in place of the extents. Nothing where the types leave its form
  /// open, or do not say what these results are.
  std::optional<TensorFunction> function(std::span<const runtime::Shape> inputs,
                                         std::span<const runtime::Shape> results);

private:
  const OperatorRow& row_;
  std::vector<const Type*> operands_;
  const Type* output_;
  const Attributes& attributes_;
  std::vector<const Type*> inputs_, results_;
  /// No size is left open.
  bool isClosed_;
  /// The shapes tell those of the results without the relation.
  bool areResultsTold_;
  checks::Shapes shapes_;
  /// The expression over open extents, when it was asked for and there is one.
  std::optional<TensorFunction> function_;
  bool isFormOpen_ = false;
};

} // namespace lang
