// What the author of an operator writes tensor expressions with: handles with operators.
//
//   void softmax(ComputeCall& call) {
//     TensorHandle x = call.input(0);
//     size_t axis = call.axis("axis", x.rank());
//     TensorHandle highest = call.define(x.without(axis), [&](const Position& at) {
//       return call.maximumOver({x.extent(axis)}, [&](const Position& k) {
//         return x(insertAt(at, axis, k[0])); });
//     });
//     ...
//     call.result(x.shape(), [&](const Position& at) { return ...; });
//   }
//
// The body functions run once, at build time; they build an expression and see no values. Use
// select() for choices that depend on the position, C++ `if` for those that depend on attributes.
// Extents are scalars like indices, and one definition must be right for all sizes that the
// relation accepts, whether its types have numbers, names or `?`: an extent can't be asked for its
// number. What differs at an extent of 1 is written with broadcastTo() and its kin, other cases
// with select() on extents, which folds where they are numbers. Where the form itself hangs on an
// extent, such as the number of coordinates that an index has, structuralExtent() gives it.
#pragma once

#include "lang/op/attributes.h"
#include "lang/types/type.h"
#include "lower/tensor/expression.h"
#include "runtime/result.h"

#include <functional>
#include <optional>
#include <string>

namespace lang {

using tensor::Combiner;
using tensor::ScalarFunction;
using tensor::ScalarNode;
using tensor::TensorFunction;
using tensor::TensorInfo;

class ComputeCall;

/// A scalar expression under construction.
class Scalar {
public:
  Scalar() = default;
  Scalar(Arena* arena, const ScalarNode* node) : arena_(arena), node_(node) {}

  const ScalarNode* node() const { return node_; }
  Arena* arena() const { return arena_; }
  runtime::DType dtype() const { return node_->dtype; }

private:
  Arena* arena_ = nullptr;
  const ScalarNode* node_ = nullptr;
};

/// A position in a tensor: one int64 scalar per dimension.
using Position = std::vector<Scalar>;
/// The shape of a tensor: one int64 scalar per dimension.
using Extents = std::vector<Scalar>;

/// Applies a scalar function; folds integer constants and the trivial cases of index arithmetic.
Scalar apply(ScalarFunction function, std::initializer_list<Scalar> operands);

/// A constant of the type of `like`. The value is rounded to that type.
Scalar number(Scalar like, double value);

// Arithmetic; operands of equal type. The overloads with a plain number take the other side's type.
Scalar operator+(Scalar a, Scalar b);
Scalar operator-(Scalar a, Scalar b);
Scalar operator*(Scalar a, Scalar b);
Scalar operator/(Scalar a, Scalar b);
Scalar operator+(Scalar a, double b);
Scalar operator-(Scalar a, double b);
Scalar operator*(Scalar a, double b);
Scalar operator/(Scalar a, double b);
Scalar operator-(double a, Scalar b);
Scalar operator/(double a, Scalar b);
Scalar operator-(Scalar a);
Scalar floorDivide(Scalar a, Scalar b);
Scalar floorDivide(Scalar a, int64_t b);
Scalar floorMod(Scalar a, Scalar b);
Scalar floorMod(Scalar a, int64_t b);
Scalar maximum(Scalar a, Scalar b);
Scalar minimum(Scalar a, Scalar b);
// Comparisons give bool.
Scalar operator<(Scalar a, Scalar b);
Scalar operator<=(Scalar a, Scalar b);
Scalar operator>(Scalar a, Scalar b);
Scalar operator>=(Scalar a, Scalar b);
Scalar operator==(Scalar a, Scalar b);
Scalar operator!=(Scalar a, Scalar b);
Scalar operator<(Scalar a, double b);
Scalar operator<=(Scalar a, double b);
Scalar operator>(Scalar a, double b);
Scalar operator>=(Scalar a, double b);
Scalar operator==(Scalar a, double b);
// Logic on bool; both sides are always built.
Scalar operator&&(Scalar a, Scalar b);
Scalar operator||(Scalar a, Scalar b);
Scalar operator!(Scalar a);
Scalar select(Scalar condition, Scalar then, Scalar otherwise);
/// Converts; gives `a` itself when it has the type already.
Scalar cast(Scalar a, runtime::DType dtype);
/// The same bits as another type of as many.
Scalar reinterpret(Scalar a, runtime::DType dtype);
Scalar exp(Scalar a);
Scalar log(Scalar a);
Scalar sqrt(Scalar a);
Scalar tanh(Scalar a);

/// A tensor that expressions can read.
class TensorHandle {
public:
  TensorHandle() = default;
  TensorHandle(Arena* arena, uint32_t id, runtime::DType dtype, Extents shape)
      : arena_(arena), id_(id), dtype_(dtype), shape_(std::move(shape)) {}
  /// A tensor whose elements are all that constant.
  TensorHandle(Arena* arena, const ScalarNode* everywhere, Extents shape)
      : arena_(arena), everywhere_(everywhere), dtype_(everywhere->dtype),
        shape_(std::move(shape)) {}

  /// The constant that all elements are known to be, or null; such a tensor has no number yet.
  const ScalarNode* everywhere() const { return everywhere_; }
  uint32_t id() const { return id_; }
  runtime::DType dtype() const { return dtype_; }
  const Extents& shape() const { return shape_; }
  size_t rank() const { return shape_.size(); }
  Scalar extent(size_t dim) const { return shape_[dim]; }
  /// The shape without one dimension.
  Extents without(size_t dim) const;

  /// The element at `at`, which must lie inside.
  Scalar operator()(const Position& at) const;
  /// The element at `at`, or `outside` where `at` lies outside the tensor.
  Scalar orElse(const Position& at, Scalar outside) const;

private:
  Arena* arena_ = nullptr;
  uint32_t id_ = 0;
  const ScalarNode* everywhere_ = nullptr;
  runtime::DType dtype_;
  Extents shape_;
};

/// `at` with `value` put in front of dimension `dim`.
Position insertAt(Position at, size_t dim, Scalar value);
/// `at` without dimension `dim`.
Position eraseAt(Position at, size_t dim);
/// `at` with dimension `dim` replaced.
Position replaceAt(Position at, size_t dim, Scalar value);
/// `first` followed by `second`.
Position joined(Position first, const Position& second);
/// Right-aligns `at`, a position in a tensor of shape `whole`, with `shape` as numpy broadcasting
/// does: drops leading dimensions, and reads position 0 where the extent of `shape` is 1.
Position broadcastTo(const Position& at, const Extents& whole, const Extents& shape);
/// The same for one dimension: 0 where `extent` is 1, else `at`. Where only the sizes will tell, a
/// multiple of `at` whose factor depends on extents alone.
Scalar broadcastIndex(Scalar at, Scalar whole, Scalar extent);
/// The extent that two dimensions broadcast to.
Scalar broadcastExtent(Scalar a, Scalar b);
/// True when two extents are known to be equal. False tells nothing, so the only use is to leave
/// out what would then do nothing.
bool surelyEqual(Scalar a, Scalar b);
/// The row-major position of `at` in `shape`.
Scalar flatten(const Position& at, const Extents& shape);
/// The position in `shape` of the row-major position `flat`.
Position unflatten(Scalar flat, const Extents& shape);
/// The product of extents; needs the arena for the empty product.
Scalar productOf(Arena* arena, const Extents& extents);

/// One call of an operator whose result is being defined. The author defines stages and names one
/// result per tensor of the output type, in order.
class ComputeCall {
public:
  using Body = std::function<Scalar(const Position&)>;

  /// `inputs` are the types of the operands (tensors or tuples of tensors), `output` that of the
  /// result as the relation gives it. An extent is a number where its dimension is one, else a
  /// size: one for all dimensions of the same form, one for each `?`.
  ComputeCall(Types inputs, const Type* output, const Attributes& attributes);

  const Attributes& attributes() const { return attributes_; }
  /// Operand `i`, a tensor.
  TensorHandle input(size_t i) const;
  /// The fields of operand `i`, a tuple.
  std::vector<TensorHandle> fields(size_t i) const;
  /// An extent of an operand that the form of the computation depends on. When the types do not
  /// have it as a number, take() gives the problem, and this 0.
  size_t structuralExtent(size_t operand, size_t dim);
  /// Shape and type of result `i`.
  Extents outputShape(size_t i = 0) const;
  runtime::DType outputDType(size_t i = 0) const { return outputs_[i].dtype; }
  size_t outputCount() const { return outputs_.size(); }

  /// An integer attribute that names a dimension of a tensor of that rank; negative ones count from
  /// the back.
  size_t axis(std::string_view attribute, size_t rank) const;

  /// A constant of a type.
  Scalar number(runtime::DType dtype, double value) const;
  /// An int64 constant, for index arithmetic.
  Scalar integer(int64_t value) const;
  /// Int64 constants, for shapes and offsets from attributes.
  Extents integers(std::span<const int64_t> values) const;

  /// Defines a tensor element by element; its type is that of the body.
  TensorHandle define(const Extents& shape, const Body& body);
  /// The elements of `source` in row-major order under another shape of equal count.
  TensorHandle reshape(const TensorHandle& source, const Extents& shape);
  /// The running sum or product along a dimension.
  TensorHandle scan(const TensorHandle& source, Combiner combiner, size_t axis, bool exclusive);

  /// A reduction; `body` gets one index per extent. Extents of zero give the identity. Of a sum,
  /// loops that surely run once are left out.
  Scalar reduce(Combiner combiner, Extents extents, const Body& body,
                std::optional<runtime::DType> indexType = std::nullopt);
  Scalar sumOver(Extents extents, const Body& body) {
    return reduce(Combiner::Sum, std::move(extents), body);
  }
  Scalar maximumOver(Extents extents, const Body& body) {
    return reduce(Combiner::Maximum, std::move(extents), body);
  }

  /// Names the next result.
  void result(const TensorHandle& tensor);
  /// Defines the next result with the shape the relation gave it.
  void result(const Body& body);

  /// The finished function, or the problem that its form is not known; the call is used up.
  runtime::Checked<TensorFunction> take();

private:
  std::span<const tensor::LoopAxis> freshAxes(const Extents& extents, Position& position);
  TensorHandle addStage(const tensor::Stage& stage, TensorInfo info);
  uint32_t idOf(const TensorHandle& tensor);

  const Attributes& attributes_;
  TensorFunction function_;
  std::vector<std::pair<uint32_t, uint32_t>> operands_;
  std::vector<TensorInfo> outputs_;
  uint32_t nextAxis_ = 0;
  std::string problem_;
};

} // namespace lang
