// Scalar expressions as straight code over forms: a part of build.h.
#pragma once

#include "lower/loops/nest.h"

#include <functional>
#include <unordered_map>

namespace loops {

/// Thrown where a function has no nest, and caught at the door of build.h.
struct NoNest {
  std::string problem;
};

/// What is the same for all expressions of a function.
struct Extents {
  const tensor::TensorFunction& function;
  Nest& nest;
  /// By tensor, its buffer; none while it has none.
  std::vector<uint32_t> buffers;
  /// By the number of an axis.
  std::unordered_map<uint32_t, Form> axes;
};

/// An int64 expression without loads as a form; nothing where it is none.
std::optional<Form> formOf(Extents& extents, const sizes::Facts& facts,
                           const tensor::ScalarNode* root);

/// Makes the operations of one statement.
class ValueBuilder {
public:
  /// `reduce` gives the value of a sum, as an operation of this statement.
  using Reduce = std::function<uint32_t(ValueBuilder& builder, const tensor::ScalarReduce& reduce)>;

  ValueBuilder(Extents& extents, const sizes::Facts& facts, Reduce reduce)
      : extents_(extents), facts_(facts), reduce_(std::move(reduce)) {}

  uint32_t value(const tensor::ScalarNode* root);
  uint32_t add(Operation operation);
  uint32_t cast(uint32_t value, DType dtype);
  uint32_t number(DType dtype, double real, int64_t integer);
  uint32_t position(Form form);
  /// A place along a dimension of such an extent, checked where it is not proven to be inside.
  Place placeAt(Form form, Form extent) const;

  const std::vector<Operation>& operations() const { return operations_; }
  std::vector<Operation> take() { return std::move(operations_); }
  DType typeOf(uint32_t value) const { return operations_[value].dtype; }
  Nest& nest() const { return extents_.nest; }

private:
  std::optional<Form> knownForm(const tensor::ScalarNode* node) const;
  void make(const tensor::ScalarNode* node);
  uint32_t made(const tensor::ScalarNode* node);
  uint32_t load(const tensor::ScalarLoad& load);
  uint32_t apply(const tensor::ScalarApply& apply);

  Extents& extents_;
  const sizes::Facts& facts_;
  Reduce reduce_;
  std::vector<Operation> operations_;
  std::unordered_map<const tensor::ScalarNode*, Form> forms_;
  std::unordered_map<const tensor::ScalarNode*, uint32_t> values_;
};

/// Whether operations may fail: a checked place, a divisor that may be zero.
bool mayFail(const std::vector<Operation>& operations);

} // namespace loops
