// Walks from uses to values; a chain of lets may be as long as a program, so it is followed for a
// while only.
#include "typecheck/known_sizes.h"

#include "lang/ir/open_marks.h"
#include "runtime/natives/tensor_data.h"

namespace typecheck {

using lang::Call;
using lang::Constant;
using lang::Expr;

namespace {

/// More steps than sizes take in any program that people write, in a line and altogether.
constexpr int mostSteps = 64, mostAltogether = 1024;

} // namespace

KnownSizes::KnownSizes(Unifier& unifier, const lang::OperatorTable& operators,
                       const VarTables& vars)
    : unifier_(unifier),
      vars_(vars), arithmetic_{operators.findInfix("+"), operators.findInfix("-"),
                               operators.findInfix("*")} {}

/// The value of a variable, and anything else itself.
const Expr* KnownSizes::valueOf(const Expr& atom) const {
  const auto* var = atom.as<lang::Var>();
  return var ? vars_.values[var->number] : &atom;
}

const Dim* KnownSizes::ofConstant(const Constant& constant) {
  bool isInteger = constant.open == lang::OpenNumber::Integer ||
                   (constant.open == lang::OpenNumber::None && constant.type->isTensor() &&
                    constant.type->shape.empty() && constant.type->dtype.isInteger());
  if (constant.tensor || !isInteger)
    return nullptr;
  if (constant.open == lang::OpenNumber::Integer)
    return unifier_.types().constant(int64_t(constant.bits));
  auto value = natives::integerValues(lang::constantTensor(constant));
  return value ? unifier_.types().constant(value->front()) : nullptr;
}

const Dim* KnownSizes::ofExtent(const Call& call) {
  const auto* var = call.arguments[0].value->as<lang::Var>();
  const Type* type =
      var && vars_.types[var->number] ? unifier_.resolve(vars_.types[var->number]) : nullptr;
  if (!type || !type->isTensor())
    return nullptr;
  int64_t axis = call.attributes->integer("axis"), rank = int64_t(type->shape.size());
  axis += axis < 0 ? rank : 0;
  return axis >= 0 && axis < rank ? type->shape[size_t(axis)] : nullptr;
}

const Dim* KnownSizes::ofCall(const Call& call, int depth) {
  if (call.callee.value->as<Constant>()) {
    auto found = named_.find(&call);
    return found == named_.end() ? nullptr : unifier_.dims().resolve(found->second);
  }
  const auto* op = call.callee.value->as<lang::OperatorRef>();
  if (!op)
    return nullptr;
  if (op->row->role == lang::Role::Extent)
    return ofExtent(call);
  if (lang::isCountMark(call))
    return sizeOf(*call.arguments[0].value, depth + 1);
  if (call.arguments.size() != 2)
    return nullptr;
  const Dim* left = sizeOf(*call.arguments[0].value, depth + 1);
  const Dim* right = left ? sizeOf(*call.arguments[1].value, depth + 1) : nullptr;
  if (!right)
    return nullptr;
  lang::TypeContext& types = unifier_.types();
  if (op->row == arithmetic_.add)
    return types.add(left, right);
  if (op->row == arithmetic_.subtract)
    return types.subtract(left, right);
  if (op->row == arithmetic_.multiply)
    return types.multiply(left, right);
  bool isQuotient = lang::isQuotientMark(call) || op->row->role == lang::Role::FloorDivide;
  bool divides = isQuotient && right->isConstant() && right->value > 0;
  return divides ? types.floorDivide(left, right->value) : nullptr;
}

/// The sizes of a tensor, where its rank is known and not 0.
std::optional<std::vector<const Dim*>> KnownSizes::shapeOf(const Expr& atom) const {
  const auto* var = atom.as<lang::Var>();
  const Type* type =
      var && vars_.types[var->number] ? unifier_.resolve(vars_.types[var->number]) : nullptr;
  if (!type || !type->isTensor() || type->shape.empty())
    return std::nullopt;
  return std::vector<const Dim*>(type->shape.begin(), type->shape.end());
}

const Dim* KnownSizes::sizeOf(const Expr& atom, int depth) {
  const lang::Var* var = nullptr;
  const Dim* size = nullptr;
  const Expr* value = &atom;
  for (; value && depth < mostSteps && steps_ < mostAltogether && value->as<lang::Var>();
       value = valueOf(*value), ++depth, ++steps_)
    var = value->as<lang::Var>();
  if (const auto* constant = value ? value->as<Constant>() : nullptr)
    size = ofConstant(*constant);
  else if (const auto* call = value && depth < mostSteps ? value->as<Call>() : nullptr)
    size = ofCall(*call, depth);
  return size || !var ? size : ofNumber(*var);
}

/// An integer of which nothing is known is still one number: what is behind it less what is in
/// front, `i + 2 - i`, may be known.
const Dim* KnownSizes::ofNumber(const lang::Var& var) {
  const Type* type = vars_.types[var.number];
  if (!type)
    return nullptr;
  const OpenNumbers::Number* number = unifier_.numbers().of(type);
  type = unifier_.resolve(type);
  auto known = parameters_.find(&var);
  bool isOne =
      number ? number->shape.empty() && unifier_.numbers().classOf(*number) == OpenClass::Integer
             : type->isTensor() && type->shape.empty() && type->dtype.isInteger();
  if (known != parameters_.end())
    return known->second.size() == 1 ? known->second[0] : nullptr;
  return isOne ? unifier_.types().symbol(var.name, &var) : nullptr;
}

const Dim* KnownSizes::sizeOf(const Expr& atom) {
  steps_ = 0;
  return sizeOf(atom, 0);
}

/// A list of no sizes, whatever its elements would be.
bool KnownSizes::isEmptyList(const Expr& atom) const {
  const auto* var = atom.as<lang::Var>();
  const auto* constant = atom.as<Constant>();
  const Type* type = var ? vars_.types[var->number] : constant ? constant->type : nullptr;
  const OpenNumbers::Number* number = type ? unifier_.numbers().of(type) : nullptr;
  type = type ? unifier_.resolve(type) : nullptr;
  lang::Dims shape = number ? number->shape : type && type->isTensor() ? type->shape : lang::Dims();
  return shape.size() == 1 && shape[0]->isConstant(0);
}

std::optional<std::vector<const Dim*>> KnownSizes::sizesOf(const Expr& atom) {
  if (isEmptyList(atom))
    return std::vector<const Dim*>();
  const Expr* value = &atom;
  for (int i = 0; value && value->as<lang::Var>() && i < mostSteps; ++i) {
    if (auto known = parameters_.find(value->as<lang::Var>()); known != parameters_.end())
      return known->second;
    value = valueOf(*value);
  }
  const auto* constant = value ? value->as<Constant>() : nullptr;
  std::vector<const Dim*> sizes;
  if (constant && constant->tensor) {
    auto numbers = constant->open == lang::OpenNumber::Real || constant->tensor->shape().size() != 1
                       ? std::nullopt
                       : natives::integerValues(*constant->tensor);
    for (int64_t number : numbers.value_or(std::vector<int64_t>()))
      sizes.push_back(unifier_.types().constant(number));
    return numbers ? std::optional(sizes) : std::nullopt;
  }
  const auto* call = value ? value->as<Call>() : nullptr;
  const auto* op = call ? call->callee.value->as<lang::OperatorRef>() : nullptr;
  if (op && op->row->role == lang::Role::Stack) {
    const Expr* list = valueOf(*call->arguments[0].value);
    const auto* tuple = list ? list->as<lang::TupleExpr>() : nullptr;
    if (!tuple)
      return std::nullopt;
    for (const lang::Operand& field : tuple->fields) {
      const Dim* size = sizeOf(*field.value);
      sizes.push_back(size ? size : unifier_.types().any());
    }
    return sizes;
  }
  if (op && op->row->role == lang::Role::Shape)
    return shapeOf(*call->arguments[0].value);
  const Dim* size = sizeOf(atom);
  return size ? std::optional(std::vector{size}) : std::nullopt;
}

} // namespace typecheck
