// Functions of floats on values of any type: on each float leaf of a tuple or a data type.
//
// A function of scalars stands for its own code on tensors, since operators broadcast: a pass puts
// the leaf in the place of the scalar, so there is no rank to be generic in. The relations know the
// types of the values only as far as the checker does; in a generic definition they are type
// parameters, and whether leaves fit the function shows where the pass makes copies.
#include "lang/ir/expr.h"
#include "lang/op/op.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/fixes.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

bool isFloatScalar(const Type* type) {
  return type->isTensor() && type->shape.empty() && type->dtype.isFloat();
}

/// The element type of the first float leaf, or nothing.
std::optional<runtime::DType> firstFloat(const Type* root) {
  std::vector<const Type*> open = {root};
  std::unordered_set<const TypeDefinition*> seen;
  while (!open.empty()) {
    const Type* type = open.back();
    open.pop_back();
    if (type->isTensor() && type->dtype.isFloat())
      return type->dtype;
    if (type->isTuple() || type->kind == TypeKind::Data)
      open.insert(open.end(), type->parts.rbegin(), type->parts.rend());
    if (type->kind == TypeKind::Data && seen.insert(type->definition).second)
      for (const Constructor* constructor : type->definition->constructors)
        open.insert(open.end(), constructor->fields.rbegin(), constructor->fields.rend());
  }
  return std::nullopt;
}

/// The type that all values are to have.
const Type* valueType(Types values) {
  auto known = std::ranges::find(values, false, &Type::hasUnknown);
  return known == values.end() ? values[0] : *known;
}

/// The one scalar type that the function takes and gives; where neither it nor a leaf says one,
/// float32, as of what may be any value. Null while leaves are not known.
const Type* scalarOf(const RelationCall& call, const Type* leaves) {
  const Type& function = *call.operands[0];
  for (const Type* part : function.parts)
    if (isFloatScalar(part))
      return part;
  if (isFloatScalar(function.result))
    return function.result;
  auto dtype = firstFloat(leaves);
  bool isOpen = !dtype && leaves->hasUnknown;
  return isOpen ? nullptr : call.types.scalar(dtype.value_or(runtime::Float32));
}

RelationResult functionFailure(const RelationCall& call) {
  return call.failedAt(
      0, words("a function of scalars is needed, but this is `{}`", call.operands[0]));
}

RelationResult countFailure(const RelationCall& call, size_t wanted, size_t count) {
  RelationResult failure = call.failedAt(
      0, fmt::format("the function takes {}, but there {} {}", counted(int64_t(wanted), "argument"),
                     count == 1 ? "is" : "are", counted(int64_t(count), "value")));
  const Type& first = *call.operands[1];
  if (count != 1 || !first.isTuple() || first.parts.size() != wanted)
    return failure;
  return mended(failure, {"a tuple is one value: give several one after the other, without "
                          "parentheses around them"});
}

/// Why operand 0 is no function from one float of each value to a float.
std::optional<RelationResult> functionProblem(const RelationCall& call, size_t count) {
  const Type& function = *call.operands[0];
  if (function.kind != TypeKind::Function)
    return functionFailure(call);
  if (function.parts.size() != count)
    return countFailure(call, function.parts.size(), count);
  auto fits = [](const Type* type) {
    return type->isUnknown() || type->isError() || isFloatScalar(type);
  };
  if (!std::ranges::all_of(function.parts, fits) || !fits(function.result))
    return mended(functionFailure(call),
                  {words("write it for a leaf that is one float, such as `{}`: it is applied to "
                         "tensors as it stands",
                         runtime::Float32)});
  return std::nullopt;
}

RelationResult leavesRelation(const RelationCall& call, bool isSum) {
  Types values = call.operands.subspan(1);
  size_t count = values.size();
  const Type* type = valueType(values);
  if (!call.isKnown(0))
    return call.waitFor(0);
  if (auto problem = functionProblem(call, count))
    return *problem;
  const Type* scalar = scalarOf(call, type);
  if (type->hasUnknown) {
    RelationResult waiting = call.waitFor(1);
    waiting.output = isSum ? scalar : type;
    return waiting;
  }
  RelationResult answer = call.solved(isSum ? scalar : type);
  answer.operands = {{0, call.types.function(std::vector<const Type*>(count, scalar), scalar)}};
  for (size_t i = 1; i <= count; ++i)
    answer.operands.emplace_back(i, type);
  return answer;
}

RelationResult mapRelation(const RelationCall& call) {
  return leavesRelation(call, false);
}

RelationResult sumRelation(const RelationCall& call) {
  return leavesRelation(call, true);
}

RelationResult startsRelation(const RelationCall& call) {
  return call.isKnown(0) ? call.solved(call.operands[0]) : call.waitFor(0);
}

constexpr NoGradient ofItsCode{
    "it stands for code, and the derivative of its value is that of this code"};

constexpr OperandRow operands[] = {
    {"f", "a function from one float of each value to a float", OperandKind::Any},
    {"value", "values of one type", OperandKind::Any, false, true}};

constexpr OperandRow startsOperand[] = {{"value", "a value of any type", OperandKind::Any}};

constexpr Example startsExamples[] = {
    {"leaf_starts(([5f, 6f], 7, 8f))", "([0f, 0f], 7, 2f)"},
    {"leaf_starts(Cons([5f, 6f], Cons([7f, 8f], Nil)))", "Cons([0f, 0f], Cons([2f, 2f], Nil))"}};
constexpr Example mapExamples[] = {
    {"map_leaves(fn (%x: float32) { %x * 2f }, ([1f, 2f], 5))", "([2f, 4f], 5)"},
    {"map_leaves(fn (%p: float32, %g: float32) { %p - 0.5f * %g }, "
     "(1f, [1f, 2f]), (2f, [2f, 6f]))",
     "(0f, [0f, -1f])"},
    {"map_leaves(fn (%x: float32) { %x * 0.5f }, (3f, 3f64))", "(1.5f, 1.5f64)"},
    {"map_leaves(fn (%x: float32) { 0f }, Cons([1f, 2f], Nil))", "Cons([0f, 0f], Nil)"}};
constexpr Example sumExamples[] = {
    {"sum_leaves(fn (%x: float32) { sum(%x * %x) }, ([1f, 2f], 5, 3f))", "14f"}};

constexpr OperatorRow rows[] = {
    {.name = "map_leaves",
     .synonyms = "tree_map",
     .doc = "The value whose float leaves are what `f` makes of those of the values.",
     .details =
         "The values have one type: a tensor, a tuple, a data type. `f` is written for single "
         "floats, and its code is put in place for each leaf, whole tensors in the place of the "
         "floats: so an operator that reduces, such as `mean`, reduces over the leaf, and what "
         "does not depend on the leaf is repeated. It may call operators, and branch on what is no "
         "leaf. Where a leaf has another float type than `f` takes, the code is that for this "
         "type: "
         "its constants, what it captures and types that it names are converted. Leaves that are "
         "no floats are those of the first value. Values of data types must "
         "have the same constructors; it is a fault if they differ.",
     .operands = operands,
     .relation = mapRelation,
     .action = Action::Expand,
     .derivative = Derivative::MapLeaves,
     .gradient = ofItsCode,
     .examples = mapExamples},
    {.name = "sum_leaves",
     .doc = "The sum of what `f` makes of each float leaf of the values.",
     .details =
         "As `map_leaves`, but `f` makes one float of a leaf, as `sum` and `max` do, which is "
         "added in the type that `f` gives. It is zero when there are no leaves.",
     .operands = operands,
     .relation = sumRelation,
     .action = Action::Expand,
     .derivative = Derivative::SumLeaves,
     .gradient = ofItsCode,
     .examples = sumExamples},
    {.name = "leaf_starts",
     .doc = "The value whose float leaves hold the number of floats before them.",
     .details = "Floats are counted from 0, leaf by leaf in the order of fields, and each element "
                "of a leaf gets the number of the first one. What is no float stays as it is. So "
                "the code that `map_leaves` puts in place for each leaf can tell leaves apart.",
     .operands = startsOperand,
     .relation = startsRelation,
     .action = Action::Expand,
     .derivative = Derivative::MapLeaves,
     .gradient = ofItsCode,
     .examples = startsExamples},
};

} // namespace

lang::OperatorFamily leavesFamily() {
  return rows;
}

} // namespace stdlib
