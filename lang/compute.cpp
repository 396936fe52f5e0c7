// Building tensor expressions: folding of index arithmetic, loads, stages.
#include "lang/compute.h"

#include "runtime/half.h"

#include <cmath>

namespace lang {

using runtime::DType;

namespace {

bool isReal(DType dtype) {
  return dtype.isFloat();
}

/// Rounds a constant to its type, so that engines see the value that the program's type can hold.
double roundTo(DType dtype, double value) {
  if (dtype == runtime::Float32)
    return float(value);
  if (dtype == runtime::Float16)
    return float(runtime::Half(runtime::floatRoundedToOdd(value)));
  if (dtype == runtime::BFloat16)
    return float(runtime::BHalf(runtime::floatRoundedToOdd(value)));
  return value;
}

Scalar makeNumber(Arena* arena, DType dtype, double value) {
  if (isReal(dtype))
    return {arena, arena->make<ScalarNumber>(ScalarNode{ScalarKind::Number, dtype},
                                             roundTo(dtype, value), int64_t(0))};
  int64_t integer = dtype.isBool()                    ? value != 0
                    : value >= 9223372036854775808.0  ? INT64_MAX
                    : value <= -9223372036854775808.0 ? INT64_MIN
                                                      : int64_t(value);
  return {arena, arena->make<ScalarNumber>(ScalarNode{ScalarKind::Number, dtype}, 0.0, integer)};
}

Scalar makeInteger(Arena* arena, int64_t value) {
  return {arena,
          arena->make<ScalarNumber>(ScalarNode{ScalarKind::Number, runtime::Int64}, 0.0, value)};
}

bool givesBool(ScalarFunction function) {
  switch (function) {
  case ScalarFunction::Equal:
  case ScalarFunction::NotEqual:
  case ScalarFunction::Less:
  case ScalarFunction::LessEqual:
  case ScalarFunction::Greater:
  case ScalarFunction::GreaterEqual:
  case ScalarFunction::IsNan:
  case ScalarFunction::IsFinite:
  case ScalarFunction::IsInf:
    return true;
  default:
    return false;
  }
}

int64_t floorQuotient(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

/// The value of an int64 function of constants; nothing where it overflows or is not folded.
std::optional<int64_t> foldIntegers(ScalarFunction function, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (function) {
  case ScalarFunction::Add:
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case ScalarFunction::Subtract:
    return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case ScalarFunction::Multiply:
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case ScalarFunction::FloorDivide:
    return b <= 0 ? std::nullopt : std::optional(floorQuotient(a, b));
  case ScalarFunction::FloorMod:
    return b <= 0 ? std::nullopt : std::optional(a - floorQuotient(a, b) * b);
  case ScalarFunction::Maximum:
    return std::max(a, b);
  case ScalarFunction::Minimum:
    return std::min(a, b);
  default:
    return std::nullopt;
  }
}

/// The cases of index arithmetic that need no node: x + 0, x * 1, x / 1, x mod 1, 0 * x.
std::optional<Scalar> foldIdentity(ScalarFunction function, Scalar a, Scalar b) {
  auto left = a.asInteger(), right = b.asInteger();
  switch (function) {
  case ScalarFunction::Add:
    return right == 0 ? std::optional(a) : left == 0 ? std::optional(b) : std::nullopt;
  case ScalarFunction::Subtract:
    return right == 0 ? std::optional(a) : std::nullopt;
  case ScalarFunction::Multiply:
    if (right == 1 || left == 0)
      return a;
    return left == 1 || right == 0 ? std::optional(b) : std::nullopt;
  case ScalarFunction::FloorDivide:
    return right == 1 ? std::optional(a) : std::nullopt;
  case ScalarFunction::FloorMod:
    return right == 1 ? std::optional(makeInteger(a.arena(), 0)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

Scalar binary(ScalarFunction function, Scalar a, double b) {
  return apply(function, {a, number(a, b)});
}

} // namespace

std::optional<int64_t> Scalar::asInteger() const {
  const auto* constant = node_ ? node_->as<ScalarNumber>() : nullptr;
  if (!constant || isReal(constant->dtype))
    return std::nullopt;
  return constant->integer;
}

Scalar apply(ScalarFunction function, std::initializer_list<Scalar> operands) {
  Arena* arena = operands.begin()->arena();
  const Scalar* at = operands.begin();
  DType dtype = function == ScalarFunction::Select ? at[1].dtype() : at[0].dtype();
  if (operands.size() == 2 && dtype == runtime::Int64) {
    auto left = at[0].asInteger(), right = at[1].asInteger();
    if (left && right)
      if (auto value = foldIntegers(function, *left, *right))
        return makeInteger(arena, *value);
    if (auto same = foldIdentity(function, at[0], at[1]))
      return *same;
  }
  if (givesBool(function))
    dtype = runtime::Bool;
  std::vector<const ScalarNode*> nodes;
  for (Scalar operand : operands)
    nodes.push_back(operand.node());
  return {arena, arena->make<ScalarApply>(ScalarNode{ScalarKind::Apply, dtype}, function,
                                          arena->copy(nodes))};
}

Scalar number(Scalar like, double value) {
  return makeNumber(like.arena(), like.dtype(), value);
}

Scalar operator+(Scalar a, Scalar b) {
  return apply(ScalarFunction::Add, {a, b});
}
Scalar operator-(Scalar a, Scalar b) {
  return apply(ScalarFunction::Subtract, {a, b});
}
Scalar operator*(Scalar a, Scalar b) {
  return apply(ScalarFunction::Multiply, {a, b});
}
Scalar operator/(Scalar a, Scalar b) {
  return apply(ScalarFunction::Divide, {a, b});
}
Scalar operator+(Scalar a, double b) {
  return binary(ScalarFunction::Add, a, b);
}
Scalar operator-(Scalar a, double b) {
  return binary(ScalarFunction::Subtract, a, b);
}
Scalar operator*(Scalar a, double b) {
  return binary(ScalarFunction::Multiply, a, b);
}
Scalar operator/(Scalar a, double b) {
  return binary(ScalarFunction::Divide, a, b);
}
Scalar operator-(double a, Scalar b) {
  return number(b, a) - b;
}
Scalar operator/(double a, Scalar b) {
  return number(b, a) / b;
}
Scalar operator-(Scalar a) {
  return apply(ScalarFunction::Negative, {a});
}
Scalar floorDivide(Scalar a, Scalar b) {
  return apply(ScalarFunction::FloorDivide, {a, b});
}
Scalar floorDivide(Scalar a, int64_t b) {
  return floorDivide(a, number(a, double(b)));
}
Scalar floorMod(Scalar a, Scalar b) {
  return apply(ScalarFunction::FloorMod, {a, b});
}
Scalar floorMod(Scalar a, int64_t b) {
  return floorMod(a, number(a, double(b)));
}
Scalar maximum(Scalar a, Scalar b) {
  return apply(ScalarFunction::Maximum, {a, b});
}
Scalar minimum(Scalar a, Scalar b) {
  return apply(ScalarFunction::Minimum, {a, b});
}
Scalar operator<(Scalar a, Scalar b) {
  return apply(ScalarFunction::Less, {a, b});
}
Scalar operator<=(Scalar a, Scalar b) {
  return apply(ScalarFunction::LessEqual, {a, b});
}
Scalar operator>(Scalar a, Scalar b) {
  return apply(ScalarFunction::Greater, {a, b});
}
Scalar operator>=(Scalar a, Scalar b) {
  return apply(ScalarFunction::GreaterEqual, {a, b});
}
Scalar operator==(Scalar a, Scalar b) {
  return apply(ScalarFunction::Equal, {a, b});
}
Scalar operator!=(Scalar a, Scalar b) {
  return apply(ScalarFunction::NotEqual, {a, b});
}
Scalar operator<(Scalar a, double b) {
  return binary(ScalarFunction::Less, a, b);
}
Scalar operator<=(Scalar a, double b) {
  return binary(ScalarFunction::LessEqual, a, b);
}
Scalar operator>(Scalar a, double b) {
  return binary(ScalarFunction::Greater, a, b);
}
Scalar operator>=(Scalar a, double b) {
  return binary(ScalarFunction::GreaterEqual, a, b);
}
Scalar operator==(Scalar a, double b) {
  return binary(ScalarFunction::Equal, a, b);
}
Scalar operator&&(Scalar a, Scalar b) {
  return apply(ScalarFunction::LogicalAnd, {a, b});
}
Scalar operator||(Scalar a, Scalar b) {
  return apply(ScalarFunction::LogicalOr, {a, b});
}
Scalar operator!(Scalar a) {
  return apply(ScalarFunction::LogicalNot, {a});
}
Scalar select(Scalar condition, Scalar then, Scalar otherwise) {
  return apply(ScalarFunction::Select, {condition, then, otherwise});
}
Scalar exp(Scalar a) {
  return apply(ScalarFunction::Exp, {a});
}
Scalar log(Scalar a) {
  return apply(ScalarFunction::Log, {a});
}
Scalar sqrt(Scalar a) {
  return apply(ScalarFunction::Sqrt, {a});
}
Scalar tanh(Scalar a) {
  return apply(ScalarFunction::Tanh, {a});
}

Scalar cast(Scalar a, DType dtype) {
  if (a.dtype() == dtype)
    return a;
  return {a.arena(), a.arena()->make<ScalarCast>(ScalarNode{ScalarKind::Cast, dtype}, a.node())};
}

Extents TensorHandle::without(size_t dim) const {
  return eraseAt(shape_, dim);
}

namespace {

std::vector<const ScalarNode*> nodesOf(const Position& at) {
  std::vector<const ScalarNode*> nodes;
  nodes.reserve(at.size());
  for (Scalar scalar : at)
    nodes.push_back(scalar.node());
  return nodes;
}

} // namespace

Scalar TensorHandle::operator()(const Position& at) const {
  return {arena_, arena_->make<ScalarLoad>(ScalarNode{ScalarKind::Load, dtype_}, id_,
                                           arena_->copy(nodesOf(at)), nullptr)};
}

Scalar TensorHandle::orElse(const Position& at, Scalar outside) const {
  return {arena_, arena_->make<ScalarLoad>(ScalarNode{ScalarKind::Load, dtype_}, id_,
                                           arena_->copy(nodesOf(at)), outside.node())};
}

Position insertAt(Position at, size_t dim, Scalar value) {
  at.insert(at.begin() + ptrdiff_t(dim), value);
  return at;
}

Position eraseAt(Position at, size_t dim) {
  at.erase(at.begin() + ptrdiff_t(dim));
  return at;
}

Position replaceAt(Position at, size_t dim, Scalar value) {
  at[dim] = value;
  return at;
}

Position joined(Position first, const Position& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Position broadcastTo(const Position& at, const Extents& shape) {
  Position result(at.end() - ptrdiff_t(shape.size()), at.end());
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i].asInteger() == 1)
      result[i] = makeInteger(shape[i].arena(), 0);
  return result;
}

Scalar flatten(const Position& at, const Extents& shape) {
  Scalar flat = at.at(0);
  for (size_t i = 1; i < shape.size(); ++i)
    flat = flat * shape[i] + at[i];
  return flat;
}

Position unflatten(Scalar flat, const Extents& shape) {
  Position at(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    at[i] = i == 0 ? flat : floorMod(flat, shape[i]);
    flat = floorDivide(flat, shape[i]);
  }
  return at;
}

Scalar productOf(Arena* arena, const Extents& extents) {
  Scalar result = makeInteger(arena, 1);
  for (Scalar extent : extents)
    result = result * extent;
  return result;
}

namespace {

/// Appends the tensors of a type, fields of tuples in order.
void appendLeaves(Arena& arena, const Type* type, std::vector<TensorInfo>& leaves) {
  if (type->isTuple()) {
    for (const Type* part : type->parts)
      appendLeaves(arena, part, leaves);
    return;
  }
  TensorInfo info{type->dtype, {}};
  for (const Dim* dim : type->shape)
    info.shape.push_back(makeInteger(&arena, dim->value).node());
  leaves.push_back(std::move(info));
}

Extents extentsOf(Arena* arena, const TensorInfo& info) {
  Extents extents;
  for (const ScalarNode* node : info.shape)
    extents.emplace_back(arena, node);
  return extents;
}

} // namespace

ComputeCall::ComputeCall(Types inputs, const Type* output, const Attributes& attributes,
                         std::span<const runtime::Tensor* const> values)
    : attributes_(attributes), values_(values) {
  for (const Type* input : inputs) {
    uint32_t first = uint32_t(function_.tensors.size());
    appendLeaves(*function_.arena, input, function_.tensors);
    operands_.push_back({first, uint32_t(function_.tensors.size()) - first});
  }
  function_.inputCount = function_.tensors.size();
  appendLeaves(*function_.arena, output, outputs_);
}

TensorHandle ComputeCall::input(size_t i) const {
  uint32_t id = operands_[i].first;
  const TensorInfo& info = function_.tensors[id];
  return {function_.arena.get(), id, info.dtype, extentsOf(function_.arena.get(), info)};
}

std::vector<TensorHandle> ComputeCall::fields(size_t i) const {
  std::vector<TensorHandle> handles;
  auto [first, count] = operands_[i];
  for (uint32_t id = first; id < first + count; ++id) {
    const TensorInfo& info = function_.tensors[id];
    handles.emplace_back(function_.arena.get(), id, info.dtype,
                         extentsOf(function_.arena.get(), info));
  }
  return handles;
}

const runtime::Tensor* ComputeCall::value(size_t i) const {
  uint32_t leaf = operands_[i].first;
  return leaf < values_.size() ? values_[leaf] : nullptr;
}

Extents ComputeCall::outputShape(size_t i) const {
  return extentsOf(function_.arena.get(), outputs_[i]);
}

size_t ComputeCall::axis(std::string_view attribute, size_t rank) const {
  int64_t axis = attributes_.integer(attribute);
  return size_t(axis < 0 ? axis + int64_t(rank) : axis);
}

Scalar ComputeCall::number(DType dtype, double value) const {
  return makeNumber(function_.arena.get(), dtype, value);
}

Scalar ComputeCall::integer(int64_t value) const {
  return makeInteger(function_.arena.get(), value);
}

Extents ComputeCall::integers(std::span<const int64_t> values) const {
  Extents result;
  for (int64_t value : values)
    result.push_back(integer(value));
  return result;
}

std::span<const LoopAxis> ComputeCall::freshAxes(const Extents& extents, Position& position) {
  Arena& arena = *function_.arena;
  std::vector<LoopAxis> axes;
  for (Scalar extent : extents) {
    uint32_t number = nextAxis_++;
    axes.push_back({number, extent.node()});
    position.emplace_back(
        &arena, arena.make<ScalarIndex>(ScalarNode{ScalarKind::Index, runtime::Int64}, number));
  }
  return arena.copy(axes);
}

TensorHandle ComputeCall::addStage(const Stage& stage, TensorInfo info) {
  uint32_t id = uint32_t(function_.tensors.size());
  Extents shape = extentsOf(function_.arena.get(), info);
  runtime::DType dtype = info.dtype;
  function_.stages.push_back(stage);
  function_.tensors.push_back(std::move(info));
  return {function_.arena.get(), id, dtype, std::move(shape)};
}

TensorHandle ComputeCall::define(const Extents& shape, const Body& body) {
  Position at;
  Stage stage;
  stage.axes = freshAxes(shape, at);
  stage.body = body(at).node();
  return addStage(stage, {stage.body->dtype, nodesOf(shape)});
}

TensorHandle ComputeCall::reshape(const TensorHandle& source, const Extents& shape) {
  Stage stage;
  stage.kind = StageKind::Reshape;
  stage.source = source.id();
  return addStage(stage, {source.dtype(), nodesOf(shape)});
}

TensorHandle ComputeCall::scan(const TensorHandle& source, Combiner combiner, size_t axis,
                               bool exclusive) {
  Stage stage;
  stage.kind = StageKind::Scan;
  stage.source = source.id();
  stage.combiner = combiner;
  stage.axis = axis;
  stage.exclusive = exclusive;
  return addStage(stage, {source.dtype(), nodesOf(source.shape())});
}

Scalar ComputeCall::reduce(Combiner combiner, Extents extents, const Body& body,
                           std::optional<DType> indexType) {
  Position at;
  auto axes = freshAxes(extents, at);
  Scalar value = body(at);
  DType dtype = indexType.value_or(value.dtype());
  Arena* arena = function_.arena.get();
  return {arena, arena->make<ScalarReduce>(ScalarNode{ScalarKind::Reduce, dtype}, combiner, axes,
                                           value.node())};
}

void ComputeCall::result(const TensorHandle& tensor) {
  function_.results.push_back(tensor.id());
}

void ComputeCall::result(const Body& body) {
  result(define(outputShape(function_.results.size()), body));
}

TensorFunction ComputeCall::take() {
  return std::move(function_);
}

} // namespace lang
