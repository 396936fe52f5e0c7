// What an operator does is read off its tensor function over the types of the call.
#include "transform/fuse/candidates.h"

#include "lang/calls/call_function.h"
#include "lang/ir/walk.h"
#include "lang/op/leaves.h"
#include "lang/op/op.h"

#include <algorithm>
#include <unordered_set>

namespace transform {

using namespace lang;

namespace {

/// Whether a type is made of tensors whose sizes are one number each wherever they stand.
bool hasOneSize(const Type* type) {
  std::vector<const Type*> tensors;
  return type && appendTensors(type, tensors) &&
         std::ranges::all_of(tensors, [](const Type* tensor) {
           return tensor->dtype.isComputable() &&
                  std::ranges::all_of(tensor->shape, &Dim::isOneSize);
         });
}

size_t bytesOf(const Type* type) {
  std::vector<const Type*> tensors;
  appendTensors(type, tensors);
  size_t bytes = 0;
  for (const Type* tensor : tensors) {
    std::vector<int64_t> numbers;
    for (const Dim* dim : tensor->shape)
      numbers.push_back(dim->isConstant() ? dim->value : 1);
    bytes += size_t(runtime::elementCount(numbers).value_or(0)) * tensor->dtype.bytes();
  }
  return bytes;
}

/// The readings of all tensors of one operand.
tensor::Reading together(std::span<const tensor::Reading> parts) {
  tensor::Reading all;
  for (const tensor::Reading& part : parts) {
    if (part.positions.size() > all.positions.size())
      all.positions = part.positions;
    all.isShared |= part.isShared;
    all.isReused |= part.isReused;
    all.isReduced |= part.isReduced;
    all.isByRows |= part.isByRows;
    all.isWhole |= part.isWhole;
    all.isViewed |= part.isViewed;
  }
  return all;
}

bool isReshape(tensor::StageKind kind) {
  return kind == tensor::StageKind::Reshape;
}

bool isScalar(const Type* type) {
  return type->isTensor() && type->shape.empty();
}

/// Reads the tensor function of a call into a candidate; false where it may fail, and where it is
/// about scalars, since for those the machine has instructions.
bool readCall(const Call& call, const Type* result, const Typing& typing, Candidate& made) {
  auto isScalarOperand = [&](const Expr* operand) { return isScalar(typing.of(*operand)); };
  if (!tensorFunctionRow(call) ||
      (isScalar(result) && std::ranges::all_of(made.operands, isScalarOperand)))
    return false;
  auto function = functionOfCall(call, result, typing);
  if (!function || tensor::mayFault(*function))
    return false;
  auto readings = tensor::readingsOf(*function);
  size_t first = 0;
  for (const Expr* operand : made.operands) {
    size_t count = tensorCount(typing.of(*operand));
    made.readings.push_back(together(std::span(readings).subspan(first, count)));
    first += count;
  }
  made.isView = !function->stages.empty() &&
                std::ranges::all_of(function->stages, isReshape, &tensor::Stage::kind);
  made.moves = !made.isView;
  for (const tensor::Stage& stage : function->stages) {
    if (isReshape(stage.kind))
      continue;
    made.moves &= stage.body && stage.body->as<tensor::ScalarLoad>();
    bool isMap = stage.kind == tensor::StageKind::Map;
    const tensor::Work work = isMap ? tensor::workOf(stage.body) : tensor::Work();
    made.reduces |= !isMap || work.reduces;
    made.isCheap &= isMap && work.isCheap();
  }
  return true;
}

std::optional<Candidate> candidateOf(const Binding& binding, const Typing& typing) {
  const Type* type = typing.of(*binding.var);
  const auto* call = binding.value->as<Call>();
  if (!hasOneSize(type) ||
      (!call && !binding.value->as<TupleExpr>() && !binding.value->as<Project>()))
    return std::nullopt;
  Candidate made{.value = binding.value};
  forEachOperand(*binding.value, [&](const Operand& operand) {
    if (!operand.value->as<OperatorRef>())
      made.operands.push_back(operand.value);
  });
  auto isTensors = [&](const Expr* operand) { return hasOneSize(typing.of(*operand)); };
  if ((!call && made.operands.empty()) || !std::ranges::all_of(made.operands, isTensors) ||
      (call && !readCall(*call, type, typing, made)))
    return std::nullopt;
  made.readings.resize(made.operands.size());
  made.bytes = bytesOf(type);
  return made;
}

} // namespace

Candidates::Candidates(const Block& block, const Typing& typing, const Boundaries& boundaries) {
  std::unordered_set<const Expr*> constants;
  for (uint32_t i = 0; i < block.bindings.size(); ++i) {
    const Binding& binding = block.bindings[i];
    if (binding.value->as<Constant>())
      constants.insert(binding.var);
    auto candidate = boundaries.typeOf(*binding.var) ? std::nullopt : candidateOf(binding, typing);
    if (!candidate)
      continue;
    candidate->moves &= std::ranges::all_of(candidate->operands, [&](const Expr* operand) {
      return operand->as<Constant>() || constants.contains(operand);
    });
    for (const Expr* operand : candidate->operands)
      users_[operand].push_back(i);
    all_.emplace(i, *std::move(candidate));
  }
}

std::span<const uint32_t> Candidates::users(const Expr& atom) const {
  auto found = users_.find(&atom);
  return found == users_.end() ? std::span<const uint32_t>() : found->second;
}

} // namespace transform
