// One operator call over the sizes that the checker left open: its tensor expression, its kernel
// and its shapes, made once for all of them. They come from the checked types of call sites, so
// they hold for values that are of these types; whether they are is looked at, since not all values
// are compared with their types on the way.
#pragma once

#include "lang/op/compute.h"
#include "lang/op/declared.h"
#include "lower/tensor/engine.h"
#include "runtime/checks/shapes.h"
#include "runtime/value.h"

namespace lang {

/// Whether all extents of tensors are numbers.
bool areClosed(Types tensors);

/// What call sites have in common that have one call over open sizes.
struct OpenCallKey {
  const OperatorRow* row;
  Attributes attributes;
  std::vector<const Type*> operands;
  const Type* output;

  bool operator==(const OpenCallKey& other) const;
  size_t hash() const;
};

class OpenCall {
public:
  const OpenCallKey key;

  /// Whether types are made of tensors of known element type and rank.
  static bool isPossible(Types operands, const Type* output);

  /// The types are those that the checker found, or such as isPossible() holds of. They and the
  /// attributes must outlive this. Where `makeKernel` is null, the call has an expression in place
  /// of a kernel.
  OpenCall(OpenCallKey key, const tensor::MakeKernel& makeKernel);

  /// Whether these are tensors of the types of the operands.
  bool takes(std::span<const runtime::Value> inputs) const;
  /// The shapes of the results of such tensors, without asking the relation; nothing when it must
  /// be asked.
  std::optional<std::vector<runtime::Shape>>
  resultShapes(std::span<const runtime::Shape> inputs) const;
  /// Whether results of such tensors have the types of the output then.
  bool gives(std::span<const runtime::Shape> inputs, std::span<const runtime::Shape> results) const;

  /// What computes all such calls; null where the types leave the form of the expression open, and
  /// where nothing makes kernels.
  const std::shared_ptr<tensor::OwnedKernel>& kernel() const { return kernel_; }
  /// The expression with numbers in place of the extents, where there is no kernel.
  std::optional<TensorFunction> function(std::span<const runtime::Shape> inputs,
                                         std::span<const runtime::Shape> results) const;
  /// About how much memory it takes.
  size_t bytes() const;

private:
  std::vector<const Type*> inputs_, results_;
  /// The shapes tell those of the results without the relation.
  bool areResultsTold_;
  checks::Shapes shapes_;
  std::optional<TensorFunction> function_;
  std::shared_ptr<tensor::OwnedKernel> kernel_;
};

} // namespace lang
