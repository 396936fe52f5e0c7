// One operator call: flatten the operands, ask the relation, evaluate, put the result together.
#include "interp/operators.h"

#include "lang/leaves.h"

#include <algorithm>
#include <fmt/format.h>

namespace interp {

using lang::Type;
using runtime::FaultKind;

namespace {

/// The type of a tensor, with 64-bit extents where the checked type has such: the element type of
/// some results hangs on them.
const Type* tensorTypeOf(lang::TypeContext& types, const runtime::Tensor& tensor,
                         const Type* checked) {
  std::vector<const lang::Dim*> dims;
  bool isLike = checked && checked->isTensor() && checked->shape.size() == tensor.rank();
  for (size_t i = 0; i < tensor.rank(); ++i)
    dims.push_back(types.constant(tensor.shape()[i], isLike && checked->shape[i]->is64));
  return types.tensor(dims, tensor.dtype());
}

/// The type of a value whose type in the program is `checked`, or null when that is not known.
const Type* typeOf(lang::TypeContext& types, const Value& value, const Type* checked) {
  if (value.kind() == ValueKind::Tensor)
    return tensorTypeOf(types, value.tensor(), checked);
  if (value.kind() != ValueKind::Tuple)
    return types.error();
  std::span<const Value> values = value.fields();
  bool isLike = checked && checked->isTuple() && checked->parts.size() == values.size();
  std::vector<const Type*> fields;
  for (size_t i = 0; i < values.size(); ++i)
    fields.push_back(typeOf(types, values[i], isLike ? checked->parts[i] : nullptr));
  return types.tuple(fields);
}

void appendSignature(const Value& value, const Type* checked, std::vector<int64_t>& signature) {
  if (value.kind() != ValueKind::Tensor) {
    std::span<const Value> fields = value.fields();
    bool isLike = checked && checked->isTuple() && checked->parts.size() == fields.size();
    signature.push_back(-1 - int64_t(fields.size()));
    for (size_t i = 0; i < fields.size(); ++i)
      appendSignature(fields[i], isLike ? checked->parts[i] : nullptr, signature);
    return;
  }
  const runtime::Tensor& tensor = value.tensor();
  runtime::DType dtype = tensor.dtype();
  bool isLike = checked && checked->isTensor() && checked->shape.size() == tensor.rank();
  signature.push_back(int64_t(dtype.code) << 32 | int64_t(dtype.bits) << 16 | dtype.lanes);
  signature.push_back(int64_t(tensor.rank()));
  for (size_t i = 0; i < tensor.rank(); ++i) {
    signature.push_back(tensor.shape()[i]);
    signature.push_back(isLike && checked->shape[i]->is64);
  }
}

bool fits(const std::vector<std::pair<runtime::DType, runtime::Shape>>& known,
          std::span<const Value> leaves) {
  if (known.size() != leaves.size())
    return false;
  for (size_t i = 0; i < leaves.size(); ++i)
    if (known[i].first != leaves[i].tensor().dtype() ||
        known[i].second != leaves[i].tensor().shape())
      return false;
  return true;
}

} // namespace

const lang::Attributes& Operators::defaults(const lang::OperatorRow& row) {
  auto [found, isNew] = defaults_.try_emplace(&row);
  if (isNew)
    found->second = {row.attributes, table_.defaults(&row)};
  return found->second;
}

/// Fills in what follows from the operator, its attributes and the operand types; where the shape
/// needs values, those of the leaves.
std::optional<runtime::Fault> Operators::prepare(Prepared& prepared,
                                                 std::span<const Value> leaves) {
  const lang::OperatorRow& row = *prepared.row;
  const auto& operands = prepared.operands;
  std::vector<const runtime::Tensor*> operandValues(operands.size());
  if (row.shapeNeeds != lang::ShapeNeeds::Shapes) {
    for (size_t i = 0, leaf = 0; i < operands.size(); leaf += lang::tensorCount(operands[i++]))
      if (!operands[i]->isTuple())
        operandValues[i] = &leaves[leaf].tensor();
  }
  lang::RelationResult result =
      lang::applyRelation(row, {*prepared.types, operands, prepared.attributes, operandValues});
  if (result.outcome == lang::RelationResult::Outcome::Failed) {
    bool fitsShapes =
        lang::applyRelation(row, {*prepared.types, operands, prepared.attributes}).outcome !=
        lang::RelationResult::Outcome::Failed;
    return runtime::Fault{fitsShapes ? FaultKind::Data : FaultKind::Sizes, result.problem};
  }
  if (result.outcome == lang::RelationResult::Outcome::Waiting || !result.output)
    return runtime::Fault{FaultKind::Internal,
                          fmt::format("the shape of the result of `{}` is not known", row.name)};
  prepared.output = result.output;
  if (row.kernel)
    prepared.parameters = row.kernel.decode(prepared.attributes, operands);
  if (row.compute) {
    auto function = lang::tensorFunctionOf(row, operands, result.output, prepared.attributes);
    if (!function)
      return runtime::Fault{FaultKind::Internal, function.failure().text};
    prepared.code = engine_.compile(*std::move(function));
  }
  for (const Value& leaf : leaves)
    prepared.leaves.emplace_back(leaf.tensor().dtype(), leaf.tensor().shape());
  return std::nullopt;
}

/// The known call with the operator, attributes and signature of `wanted`, or null.
Operators::Call Operators::known(size_t hash, const Prepared& wanted) {
  auto [begin, end] = byHash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Call& call = it->second->second;
    if (call->row != wanted.row || call->signature != wanted.signature ||
        !std::ranges::equal(call->attributes.values, wanted.attributes.values))
      continue;
    recent_.splice(recent_.begin(), recent_, it->second);
    return call;
  }
  return nullptr;
}

/// Keeps a call, and forgets those that were not used for longest: more are kept in a program with
/// many call sites, each of which may come back.
void Operators::remember(size_t hash, Call call) {
  recent_.emplace_front(hash, std::move(call));
  byHash_.emplace(hash, recent_.begin());
  constexpr size_t fewest = 64;
  if (recent_.size() <= std::max(fewest, 2 * sites_.size()))
    return;
  auto last = std::prev(recent_.end());
  auto [begin, end] = byHash_.equal_range(last->first);
  byHash_.erase(std::find_if(begin, end, [&](const auto& item) { return item.second == last; }));
  recent_.erase(last);
}

std::shared_ptr<lang::TypeContext> Operators::scratchTypes() {
  constexpr size_t mostUses = 32;
  if (!types_ || ++usesOfTypes_ > mostUses) {
    types_ = std::make_shared<lang::TypeContext>();
    usesOfTypes_ = 1;
  }
  return types_;
}

/// The prepared call of this site, of another site with the same operator, attributes and types,
/// or a new one. What depends on values is prepared each time.
std::variant<Operators::Call, runtime::Fault> Operators::find(const lang::Call& site,
                                                              const lang::OperatorRow& row,
                                                              const lang::Attributes& attributes,
                                                              std::span<const Value> arguments,
                                                              std::span<const Value> leaves) {
  bool needsValues = row.shapeNeeds != lang::ShapeNeeds::Shapes;
  Call& last = sites_[&site];
  if (last && !needsValues && last->row == &row && fits(last->leaves, leaves))
    return last;
  Prepared next{&row, attributes};
  size_t hash = reinterpret_cast<size_t>(&row);
  for (size_t i = 0; i < arguments.size(); ++i)
    appendSignature(arguments[i], typing_.of(*site.arguments[i].value), next.signature);
  for (int64_t number : next.signature)
    hash = hash * 31 + size_t(number);
  if (!needsValues)
    if (Call call = known(hash, next))
      return last = call;
  next.types = scratchTypes();
  for (size_t i = 0; i < arguments.size(); ++i)
    next.operands.push_back(
        typeOf(*next.types, arguments[i], typing_.of(*site.arguments[i].value)));
  if (auto fault = prepare(next, leaves))
    return std::move(*fault);
  auto call = std::make_shared<const Prepared>(std::move(next));
  if (needsValues)
    return call;
  remember(hash, call);
  return last = call;
}

std::variant<Value, runtime::Fault> Operators::runKernel(const Prepared& prepared,
                                                         std::span<const Value> leaves) {
  std::vector<runtime::Tensor> inputs;
  for (const Value& leaf : leaves)
    inputs.push_back(leaf.tensor());
  std::vector<runtime::Tensor> results;
  if (auto fault = prepared.row->kernel.run({inputs, results}, prepared.parameters))
    return runtime::Fault{FaultKind::Data, runtime::kernelFaultText(fault)};
  std::vector<Value> outputs;
  for (runtime::Tensor& tensor : results)
    outputs.push_back(runtime::tensorValue(std::move(tensor)));
  return lang::assemble(prepared.output, std::move(outputs));
}

std::variant<Value, runtime::Fault> Operators::apply(const lang::Call& call,
                                                     const lang::OperatorRow& row,
                                                     std::span<const Value> arguments) {
  const lang::Attributes& attributes = call.attributes ? *call.attributes : defaults(row);
  std::vector<Value> leaves;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!lang::appendTensors(arguments[i], leaves))
      return runtime::Fault{FaultKind::Type, fmt::format("`{}` of `{}` must be made of tensors",
                                                         row.operands[i].name, row.name)};
  auto found = find(call, row, attributes, arguments, leaves);
  if (auto* fault = std::get_if<runtime::Fault>(&found))
    return std::move(*fault);
  const Prepared& prepared = *std::get<Call>(found);
  if (row.kernel)
    return runKernel(prepared, leaves);
  std::vector<Value> outputs;
  if (auto fault = prepared.code.run(leaves, outputs))
    return std::move(*fault);
  return lang::assemble(prepared.output, std::move(outputs));
}

} // namespace interp
