// Values are those of the variables of one module, each noted once.
#include "transform/analysis/constant_values.h"

#include "lang/ir/walk.h"
#include "lang/op/leaves.h"
#include "lang/op/op.h"
#include "transform/analysis/effects.h"

#include <algorithm>

namespace transform {

using namespace lang;
using runtime::Tensor;
using runtime::Value;
using runtime::ValueKind;

namespace {

/// A result may have so many bytes, however small the operands are.
constexpr size_t mostBytes = size_t(1) << 20;

/// The bytes of a tensor; nothing when an extent is no number.
std::optional<size_t> bytesOf(const Type& tensor) {
  std::vector<int64_t> shape;
  for (const Dim* dim : tensor.shape) {
    if (!dim->isConstant())
      return std::nullopt;
    shape.push_back(dim->value);
  }
  auto count = runtime::elementCount(shape);
  bool isKnown = count && tensor.dtype.isComputable() && *count <= (int64_t(1) << 48);
  return isKnown ? std::optional(size_t(*count) * tensor.dtype.bytes()) : std::nullopt;
}

/// Whether a text can hold a tensor: truth values are 0 or 1 there.
bool isWritable(const Tensor& tensor) {
  auto isTruth = [](uint8_t byte) { return byte <= 1; };
  return !tensor.dtype().isBool() || std::ranges::all_of(tensor.elements<uint8_t>(), isTruth);
}

} // namespace

std::optional<size_t> bytesOfAll(const Type* type) {
  std::vector<const Type*> tensors;
  if (!appendTensors(type, tensors))
    return std::nullopt;
  size_t sum = 0;
  for (const Type* tensor : tensors) {
    auto bytes = bytesOf(*tensor);
    if (!bytes)
      return std::nullopt;
    sum += *bytes;
  }
  return sum;
}

ConstantValues::ConstantValues(const Module& module, const Typing& typing,
                               const OperatorTable& operators, const tensor::TensorEngine& engine)
    : typing_(typing), types_(module.types), sites_(typing, operators, engine),
      values_(module.varCount), written_(module.varCount), tensorsChange_(writesTensors(module)) {}

const Value& ConstantValues::learn(const Binding& binding) {
  Value& known = values_[binding.var->number];
  known = computed(binding);
  written_[binding.var->number] = written(*binding.value);
  return known;
}

Value ConstantValues::of(const Expr& atom) const {
  if (const auto* constant = atom.as<Constant>())
    return runtime::tensorValue(constantTensor(*constant));
  const auto* var = atom.as<Var>();
  return var ? values_[var->number] : Value();
}

size_t ConstantValues::written(const Expr& value) const {
  if (const auto* constant = value.as<Constant>())
    return constant->tensor ? constant->tensor->byteSize() : 0;
  if (const auto* var = value.as<Var>())
    return written_[var->number];
  size_t sum = 0;
  if (!value.isAtom())
    forEachOperand(value, [&](const Operand& operand) { sum += written(*operand.value); });
  return sum;
}

/// The values of atoms, or nothing when one is not known.
std::optional<std::vector<Value>>
ConstantValues::valuesOf(std::span<const Operand> operands) const {
  std::vector<Value> values;
  for (const Operand& each : operands) {
    values.push_back(of(*each.value));
    if (!values.back().isSet())
      return std::nullopt;
  }
  return values;
}

Value ConstantValues::computed(const Binding& binding) {
  if (binding.value->isAtom())
    return of(*binding.value);
  if (const auto* tuple = binding.value->as<TupleExpr>()) {
    auto fields = valuesOf(tuple->fields);
    return fields ? runtime::tupleValue(std::move(*fields)) : Value();
  }
  if (const auto* project = binding.value->as<Project>()) {
    Value tuple = of(*project->tuple.value);
    return tuple.isSet() ? tuple.fields()[project->index] : Value();
  }
  const auto* call = binding.value->as<Call>();
  return call ? called(binding, *call) : Value();
}

Value ConstantValues::called(const Binding& binding, const Call& call) {
  const auto* op = call.callee.value->as<OperatorRef>();
  const Type* type = typing_.of(*binding.var);
  if (!op || op->row->action != Action::Compute || tensorsChange_ || !type)
    return {};
  auto arguments = valuesOf(call.arguments);
  if (!arguments || !isWorthwhile(call, type))
    return {};
  auto result = sites_.apply(binding, *op->row, *arguments);
  Value* value = std::get_if<Value>(&result);
  return value && hasType(*value, type) ? std::move(*value) : Value();
}

/// Whether a call gives no more than can be known.
bool ConstantValues::isWorthwhile(const Call& call, const Type* type) const {
  auto bytes = bytesOfAll(type);
  return bytes && *bytes <= std::max(mostBytes, written(call));
}

/// Whether a constant, or a tuple of constants, has exactly this type.
bool ConstantValues::hasType(const Value& value, const Type* type) const {
  if (value.kind() == ValueKind::Tensor && !isWritable(value.tensor()))
    return false;
  if (value.kind() == ValueKind::Tensor)
    return types_.tensorOf(value.tensor().shape(), value.tensor().dtype()) == type;
  if (value.kind() != ValueKind::Tuple || !type->isTuple())
    return false;
  // Results of operators are tensors, or tuples of them.
  for (size_t i = 0; i < type->parts.size(); ++i)
    if (value.fields()[i].kind() != ValueKind::Tensor ||
        !hasType(value.fields()[i], type->parts[i]))
      return false;
  return true;
}

} // namespace transform
