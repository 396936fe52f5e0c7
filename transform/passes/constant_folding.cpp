// Constant folding: what follows from constants alone is computed before the program runs.
//
//   let %w = transpose([[1f, 2f]], axes=[1, 0]);         let %w = [[1f], [2f]];
//   %0 = split([3f, 4f], indices_or_sections=2);    =>   %0 = ([3f], [4f]);
//   (%w, %0.1, %0.1 + 1f)                                (%w, %0.1, [5f])
//
// Tuples are not opened: that is the business of simplification.
// Only operators that compute are run, and only where the result is not too large. It must have the
// very type that checking found, and a call that faults stays as it is. What is computed is known
// to the calls that use it, but it only takes the place of a call where the text does not grow by
// it: where it is small, or no larger than the constants in the text that it is made of. So zeros
// stay zeros and do not become a list of them. Whoever runs the pass hands in the engine that
// computes (RunOptions); with another one than that of the program floats may be rounded in another
// order.
#include "lang/calls/call_sites.h"
#include "lang/ir/rewrite.h"
#include "lang/ir/walk.h"
#include "lang/op/leaves.h"
#include "transform/analysis/effects.h"
#include "transform/analysis/placement.h"
#include "transform/analysis/type_deciders.h"
#include "transform/passes.h"

#include <algorithm>
#include <stdexcept>

namespace transform {

using namespace lang;
using runtime::Tensor;
using runtime::Value;
using runtime::ValueKind;

namespace {

/// A result may have so many bytes, however small the operands are; and to stand in the text.
constexpr size_t mostBytes = size_t(1) << 20, mostWritten = 128;

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

class Folder : public Rewriter {
public:
  Folder(const Module& from, Builder& into, const Typing& typing,
         const tensor::TensorEngine& engine)
      : Rewriter(from, into), typing_(typing), sites_(typing, into.operators, engine),
        values_(from.varCount), written_(from.varCount), decidesType_(typeDeciders(from, typing)),
        tensorsChange_(writesTensors(from)) {}

private:
  /// The value of an atom of the old module; an unset one when it is not known.
  Value valueOf(const Expr& old) const {
    if (const auto* constant = old.as<Constant>())
      return runtime::tensorValue(constantTensor(*constant));
    const auto* var = old.as<Var>();
    return var ? values_[var->number] : Value();
  }

  /// The values of atoms, or nothing when one is not known.
  std::optional<std::vector<Value>> valuesOf(std::span<const Operand> old) const {
    std::vector<Value> values;
    for (const Operand& each : old) {
      values.push_back(valueOf(*each.value));
      if (!values.back().isSet())
        return std::nullopt;
    }
    return values;
  }

  /// What a value of the old module is, where constants tell; else an unset one.
  Value computed(const Binding& old) {
    if (old.value->isAtom())
      return valueOf(*old.value);
    if (const auto* tuple = old.value->as<TupleExpr>()) {
      auto fields = valuesOf(tuple->fields);
      return fields ? runtime::tupleValue(std::move(*fields)) : Value();
    }
    if (const auto* project = old.value->as<Project>()) {
      Value tuple = valueOf(*project->tuple.value);
      return tuple.isSet() ? tuple.fields()[project->index] : Value();
    }
    const auto* call = old.value->as<Call>();
    return call ? called(old, *call) : Value();
  }

  Value called(const Binding& old, const Call& call) {
    const auto* op = call.callee.value->as<OperatorRef>();
    const Type* type = typing_.of(*old.var);
    if (!op || op->row->action != Action::Compute || tensorsChange_ || !type)
      return {};
    auto arguments = valuesOf(call.arguments);
    if (!arguments || !isWorthwhile(call, type))
      return {};
    auto result = sites_.apply(old, *op->row, *arguments);
    Value* value = std::get_if<Value>(&result);
    return value && hasType(*value, type) ? std::move(*value) : Value();
  }

  /// Whether a call gives no more than can be known.
  bool isWorthwhile(const Call& call, const Type* type) const {
    auto bytes = bytesOfAll(type);
    return bytes && *bytes <= std::max(mostBytes, writtenOf(call));
  }

  /// The bytes of the constants in the new text that a value is made of, as far as they are known.
  size_t writtenOf(const Expr& value) const {
    if (const auto* constant = value.as<Constant>())
      return constant->tensor ? constant->tensor->byteSize() : 0;
    if (const auto* var = value.as<Var>())
      return written_[var->number];
    size_t sum = 0;
    if (!value.isAtom())
      forEachOperand(value, [&](const Operand& operand) { sum += writtenOf(*operand.value); });
    return sum;
  }

  /// Whether a constant, or a tuple of constants, has exactly this type.
  bool hasType(const Value& value, const Type* type) const {
    if (value.kind() == ValueKind::Tensor && !isWritable(value.tensor()))
      return false;
    if (value.kind() == ValueKind::Tensor)
      return make.types.tensorOf(value.tensor().shape(), value.tensor().dtype()) == type;
    if (value.kind() != ValueKind::Tuple || !type->isTuple())
      return false;
    // Results of operators are tensors, or tuples of them.
    for (size_t i = 0; i < type->parts.size(); ++i)
      if (value.fields()[i].kind() != ValueKind::Tensor ||
          !hasType(value.fields()[i], type->parts[i]))
        return false;
    return true;
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    Value& known = values_[old.var->number];
    known = computed(old);
    size_t& written = written_[old.var->number];
    written = writtenOf(*old.value);
    if (!known.isSet() || old.value->kind != ExprKind::Call || decidesType_[old.var->number])
      return Rewriter::bind(old, value, out);
    size_t bytes = bytesOfAll(typing_.of(*old.var)).value_or(0);
    if (bytes > std::max(mostWritten, written))
      return Rewriter::bind(old, value, out);
    written = bytes;
    if (known.kind() == ValueKind::Tuple)
      return Rewriter::bind(old, tupleOf(known, out), out);
    const Expr* constant = constantOf(known);
    // A scalar that has no name is written where it is used.
    if (!old.isLet() && known.tensor().rank() == 0)
      return constant;
    return Rewriter::bind(old, constant, out);
  }

  const Constant* constantOf(const Value& value) {
    const Tensor& tensor = value.tensor();
    if (tensor.rank() > 0)
      return make.tensor(tensor);
    uint64_t bits = 0;
    std::memcpy(&bits, tensor.bytes(), tensor.byteSize());
    return make.bits(tensor.dtype(), bits);
  }

  const Expr* tupleOf(const Value& tuple, BlockBuilder& out) {
    std::vector<Atom> fields;
    for (const Value& field : tuple.fields()) {
      const Constant* constant = constantOf(field);
      fields.push_back(constant->tensor ? out.bind(constant) : Atom(constant));
    }
    return make.tuple(fields);
  }

  const Typing& typing_;
  CallSites sites_;
  /// By Var::number of the old module.
  std::vector<Value> values_;
  /// The bytes of constants in the new text that a variable holds or is made of.
  std::vector<size_t> written_;
  std::vector<bool> decidesType_;
  bool tensorsChange_;
};

} // namespace

std::unique_ptr<Module> constantFolding(const Module& module, const PassContext& context) {
  if (!context.engine)
    return nullptr;
  Module folded(module.types);
  Builder make(folded, context.operators);
  Folder(module, make, context.typing, *context.engine).module();
  return place(folded, context.operators);
}

} // namespace transform
