// Answers of relations, and the arithmetic of dimensions that rules share.
#include "lang/op/op.h"
#include "runtime/checks/declared.h"
#include "runtime/limits.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace lang {

RelationResult RelationCall::solved(const Type* output) const {
  RelationResult result;
  result.output = output;
  return result;
}

RelationResult RelationCall::solved(Dims shape, runtime::DType dtype) const {
  return solved(types.tensor(shape, dtype));
}

RelationResult RelationCall::solved(const std::vector<const Dim*>& shape,
                                    runtime::DType dtype) const {
  return solved(types.tensor(Dims(shape), dtype));
}

RelationResult RelationCall::waitFor(size_t operand) const {
  RelationResult result;
  result.outcome = RelationResult::Outcome::Waiting;
  result.operand = operand;
  return result;
}

RelationResult RelationCall::failed(Words problem) const {
  RelationResult result;
  result.outcome = RelationResult::Outcome::Failed;
  result.problem = std::move(problem);
  return result;
}

RelationResult RelationCall::failedForSize(Words problem) const {
  RelationResult result = failed(std::move(problem));
  result.isTooLarge = true;
  return result;
}

RelationResult RelationCall::failedAt(size_t operand, Words problem) const {
  RelationResult result = failed(std::move(problem));
  result.operand = operand;
  return result;
}

RelationResult RelationCall::failedOn(std::vector<DimMark> marks, Words problem) const {
  RelationResult result = failed(std::move(problem));
  result.operand = marks.front().operand;
  result.marks = std::move(marks);
  return result;
}

std::optional<size_t> RelationCall::normalAxis(int64_t axis, size_t rank) const {
  int64_t normal = axis < 0 ? axis + int64_t(rank) : axis;
  if (normal < 0 || normal >= int64_t(rank))
    return std::nullopt;
  return size_t(normal);
}

namespace {

/// The value of a form for very large sizes, without rounding of quotients.
double roughValue(const Dim* dim, uint32_t variety) {
  if (dim->kind == DimKind::Symbol)
    return 1e15 * (3 + dim->serial % variety);
  double result = dim->kind == DimKind::Product ? 1 : double(dim->value);
  for (const DimTerm& term : dim->terms) {
    double value = roughValue(term.variable, variety), number = double(term.coefficient);
    if (dim->kind == DimKind::Quotient)
      return value / number;
    result =
        dim->kind == DimKind::Product ? result * std::pow(value, number) : result + value * number;
  }
  return result;
}

/// Whether two forms over names are far from each other for very large sizes. Then no rounding of
/// quotients makes them equal, whatever must be a multiple of what.
bool differByFar(const Dim* left, const Dim* right) {
  for (uint32_t variety : {11, 23}) {
    double a = roughValue(left, variety), b = roughValue(right, variety);
    if (std::abs(a - b) > 1e-3 * std::max(std::abs(a), std::abs(b)))
      return true;
  }
  return false;
}

} // namespace

DimMatch matchDims(const Dim* left, const Dim* right) {
  if (left->isAny() || right->isAny())
    return DimMatch::Maybe;
  if (left == right)
    return DimMatch::Same;
  if (left->isConstant() && right->isConstant())
    return left->value == right->value ? DimMatch::Same : DimMatch::Different;
  if (left->hasUnknown || right->hasUnknown || left->hasForeign || right->hasForeign)
    return DimMatch::Maybe;
  bool hasQuotient = left->hasQuotient || right->hasQuotient;
  return hasQuotient && !differByFar(left, right) ? DimMatch::Maybe : DimMatch::Different;
}

bool RelationCall::differ(const Dim* left, const Dim* right) const {
  if (!steps || left == right || (left->isConstant() && right->isConstant()))
    return matchDims(left, right) == DimMatch::Different;
  steps->needEqual(left, right);
  return false;
}

const Dim* RelationCall::meetDims(const Dim* left, const Dim* right) const {
  if (differ(left, right))
    return nullptr;
  if (left->isAny())
    return right;
  return right->isConstant() && !left->isConstant() ? right : left;
}

namespace {

/// Whether a form may be 1 for some sizes: not where it is at least 2, nor where all coefficients
/// have a divisor that 1 and the constant part do not share.
bool mayBeOne(const Dim* dim) {
  if (dim->isConstant() || isAtLeast(dim, 2))
    return dim->isConstant(1);
  int64_t divisor = 0;
  for (const DimTerm& term : dim->terms)
    divisor = std::gcd(divisor, term.coefficient);
  return dim->kind != DimKind::Linear || (dim->value % divisor - 1) % divisor == 0;
}

} // namespace

/// Forms that may be equal, by a quotient, may also differ where one of them is 1.
const Dim* RelationCall::broadcastDims(const Dim* left, const Dim* right) const {
  if (left->isConstant(1))
    return right;
  if (right->isConstant(1))
    return left;
  if (steps && left != right && !(left->isConstant() && right->isConstant()))
    return steps->compute(checks::SizeKind::Broadcast, left, right);
  bool isForeign = left->hasForeign || right->hasForeign;
  if (left == right || isForeign || matchDims(left, right) != DimMatch::Maybe)
    return meetDims(left, right);
  if (mayBeOne(left))
    return mayBeOne(right) ? types.any() : right;
  return mayBeOne(right) ? left : meetDims(left, right);
}

std::optional<std::vector<const Dim*>> RelationCall::broadcastShapes(Dims left, Dims right,
                                                                     size_t* where) const {
  if (left.size() < right.size())
    std::swap(left, right);
  std::vector<const Dim*> result(left.begin(), left.end());
  size_t offset = left.size() - right.size();
  for (size_t i = right.size(); i-- > 0;) {
    const Dim* dim = broadcastDims(left[offset + i], right[i]);
    if (!dim) {
      if (where)
        *where = right.size() - i;
      return std::nullopt;
    }
    result[offset + i] = dim;
  }
  return result;
}

namespace {

bool isKnownTensor(const Type* type) {
  return type->isTensor();
}

/// What the text calls the operator.
std::string_view nameIn(const RelationCall& call, const OperatorRow& row) {
  return call.calledAs.empty() ? row.name : call.calledAs;
}

/// A problem that begins with the operator, unless it tells of it itself.
Words withName(Words problem, std::string_view name) {
  std::string op = fmt::format("`{}`", name);
  return Words([problem = std::move(problem), op = std::move(op)](Notation notation) {
    std::string text = problem.in(notation);
    bool isNamed = text.find(op) != std::string::npos;
    return isNamed ? text : fmt::format("in {}, {}", op, text);
  });
}

RelationResult notATuple(const OperatorRow& row, const RelationCall& call, size_t i) {
  RelationResult result =
      call.failedAt(i, words("`{}` of `{}` must be a tuple of tensors, but it is `{}`",
                             row.operand(i).name, nameIn(call, row), call.operands[i]));
  if (isKnownTensor(call.operands[i]))
    result.fixes = {{"a tuple of one is written with a comma: {}",
                     {{CallChange::Kind::Wrap, i, {}, {}, "(", ",)"}}}};
  return result;
}

RelationResult notATensor(const OperatorRow& row, const RelationCall& call, size_t i) {
  const Type* type = call.operands[i];
  RelationResult result = call.failedAt(i, words("`{}` of `{}` must be a tensor, but it is `{}`",
                                                 row.operand(i).name, nameIn(call, row), type));
  if (type->isTuple() && !type->parts.empty() && isKnownTensor(type->parts[0]))
    result.fixes = {
        {"take a field of the tuple: {}", {{CallChange::Kind::Wrap, i, {}, {}, "", ".0"}}}};
  return result;
}

/// The first operand whose type rules it out or is still open; Solved when all are fine.
RelationResult checkOperands(const OperatorRow& row, const RelationCall& call) {
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const OperandRow& operand = row.operand(i);
    const Type* type = call.operands[i];
    if (operand.kind == OperandKind::Any || (type->isUnknown() && operand.inferable))
      continue;
    if (type->isUnknown())
      return call.waitFor(i);
    if (operand.kind == OperandKind::Tensor) {
      if (!isKnownTensor(type))
        return notATensor(row, call, i);
      continue;
    }
    if (!type->isTuple())
      return notATuple(row, call, i);
    for (const Type* field : type->parts) {
      if (field->isUnknown())
        return call.waitFor(i);
      if (!isKnownTensor(field))
        return call.failedAt(i, words("`{}` of `{}` must be a tuple of tensors, but it is `{}`",
                                      operand.name, nameIn(call, row), type));
    }
  }
  return call.solved(static_cast<const Type*>(nullptr));
}

/// No extent of a result is negative, whatever sizes the names stand for.
void boundOutput(RelationResult& result) {
  auto boundShape = [&](const Type* type) {
    for (const Dim* dim : type->shape)
      if (!dim->isConstant() && !isAtLeast(dim, 0))
        result.bounds.push_back({dim, 0});
  };
  boundShape(result.output);
  if (result.output->isTuple())
    std::ranges::for_each(result.output->parts, boundShape);
}

/// The tensor of too large a rank that a result is or holds; null when there is none.
const Type* overRank(const Type* output) {
  auto isOver = [](const Type* type) { return type->shape.size() > runtime::mostDimensions; };
  if (isOver(output))
    return output;
  auto part = std::ranges::find_if(output->parts, isOver);
  return part == output->parts.end() ? nullptr : *part;
}

bool isWide(const Type* operand) {
  return operand->isWide || std::ranges::any_of(operand->parts, &Type::isWide);
}

/// The extents of a result come from those of the operands, so they count in as many bits.
const Type* widened(TypeContext& types, const Type* type) {
  if (type->isTensor())
    return types.tensor(type->shape, type->dtype, true);
  std::vector<const Type*> fields;
  for (const Type* field : type->parts)
    fields.push_back(widened(types, field));
  return type->isTuple() ? types.tuple(fields) : type;
}

} // namespace

RelationResult applyRelation(const OperatorRow& row, const RelationCall& call) {
  if (!row.takes(call.operands.size()))
    return call.failed(fmt::format("`{}` takes {} operand{}, but {} {} given", nameIn(call, row),
                                   row.operandCount(), row.operands.size() == 1 ? "" : "s",
                                   call.operands.size(), call.operands.size() == 1 ? "is" : "are"));
  RelationResult result = checkOperands(row, call);
  if (result.outcome != RelationResult::Outcome::Solved)
    return result;
  result = row.relation(call);
  if (result.outcome == RelationResult::Outcome::Failed)
    result.problem = withName(std::move(result.problem), nameIn(call, row));
  if (result.outcome == RelationResult::Outcome::Solved) {
    if (const Type* over = overRank(result.output))
      return call.failed(fmt::format("the result of `{}` has rank {}, but tensors have at most {} "
                                     "dimensions",
                                     nameIn(call, row), over->shape.size(),
                                     runtime::mostDimensions));
    boundOutput(result);
    if (std::ranges::any_of(call.operands, isWide))
      result.output = widened(call.types, result.output);
  }
  return result;
}

} // namespace lang
