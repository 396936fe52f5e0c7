// The relation of the other operator says whether numbers mean the same.
#include "typecheck/fixed_calls.h"

#include "lang/ir/open_marks.h"
#include "lang/ir/walk.h"

#include <algorithm>

namespace typecheck {

using namespace lang;

namespace {

/// The operator of a call in which something is computed that another one, or it, has as an
/// attribute; null for any other call.
const OperatorRow* computedRow(const Call& call) {
  const auto* op = call.callee.value->as<OperatorRef>();
  bool isFixable = isComputedMark(call) && op && !op->row->fixed.name.empty();
  bool isComputed = isFixable || !attributeMarksOf(call).empty();
  return isComputed ? op->row : nullptr;
}

} // namespace

FixedCalls::FixedCalls(Builder& scratch, Checking& checking)
    : scratch_(scratch), checking_(checking), uses_(checking.module.varCount) {
  std::vector<const Call*> calls;
  walk(
      checking.module,
      [&](const Binding& binding) {
        const auto* call = binding.value->as<Call>();
        const Type* type = checking.typing.of(*binding.var);
        if (call && type && computedRow(*call)) {
          if (const Attributes* found = checking.sizes->attributesOf(*call))
            attributes_[call] = found;
          else
            find(*call, type);
          calls.push_back(call);
        }
      },
      [&](const Operand& operand) {
        if (const auto* var = operand.value->as<Var>())
          ++uses_[var->number];
      });
  for (const Call* call : calls)
    if (attributes_.contains(call))
      dropOperands(*call);
}

bool FixedCalls::isAttribute(const Call& call, size_t operand) const {
  if (size_t computed = attributeMarksOf(call).size(); computed > 0)
    return operand + computed >= call.arguments.size();
  const OperatorRow& from = *computedRow(call);
  return std::ranges::count(scratch_.row(from.fixed.name).attributes, from.operand(operand).name,
                            &AttributeRow::name) > 0;
}

void FixedCalls::dropOperands(const Call& call) {
  for (size_t i = 0; i < call.arguments.size(); ++i)
    if (isAttribute(call, i))
      drop(*call.arguments[i].value);
}

/// One use less. What only made a shape has no effects.
void FixedCalls::drop(const Expr& atom) {
  std::vector<const Expr*> stack{&atom};
  while (!stack.empty()) {
    const auto* var = stack.back()->as<Var>();
    stack.pop_back();
    if (!var || --uses_[var->number] > 0 || var->origin != VarOrigin::Temporary)
      continue;
    const Expr* value = checking_.vars.values[var->number];
    if (value->as<Call>() || value->as<TupleExpr>()) {
      unused_.insert(var);
      forEachOperand(*value, [&](const Operand& operand) { stack.push_back(operand.value); });
    }
  }
}

const Type* FixedCalls::typeOf(const Expr& atom) const {
  if (const auto* constant = atom.as<Constant>())
    return checking_.unifier.resolve(constant->type);
  return checking_.typing.of(atom);
}

/// The numbers that an operand is, or by which an attribute says the same.
std::optional<std::vector<int64_t>> FixedCalls::numbersOf(const Call& call, size_t operand) {
  auto sizes = checking_.sizes->sizesOf(*call.arguments[operand].value);
  if (!sizes)
    return std::nullopt;
  for (const Dim*& size : *sizes)
    size = checking_.unifier.dims().resolve(size);
  const OperatorRow& row = *computedRow(call);
  const Type* data = typeOf(*call.arguments[0].value);
  if (row.fixed.numbersFor && data && data->isTensor())
    return row.fixed.numbersFor(data->shape, Dims(*sizes));
  std::vector<int64_t> numbers;
  for (const Dim* size : *sizes) {
    if (!size->isConstant())
      return std::nullopt;
    numbers.push_back(size->value);
  }
  return numbers;
}

void FixedCalls::find(const Call& call, const Type* wanted) {
  const OperatorRow& row = scratch_.row(computedRow(call)->fixed.name);
  std::vector<const Type*> types;
  std::vector<Setting> settings;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!isAttribute(call, i)) {
      types.push_back(typeOf(*call.arguments[i].value));
      continue;
    }
    std::string_view name = computedRow(call)->operand(i).name;
    auto numbers = numbersOf(call, i);
    auto attribute = std::ranges::find(row.attributes, name, &AttributeRow::name);
    bool isOne = attribute->kind == AttributeKind::Int;
    if (!numbers || (isOne && numbers->size() != 1))
      return;
    if (isOne)
      settings.emplace_back(name, numbers->front());
    else
      settings.emplace_back(name, *numbers);
  }
  size_t computed = settings.size();
  for (size_t i = 0; i < call.attributes->rows.size(); ++i) {
    std::string_view name = call.attributes->rows[i].name;
    auto isSame = [&](const Setting& each) { return each.name == name; };
    bool isDType = call.attributes->rows[i].kind == AttributeKind::DType && wanted->isTensor();
    if (std::ranges::count(row.attributes, name, &AttributeRow::name) == 0 ||
        std::any_of(settings.begin(), settings.begin() + ptrdiff_t(computed), isSame))
      continue;
    if (isDType && !call.named.empty())
      settings.emplace_back(name, wanted->dtype);
    else
      settings.emplace_back(name, call.attributes->values[i]);
  }
  const Attributes* attributes =
      scratch_.call(row, std::vector<Atom>(types.size()), settings)->attributes;
  RelationResult result = applyRelation(row, {scratch_.types, types, *attributes});
  if (result.outcome == RelationResult::Outcome::Solved && result.output == wanted)
    attributes_[&call] = attributes;
}

const Call* FixedCalls::replacing(const Call& call, const Call& copied, Builder& make) const {
  auto found = attributes_.find(&call);
  if (found == attributes_.end())
    return nullptr;
  std::vector<Atom> operands;
  for (size_t i = 0; i < call.arguments.size(); ++i)
    if (!isAttribute(call, i))
      operands.push_back(copied.arguments[i].value);
  std::vector<Setting> settings;
  for (size_t i = 0; i < found->second->rows.size(); ++i)
    settings.emplace_back(found->second->rows[i].name, found->second->values[i]);
  const OperatorRow& row = *computedRow(call);
  return make.call(attributeMarksOf(call).empty() ? make.row(row.fixed.name) : row, operands,
                   settings);
}

} // namespace typecheck
