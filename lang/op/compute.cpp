// Building tensor expressions: extents from types, loads, stages.
#include "lang/op/compute.h"

#include "lang/op/leaves.h"
#include "lower/tensor/fold.h"

#include <fmt/format.h>
#include <unordered_map>

namespace lang {

using runtime::DType;

namespace {

Scalar binary(ScalarFunction function, Scalar a, double b) {
  return apply(function, {a, number(a, b)});
}

} // namespace

Scalar apply(ScalarFunction function, std::initializer_list<Scalar> operands) {
  Arena* arena = operands.begin()->arena();
  std::vector<const ScalarNode*> nodes;
  for (Scalar operand : operands)
    nodes.push_back(operand.node());
  DType dtype = nodes[function == ScalarFunction::Select ? 1 : 0]->dtype;
  return {arena, tensor::makeApply(
                     *arena, function,
                     tensor::scalarFunctionGivesBool(function) ? runtime::Bool : dtype, nodes)};
}

Scalar number(Scalar like, double value) {
  return {like.arena(), tensor::makeNumber(*like.arena(), like.dtype(), value)};
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
  return {a.arena(), tensor::makeCast(*a.arena(), a.node(), dtype)};
}

Scalar reinterpret(Scalar a, DType dtype) {
  Arena& arena = *a.arena();
  std::vector<const ScalarNode*> operand{a.node()};
  return {&arena,
          arena.make<tensor::ScalarApply>(ScalarNode{tensor::ScalarKind::Apply, dtype},
                                          ScalarFunction::Reinterpret, arena.copy(operand))};
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
  if (everywhere_)
    return {arena_, everywhere_};
  return {arena_, arena_->make<tensor::ScalarLoad>(ScalarNode{tensor::ScalarKind::Load, dtype_},
                                                   id_, arena_->copy(nodesOf(at)), nullptr)};
}

Scalar TensorHandle::orElse(const Position& at, Scalar outside) const {
  if (everywhere_) {
    Scalar isInside(arena_, tensor::makeNumber(*arena_, runtime::Bool, 1));
    for (size_t i = 0; i < at.size(); ++i)
      isInside = isInside && at[i] >= 0.0 && at[i] < shape_[i];
    return select(isInside, {arena_, everywhere_}, outside);
  }
  return {arena_, arena_->make<tensor::ScalarLoad>(ScalarNode{tensor::ScalarKind::Load, dtype_},
                                                   id_, arena_->copy(nodesOf(at)), outside.node())};
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

bool surelyEqual(Scalar a, Scalar b) {
  auto left = integerOf(a.node());
  return a.node() == b.node() || (left && left == integerOf(b.node()));
}

Scalar broadcastIndex(Scalar at, Scalar whole, Scalar extent) {
  if (whole.node() == extent.node())
    return at;
  return at * cast(extent != number(extent, 1), runtime::Int64);
}

Position broadcastTo(const Position& at, const Extents& whole, const Extents& shape) {
  size_t extra = at.size() - shape.size();
  Position result(at.begin() + ptrdiff_t(extra), at.end());
  for (size_t i = 0; i < shape.size(); ++i)
    result[i] = broadcastIndex(result[i], whole[extra + i], shape[i]);
  return result;
}

Scalar broadcastExtent(Scalar a, Scalar b) {
  return surelyEqual(a, b) ? a : select(a == number(a, 1), b, a);
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
  Scalar result(arena, tensor::makeInteger(*arena, 1));
  for (Scalar extent : extents)
    result = result * extent;
  return result;
}

namespace {

/// Gives each dimension of the operands and results its extent. Dimensions of one name, or one form
/// over names, share it: that of the first tensor that has it.
class ExtentMaker {
public:
  ExtentMaker(TensorFunction& function, bool isOfResult,
              std::unordered_map<const Dim*, const ScalarNode*>& known)
      : function_(function), isOfResult_(isOfResult), known_(known) {}

  /// Appends the tensors of a type.
  void append(const Type* type, std::vector<TensorInfo>& infos) {
    std::vector<const Type*> tensors;
    appendTensors(type, tensors);
    for (const Type* tensor : tensors) {
      TensorInfo info{tensor->dtype, {}};
      for (uint32_t i = 0; i < tensor->shape.size(); ++i)
        info.shape.push_back(extentOf(tensor->shape[i], uint32_t(infos.size()), i));
      infos.push_back(std::move(info));
    }
  }

private:
  const ScalarNode* extentOf(const Dim* dim, uint32_t tensor, uint32_t i) {
    if (dim->isConstant())
      return tensor::makeInteger(*function_.arena, dim->value);
    const ScalarNode* fresh = nullptr;
    const ScalarNode*& extent = dim->isOneSize() ? known_[dim] : fresh;
    if (!extent)
      extent = tensor::addSize(function_, {isOfResult_, tensor, i});
    return extent;
  }

  TensorFunction& function_;
  bool isOfResult_;
  std::unordered_map<const Dim*, const ScalarNode*>& known_;
};

Extents extentsOf(Arena* arena, const TensorInfo& info) {
  Extents extents;
  for (const ScalarNode* node : info.shape)
    extents.emplace_back(arena, node);
  return extents;
}

} // namespace

ComputeCall::ComputeCall(Types inputs, const Type* output, const Attributes& attributes)
    : attributes_(attributes) {
  std::unordered_map<const Dim*, const ScalarNode*> known;
  ExtentMaker ofInputs(function_, false, known), ofResults(function_, true, known);
  for (const Type* input : inputs) {
    uint32_t first = uint32_t(function_.tensors.size());
    ofInputs.append(input, function_.tensors);
    operands_.push_back({first, uint32_t(function_.tensors.size()) - first});
  }
  function_.inputCount = function_.tensors.size();
  ofResults.append(output, outputs_);
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

size_t ComputeCall::structuralExtent(size_t operand, size_t dim) {
  if (auto number = integerOf(input(operand).extent(dim).node()))
    return size_t(*number);
  if (problem_.empty())
    problem_ = fmt::format("the extent of dimension {} of operand {} must be a number, since the "
                           "form of the computation depends on it",
                           dim, operand);
  return 0;
}

Extents ComputeCall::outputShape(size_t i) const {
  return extentsOf(function_.arena.get(), outputs_[i]);
}

size_t ComputeCall::axis(std::string_view attribute, size_t rank) const {
  int64_t axis = attributes_.integer(attribute);
  return size_t(axis < 0 ? axis + int64_t(rank) : axis);
}

Scalar ComputeCall::number(DType dtype, double value) const {
  return {function_.arena.get(), tensor::makeNumber(*function_.arena, dtype, value)};
}

Scalar ComputeCall::integer(int64_t value) const {
  return {function_.arena.get(), tensor::makeInteger(*function_.arena, value)};
}

Extents ComputeCall::integers(std::span<const int64_t> values) const {
  Extents result;
  for (int64_t value : values)
    result.push_back(integer(value));
  return result;
}

std::span<const tensor::LoopAxis> ComputeCall::freshAxes(const Extents& extents,
                                                         Position& position) {
  Arena& arena = *function_.arena;
  std::vector<tensor::LoopAxis> axes;
  for (Scalar extent : extents) {
    uint32_t number = nextAxis_++;
    axes.push_back({number, extent.node()});
    position.emplace_back(&arena,
                          arena.make<tensor::ScalarIndex>(
                              ScalarNode{tensor::ScalarKind::Index, runtime::Int64}, number));
  }
  return arena.copy(axes);
}

TensorHandle ComputeCall::addStage(const tensor::Stage& stage, TensorInfo info) {
  uint32_t id = uint32_t(function_.tensors.size());
  Extents shape = extentsOf(function_.arena.get(), info);
  runtime::DType dtype = info.dtype;
  function_.stages.push_back(stage);
  function_.tensors.push_back(std::move(info));
  return {function_.arena.get(), id, dtype, std::move(shape)};
}

TensorHandle ComputeCall::define(const Extents& shape, const Body& body) {
  Position at;
  tensor::Stage stage;
  stage.axes = freshAxes(shape, at);
  stage.body = body(at).node();
  if (stage.body->kind == tensor::ScalarKind::Number)
    return {function_.arena.get(), stage.body, shape};
  return addStage(stage, {stage.body->dtype, nodesOf(shape)});
}

uint32_t ComputeCall::idOf(const TensorHandle& tensor) {
  if (!tensor.everywhere())
    return tensor.id();
  Position at;
  tensor::Stage stage;
  stage.axes = freshAxes(tensor.shape(), at);
  stage.body = tensor.everywhere();
  return addStage(stage, {tensor.dtype(), nodesOf(tensor.shape())}).id();
}

TensorHandle ComputeCall::reshape(const TensorHandle& source, const Extents& shape) {
  tensor::Stage stage;
  stage.kind = tensor::StageKind::Reshape;
  stage.source = idOf(source);
  return addStage(stage, {source.dtype(), nodesOf(shape)});
}

TensorHandle ComputeCall::scan(const TensorHandle& source, Combiner combiner, size_t axis,
                               bool exclusive) {
  tensor::Stage stage;
  stage.kind = tensor::StageKind::Scan;
  stage.source = idOf(source);
  stage.combiner = combiner;
  stage.axis = axis;
  stage.exclusive = exclusive;
  return addStage(stage, {source.dtype(), nodesOf(source.shape())});
}

Scalar ComputeCall::reduce(Combiner combiner, Extents extents, const Body& body,
                           std::optional<DType> indexType) {
  Extents loops;
  std::vector<bool> isLoop;
  for (Scalar extent : extents) {
    isLoop.push_back(combiner != Combiner::Sum || !tensor::runsOnce(extent.node()));
    if (isLoop.back())
      loops.push_back(extent);
  }
  Position inner, at;
  auto axes = freshAxes(loops, inner);
  for (size_t i = 0, next = 0; i < extents.size(); ++i)
    at.push_back(isLoop[i] ? inner[next++] : integer(0));
  Scalar value = body(at);
  if (loops.empty() && combiner == Combiner::Sum)
    return value;
  DType dtype = indexType.value_or(value.dtype());
  Arena* arena = function_.arena.get();
  return {arena, arena->make<tensor::ScalarReduce>(ScalarNode{tensor::ScalarKind::Reduce, dtype},
                                                   combiner, axes, value.node())};
}

void ComputeCall::result(const TensorHandle& tensor) {
  function_.results.push_back(idOf(tensor));
}

void ComputeCall::result(const Body& body) {
  result(define(outputShape(function_.results.size()), body));
}

runtime::Checked<TensorFunction> ComputeCall::take() {
  if (!problem_.empty())
    return runtime::Problem{std::move(problem_)};
  return std::move(function_);
}

} // namespace lang
