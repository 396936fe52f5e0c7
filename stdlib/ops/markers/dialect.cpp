// What TVM's own passes put into programs for its machine: storage, tensors in it, calls that write
// into tensors.
//
// A program that was dumped after those passes means what it meant before. Storage is only a name
// here: each tensor has memory of its own, so tensors that share storage one after the other have
// the values that they should. A view made by `vm.reshape_tensor` has the elements that its operand
// had then.
#include "lang/ir/expr.h"
#include "lang/ir/module.h"
#include "runtime/limits.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

constexpr lang::NoGradient machinery{
    "it belongs to TVM's machine: differentiate the program before "
    "its passes"};

// Calls.

/// The function that operand 0 is, or the failure, or the wait for it.
std::optional<RelationResult> functionProblem(const RelationCall& call) {
  if (!call.isKnown(0))
    return call.waitFor(0);
  if (call.operands[0]->kind != TypeKind::Function)
    return call.failedAt(0, words("a function is called here, but it is `{}`", call.operands[0]));
  if (!call.operands[0]->generics.empty())
    return call.failedAt(
        0, words("the function must not be generic, but it is `{}`", call.operands[0]));
  return std::nullopt;
}

/// The failure of a known operand that can't be a tuple of so many values.
std::optional<RelationResult> tupleProblem(const RelationCall& call, size_t i, size_t count,
                                           std::string_view whatCounts) {
  const Type* type = call.operands[i];
  if (type->isUnknown() || (type->isTuple() && type->parts.size() == count))
    return std::nullopt;
  return call.failedAt(i, words("a tuple of {} {}{} is needed, but it is `{}`", count, whatCounts,
                                count == 1 ? "" : "s", type));
}

RelationResult callLoweredRelation(const RelationCall& call) {
  if (auto problem = functionProblem(call))
    return *problem;
  const Type& function = *call.operands[0];
  if (auto problem = tupleProblem(call, 1, function.parts.size(), "argument"))
    return *problem;
  RelationResult result = call.solved(function.result);
  result.operands = {{1, call.types.tuple(function.parts)}};
  return result;
}

RelationResult invokeRelation(const RelationCall& call) {
  RelationResult result = callLoweredRelation(call);
  if (result.outcome != RelationResult::Outcome::Solved)
    return result;
  const Type* results = result.output;
  if (!results->isTuple())
    results = call.types.tuple({&results, 1});
  if (auto problem = tupleProblem(call, 2, results->parts.size(), "output"))
    return *problem;
  result.operands.emplace_back(2, results);
  result.output = call.types.tuple({});
  return result;
}

// Memory.

RelationResult allocStorageRelation(const RelationCall& call) {
  for (size_t i : {0, 2})
    if (call.rank(i) != 0 || !call.dtype(i).isInteger())
      return call.failedAt(i, words("`{}` must be one integer, but it is `{}`",
                                    i == 0 ? "size" : "alignment", call.operands[i]));
  return call.solved(call.types.data(&storageDefinition, {}));
}

RelationResult unitRelation(const RelationCall& call) {
  return call.solved(call.types.tuple({}));
}

/// The shape that the attributes or the operand tell; nothing when they leave it open.
std::optional<std::vector<int64_t>> writtenShape(const RelationCall& call,
                                                 std::string_view constant, std::string_view list) {
  if (!constant.empty())
    if (const Expr* expr = call.attributes.get(constant).expr)
      if (const auto* value = expr->as<Constant>())
        return integerValues(constantTensor(*value));
  if (auto sizes = call.attributes.integers(list); !sizes.empty())
    return sizes;
  return std::nullopt;
}

/// A tensor whose shape is written in attributes, and is the value of operand `shape` at run time.
RelationResult shapedRelation(const RelationCall& call, size_t shape, runtime::DType dtype,
                              std::optional<std::vector<int64_t>> written) {
  if (call.rank(shape) != 1 || !call.dtype(shape).isInteger())
    return call.failedAt(
        shape, words("`shape` must be a vector of integers, but it is `{}`", call.operands[shape]));
  auto sizes = call.value(shape) ? integerValues(*call.value(shape)) : written;
  if (!sizes) {
    const Dim* rank = call.shape(shape)[0];
    if (!rank->isConstant() || rank->value > int64_t(runtime::mostDimensions))
      return call.failedAt(shape, words("the rank of the result is not known: `shape` is `{}`",
                                        call.operands[shape]));
    return call.solved(std::vector<const Dim*>(size_t(rank->value), call.types.any()), dtype);
  }
  if (written && call.value(shape) && *sizes != *written)
    return call.failedAt(shape, fmt::format("`shape` is [{}], but the attributes say [{}]",
                                            fmt::join(*sizes, ", "), fmt::join(*written, ", ")));
  std::vector<const Dim*> dims;
  for (int64_t size : *sizes) {
    if (size < 0)
      return call.failedAt(shape, fmt::format("an extent is negative: {}", size));
    dims.push_back(call.types.constant(size));
  }
  return call.solved(dims, dtype);
}

RelationResult allocTensorRelation(const RelationCall& call) {
  if (call.rank(1) != 0 || !call.dtype(1).isInteger())
    return call.failedAt(1,
                         words("`offset` must be one integer, but it is `{}`", call.operands[1]));
  return shapedRelation(call, 2, call.attributes.dtype("dtype").value_or(runtime::Float32),
                        writtenShape(call, "const_shape", "assert_shape"));
}

void computeZeros(ComputeCall& call) {
  call.result([&](const Position&) { return constantOf(call, call.outputDType(), 0); });
}

RelationResult reshapeTensorRelation(const RelationCall& call) {
  RelationResult result =
      shapedRelation(call, 1, call.dtype(0), writtenShape(call, "", "newshape"));
  if (result.outcome != RelationResult::Outcome::Solved)
    return result;
  const Dim *has = product(call.types, call.shape(0)),
            *wanted = product(call.types, result.output->shape);
  if (call.differ(has, wanted))
    return call.failedAt(0,
                         words("`{}` has {} elements, and the new shape `{}` {}", call.operands[0],
                               dimText(has), shapeText(result.output->shape), dimText(wanted)));
  return result;
}

void computeView(ComputeCall& call) {
  call.result(call.reshape(call.input(0), call.outputShape()));
}

constexpr OperandRow callOperands[] = {
    {"func", "the function that is called", OperandKind::Any},
    {"call_args", "the tuple of its arguments", OperandKind::Any, true}};
constexpr OperandRow invokeOperands[] = {
    {"op", "the function that is called", OperandKind::Any},
    {"ins", "the tuple of its arguments", OperandKind::Any, true},
    {"outs", "the tuple of tensors that its results are written into", OperandKind::Any, true}};
constexpr OperandRow allocStorageOperands[] = {{"size", "how many bytes, an integer"},
                                               {"shape", "the shape of what will lie there"},
                                               {"alignment", "an integer"}};
constexpr OperandRow allocTensorOperands[] = {
    {"storage", "where the tensor lies", OperandKind::Any},
    {"offset", "at which byte of it, an integer"},
    {"shape", "the shape, a vector of integers"}};
constexpr OperandRow killOperands[] = {{"to_free", "a value of any type", OperandKind::Any}};
constexpr OperandRow reshapeOperands[] = {{"data", "the input"},
                                          {"shape", "the new shape, a vector of integers"}};

constexpr AttributeRow callAttributes[] = {{"metadata", AttributeKind::Object, "None",
                                            "a map for TVM's code generators, as metadata", true}};
constexpr AttributeRow invokeAttributes[] = {{"__dict__", AttributeKind::Object, "None",
                                              "a map for TVM's code generators, as metadata",
                                              true}};
constexpr AttributeRow allocStorageAttributes[] = {
    {"dtype", AttributeKind::DType, "\"float32\"", "the element type of what will lie there"},
    {"virtual_device", AttributeKind::Object, "None", "the device, as metadata", true}};
constexpr AttributeRow allocTensorAttributes[] = {
    {"dtype", AttributeKind::DType, "\"float32\"", "the element type"},
    {"const_shape", AttributeKind::Expr, "", "the shape, where it is a constant, or `None`", true},
    {"assert_shape", AttributeKind::IntList, "", "the shape, where it is known, or `[]`", true}};
constexpr AttributeRow reshapeAttributes[] = {
    {"newshape", AttributeKind::IntList, "", "the new shape, where it is known, or `[]`", true}};

constexpr Example callExamples[] = {
    {"call_lowered(fn (%x: int32, %y: int32) { %x - %y }, (5, 3))", "2"}};
constexpr Example invokeExamples[] = {
    {"{ let %s = memory.alloc_storage(8i64, [2i64], 64i64); "
     "let %t = memory.alloc_tensor(%s, 0i64, [2i64], const_shape=None, assert_shape=[2]); "
     "let %u = vm.invoke_tvm_op(fn (%x: Tensor[(2), float32]) { %x + %x }, ([1f, 2f],), (%t,)); "
     "%t }",
     "[2f, 4f]"}};
constexpr Example allocStorageExamples[] = {
    {"{ let %s = memory.alloc_storage(8i64, [2i64], 64i64); 1 }", "1"}};
constexpr Example allocTensorExamples[] = {
    {"{ let %s = memory.alloc_storage(8i64, [2i64], 64i64); "
     "memory.alloc_tensor(%s, 0i64, [2i64], const_shape=None, assert_shape=[2]) }",
     "[0f, 0f]"}};
constexpr Example killExamples[] = {{"memory.kill([1f, 2f])", "()"}};
constexpr Example reshapeExamples[] = {
    {"vm.reshape_tensor([1f, 2f], [2i64, 1i64], newshape=[2, 1])", "[[1f], [2f]]"}};

constexpr OperatorRow rows[] = {
    {.name = "call_lowered",
     .doc = "Calls a function with the fields of a tuple.",
     .details = "TVM writes it where a kernel is called. A kernel itself, a TIR function, has no "
                "Relay text.",
     .operands = callOperands,
     .attributes = callAttributes,
     .attributesKey = "relay.attrs.CallLoweredAttrs",
     .relation = callLoweredRelation,
     .action = Action::Call,
     .gradient = machinery,
     .examples = callExamples},
    {.name = "vm.invoke_tvm_op",
     .doc = "Calls a function with the fields of a tuple and writes the results into tensors.",
     .details = "Only tensors that `memory.alloc_tensor` made can be written. Gives `()`.",
     .operands = invokeOperands,
     .attributes = invokeAttributes,
     .attributesKey = "DictAttrs",
     .relation = invokeRelation,
     .action = Action::CallInto,
     .gradient = machinery,
     .examples = invokeExamples,
     .unregisteredAttributes = true},
    {.name = "memory.alloc_storage",
     .doc = "Storage for tensors, of the type `Storage`.",
     .details = "Takes no memory by itself; the tensors in it do.",
     .operands = allocStorageOperands,
     .attributes = allocStorageAttributes,
     .attributesKey = "relay.attrs.AllocStorageAttrs",
     .relation = allocStorageRelation,
     .action = Action::Nothing,
     .gradient = machinery,
     .examples = allocStorageExamples},
    {.name = "memory.alloc_tensor",
     .doc = "A tensor in storage, of zeros until it is written.",
     .operands = allocTensorOperands,
     .attributes = allocTensorAttributes,
     .attributesKey = "relay.attrs.AllocTensorAttrs",
     .relation = allocTensorRelation,
     .compute = computeZeros,
     .action = Action::Allocate,
     .gradient = machinery,
     .examples = allocTensorExamples,
     .shapeNeeds = ShapeNeeds::Values},
    {.name = "memory.kill",
     .doc = "Says that a value is not used any more; gives `()`.",
     .operands = killOperands,
     .relation = unitRelation,
     .action = Action::Nothing,
     .gradient = machinery,
     .examples = killExamples},
    {.name = "vm.reshape_tensor",
     .doc = "The elements of a tensor, in row-major order, in another shape.",
     .operands = reshapeOperands,
     .attributes = reshapeAttributes,
     .attributesKey = "relay.attrs.ReshapeTensorAttrs",
     .relation = reshapeTensorRelation,
     .compute = computeView,
     .gradient = GradientRule{reshapeBack},
     .examples = reshapeExamples,
     .shapeNeeds = ShapeNeeds::Values},
};

} // namespace

lang::OperatorFamily dialectFamily() {
  return rows;
}

} // namespace stdlib
