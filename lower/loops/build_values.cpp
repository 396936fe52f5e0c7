// Nodes are made operands first, by an explicit stack. An int64 that is a form stays one as long as
// it can; it becomes an operation where somebody needs its value.
#include "lower/loops/build_values.h"

#include "lower/loops/names.h"
#include "lower/tensor/walk.h"

#include <algorithm>

namespace loops {

namespace {

using tensor::ScalarFunction;
using tensor::ScalarKind;
using tensor::ScalarNode;

/// Index arithmetic of the language wraps, forms do not: only what stays far from 64 bits for sizes
/// of 31 bits is one.
constexpr int64_t largestCoefficient = 1 << 24;
constexpr size_t mostFactors = 3;

bool isModest(const sizes::Table& table, Form form) {
  const sizes::Sum& sum = table.sumOf(form);
  auto isSmall = [](int64_t number) {
    return -largestCoefficient <= number && number <= largestCoefficient;
  };
  return std::ranges::all_of(sum.terms, [&](const sizes::Term& term) {
    return isSmall(term.coefficient) && term.factors.size() <= mostFactors;
  });
}

/// The form of one node whose operands have forms.
std::optional<Form> applied(sizes::Table& table, const sizes::Facts& facts, ScalarFunction function,
                            Form a, Form b) {
  Form zero = table.number(0);
  bool isPositive = false, isWhole = false;
  switch (function) {
  case ScalarFunction::Divide:
  case ScalarFunction::TruncDivide:
  case ScalarFunction::TruncMod:
  case ScalarFunction::FloorDivide:
  case ScalarFunction::FloorMod:
    isPositive = facts.proves(b, table.number(1));
    isWhole = function == ScalarFunction::FloorDivide || function == ScalarFunction::FloorMod;
    if (!isPositive || (!isWhole && !facts.proves(a, zero)))
      return std::nullopt;
    break;
  default:
    break;
  }
  switch (function) {
  case ScalarFunction::Add:
    return table.sum(a, b);
  case ScalarFunction::Subtract:
    return table.sum(a, b, -1);
  case ScalarFunction::Multiply:
    return table.product(a, b);
  case ScalarFunction::Divide:
  case ScalarFunction::TruncDivide:
  case ScalarFunction::FloorDivide:
    return facts.simplified(table.quotient(a, b));
  case ScalarFunction::TruncMod:
  case ScalarFunction::FloorMod:
    return facts.simplified(table.rest(a, b));
  case ScalarFunction::Maximum:
    return facts.simplified(table.greatest(a, b));
  case ScalarFunction::Minimum:
    return facts.simplified(table.least(a, b));
  default:
    return std::nullopt;
  }
}

Form formOfSize(Extents& extents, const tensor::SizeParameter& size) {
  size_t buffer = size.isOfResult ? extents.function.inputCount + size.tensor : size.tensor;
  return extents.nest.buffers[buffer].extents[size.dim];
}

bool isOfSizes(const Nest& nest, Form form) {
  return std::ranges::all_of(nest.table.namesIn(form), [&](Name name) {
    return std::ranges::find(nest.sizes, name, &Assumption::size) != nest.sizes.end();
  });
}

/// A condition on sizes as a form that is 1 where it holds, else 0; and what hangs on one.
std::optional<Form> conditional(sizes::Table& table, ScalarFunction function,
                                const std::vector<Form>& operands) {
  Form zero = table.number(0), one = table.number(1);
  auto isAbove = [&](Form a, Form b) {
    return table.least(one, table.greatest(zero, table.sum(a, b, -1)));
  };
  auto without = [&](Form condition) { return table.sum(one, condition, -1); };
  Form a = operands[0], b = operands.back();
  switch (function) {
  case ScalarFunction::Equal:
    return without(table.greatest(isAbove(a, b), isAbove(b, a)));
  case ScalarFunction::NotEqual:
    return table.greatest(isAbove(a, b), isAbove(b, a));
  case ScalarFunction::Less:
    return isAbove(b, a);
  case ScalarFunction::LessEqual:
    return without(isAbove(a, b));
  case ScalarFunction::Greater:
    return isAbove(a, b);
  case ScalarFunction::GreaterEqual:
    return without(isAbove(b, a));
  case ScalarFunction::LogicalNot:
    return without(a);
  case ScalarFunction::LogicalAnd:
    return table.least(a, b);
  case ScalarFunction::LogicalOr:
    return table.greatest(a, b);
  case ScalarFunction::Select:
    return table.sum(operands[2], table.product(a, table.sum(operands[1], operands[2], -1)));
  default:
    return std::nullopt;
  }
}

/// The form of a function whose operands have forms: of positions, or of sizes alone.
template <typename Known>
std::optional<Form> formOfApply(Extents& extents, const sizes::Facts& facts,
                                const tensor::ScalarApply& apply, Known&& known) {
  sizes::Table& table = extents.nest.table;
  std::vector<Form> operands;
  for (const ScalarNode* operand : apply.operands)
    if (auto form = known(operand))
      operands.push_back(*form);
    else
      return std::nullopt;
  std::optional<Form> form;
  if (apply.dtype == runtime::Int64 && operands.size() == 2)
    form = applied(table, facts, apply.function, operands[0], operands[1]);
  if (!form &&
      std::ranges::all_of(operands, [&](Form operand) { return isOfSizes(extents.nest, operand); }))
    form = conditional(table, apply.function, operands);
  return form && isModest(table, *form) && !table.isTooLarge() ? form : std::nullopt;
}

/// The form of a node, given those of its operands. A condition on sizes has one as well.
template <typename Known>
std::optional<Form> formOfNode(Extents& extents, const sizes::Facts& facts, const ScalarNode* node,
                               Known&& known) {
  if (node->dtype != runtime::Int64 && !node->dtype.isBool())
    return std::nullopt;
  if (const auto* number = node->as<tensor::ScalarNumber>())
    return extents.nest.table.number(number->integer);
  if (const auto* index = node->as<tensor::ScalarIndex>())
    return extents.axes.at(index->axis);
  if (const auto* size = node->as<tensor::ScalarSize>())
    return formOfSize(extents, extents.function.sizes[size->number]);
  if (const auto* cast = node->as<tensor::ScalarCast>())
    return node->dtype == runtime::Int64 ? known(cast->operand) : std::nullopt;
  const auto* apply = node->as<tensor::ScalarApply>();
  return apply ? formOfApply(extents, facts, *apply, known) : std::nullopt;
}

} // namespace

std::optional<Form> formOf(Extents& extents, const sizes::Facts& facts, const ScalarNode* root) {
  std::unordered_map<const ScalarNode*, std::optional<Form>> forms;
  tensor::forEachUnknownNode(
      root, [&](const ScalarNode* node) { return forms.contains(node); },
      [&](const ScalarNode& node) {
        forms[&node] = formOfNode(extents, facts, &node,
                                  [&](const ScalarNode* operand) { return forms.at(operand); });
      });
  return forms.at(root);
}

uint32_t ValueBuilder::add(Operation operation) {
  operations_.push_back(std::move(operation));
  return uint32_t(operations_.size() - 1);
}

uint32_t ValueBuilder::cast(uint32_t value, DType dtype) {
  if (typeOf(value) == dtype)
    return value;
  return add({.kind = OperationKind::Cast, .dtype = dtype, .operands = {value}});
}

uint32_t ValueBuilder::number(DType dtype, double real, int64_t integer) {
  return add({.kind = OperationKind::Number, .dtype = dtype, .real = real, .integer = integer});
}

uint32_t ValueBuilder::position(Form form) {
  if (auto constant = extents_.nest.table.constantOf(form))
    return number(runtime::Int64, 0, *constant);
  return add({.kind = OperationKind::Position, .dtype = runtime::Int64, .position = form});
}

std::optional<Form> ValueBuilder::knownForm(const ScalarNode* node) const {
  auto found = forms_.find(node);
  return found == forms_.end() ? std::nullopt : std::optional(found->second);
}

uint32_t ValueBuilder::value(const ScalarNode* root) {
  std::vector<const ScalarNode*> stack{root};
  while (!stack.empty()) {
    const ScalarNode* node = stack.back();
    size_t before = stack.size();
    if (!values_.contains(node) && !forms_.contains(node)) {
      // The body of a sum is a statement of its own.
      if (!node->as<tensor::ScalarReduce>())
        tensor::forEachOperand(*node, [&](const ScalarNode* operand) {
          if (!values_.contains(operand) && !forms_.contains(operand))
            stack.push_back(operand);
        });
      if (stack.size() > before)
        continue;
      make(node);
    }
    stack.pop_back();
  }
  return made(root);
}

/// The operation of a node that has one, or gets one for its form.
uint32_t ValueBuilder::made(const ScalarNode* node) {
  if (auto found = values_.find(node); found != values_.end())
    return found->second;
  return values_[node] = cast(position(forms_.at(node)), node->dtype);
}

void ValueBuilder::make(const ScalarNode* node) {
  auto form = formOfNode(extents_, facts_, node,
                         [&](const ScalarNode* operand) { return knownForm(operand); });
  if (form) {
    forms_[node] = *form;
    return;
  }
  uint32_t value = none;
  if (const auto* literal = node->as<tensor::ScalarNumber>())
    value = number(literal->dtype, literal->real, literal->integer);
  else if (const auto* cast = node->as<tensor::ScalarCast>())
    value = this->cast(made(cast->operand), cast->dtype);
  else if (const auto* load = node->as<tensor::ScalarLoad>())
    value = this->load(*load);
  else if (const auto* apply = node->as<tensor::ScalarApply>())
    value = this->apply(*apply);
  else if (const auto* reduce = node->as<tensor::ScalarReduce>())
    value = reduce_(*this, *reduce);
  values_[node] = value;
}

uint32_t ValueBuilder::apply(const tensor::ScalarApply& apply) {
  Operation operation{
      .kind = OperationKind::Apply, .dtype = apply.dtype, .function = apply.function};
  for (const ScalarNode* operand : apply.operands)
    operation.operands.push_back(made(operand));
  return add(std::move(operation));
}

Place ValueBuilder::placeAt(Form form, Form extent) const {
  return {.form = form, .isChecked = !facts_.isInside(form, extent)};
}

uint32_t ValueBuilder::load(const tensor::ScalarLoad& load) {
  uint32_t buffer = extents_.buffers[load.tensor];
  Operation operation{.kind = OperationKind::Load, .dtype = load.dtype, .buffer = buffer};
  bool isInside = true;
  for (size_t i = 0; i < load.position.size(); ++i) {
    Form extent = extents_.nest.buffers[buffer].extents[i];
    auto form = knownForm(load.position[i]);
    Place place =
        form ? placeAt(*form, extent) : Place{.value = made(load.position[i]), .isChecked = true};
    isInside &= !place.isChecked;
    operation.places.push_back(place);
  }
  if (load.outside && !isInside) {
    operation.operands = {made(load.outside)};
    for (Place& place : operation.places)
      place.isChecked = false;
  }
  return add(std::move(operation));
}

bool mayFail(const std::vector<Operation>& operations) {
  auto isZeroless = [&](uint32_t value) {
    return operations[value].kind == OperationKind::Number && operations[value].integer != 0;
  };
  return std::ranges::any_of(operations, [&](const Operation& operation) {
    if (operation.kind == OperationKind::Apply)
      return runtime::scalarFunctionDivides(operation.function) && !operation.dtype.isFloat() &&
             !isZeroless(operation.operands[1]);
    return std::ranges::any_of(operation.places, &Place::isChecked);
  });
}

} // namespace loops
