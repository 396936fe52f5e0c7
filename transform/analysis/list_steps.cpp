// What a product is, is read off the tensor function: each row of the result is made of one row of
// one operand, and all of them are sums over all of another one.
#include "transform/analysis/list_steps.h"

#include "lang/calls/call_function.h"
#include "lang/ir/walk.h"
#include "lang/op/leaves.h"
#include "lower/tensor/access.h"
#include "transform/analysis/known_functions.h"

#include <algorithm>

namespace transform {

using namespace lang;

namespace {

/// More rows than these keep a processor busy by themselves.
constexpr int64_t mostRows = 4;
/// Smaller weights are read about as fast as they are multiplied.
constexpr int64_t fewestWeights = 1 << 14;

/// Where an arm takes one constructor apart into names, the fields of its pattern.
std::span<const Pattern* const> fieldsOf(const Arm& arm) {
  auto isName = [](const Pattern* part) { return part->kind != PatternKind::Constructor; };
  bool isFlat = arm.pattern->kind == PatternKind::Constructor &&
                std::ranges::all_of(arm.pattern->parts, isName);
  return isFlat ? arm.pattern->parts : std::span<const Pattern* const>();
}

/// The one call of `global` in the body of an arm, none inside of other blocks.
std::optional<size_t> callIn(const Block& body, const Global& global) {
  for (size_t i = 0; i < body.bindings.size(); ++i)
    if (const auto* call = body.bindings[i].value->as<Call>())
      if (call->callee.value == &global)
        return i;
  return std::nullopt;
}

size_t mentions(const Function& function, const Global& global) {
  size_t count = 0;
  forEachAtom(*function.body, [&](const Expr& atom) { count += &atom == &global; });
  return count;
}

StepValue combined(StepValue a, StepValue b) {
  return a == StepValue::Own || b == StepValue::Own ? StepValue::Own : std::min(a, b);
}

/// Whether what is bound may be made before the step comes, as operators and tuples may.
bool isMadeAhead(const Expr& value) {
  return value.isAtom() || value.as<TupleExpr>() || value.as<Project>() || tensorFunctionRow(value);
}

/// Whether all that a map loads of a tensor is of the row that it makes, and nothing else hangs on
/// which row that is.
bool isByRows(const tensor::TensorFunction& function, uint32_t rows) {
  if (function.stages.size() != 1 || function.stages[0].kind != tensor::StageKind::Map)
    return false;
  const tensor::Stage& stage = function.stages[0];
  bool isByRows = tensor::workOf(stage.body).reduces;
  tensor::forEachNode(stage.body, [&](const tensor::ScalarNode& node) {
    const auto* load = node.as<tensor::ScalarLoad>();
    const bool isOfRows = load && load->tensor == rows;
    isByRows &= !isOfRows || !load->outside;
    size_t place = 0;
    tensor::forEachOperand(node, [&](const tensor::ScalarNode* operand) {
      const auto* index = operand->as<tensor::ScalarIndex>();
      bool isRow = index && index->axis == stage.axes[0].number;
      isByRows &= isRow == (isOfRows && place++ == 0);
    });
  });
  return isByRows;
}

/// How many elements the dimensions hold, or `most` where there are more or nobody knows.
int64_t elementsOf(std::span<const Dim* const> dims, int64_t most) {
  int64_t count = 1;
  for (const Dim* dim : dims)
    count = std::min(count * (dim->isConstant() ? std::min(dim->value, most) : most), most);
  return count;
}

std::optional<RowProduct> productAt(std::span<const Binding> bindings, size_t place,
                                    const StepValues& values, const Typing& typing) {
  const auto* call = bindings[place].value->as<Call>();
  const Type* type = typing.of(*bindings[place].var);
  if (!call || !tensorFunctionRow(*call) || !type || !type->isTensor() || type->shape.size() < 2)
    return std::nullopt;
  auto isElement = [&](const Operand& operand) {
    return stepValueOf(*operand.value, values) == StepValue::OfElement;
  };
  auto isLarge = [&](const Operand& operand) {
    const Type* weights = typing.of(*operand.value);
    return weights && weights->isTensor() &&
           elementsOf(weights->shape, fewestWeights) == fewestWeights;
  };
  auto element = std::ranges::find_if(call->arguments, isElement);
  int64_t rows = elementsOf(type->shape.first(type->shape.size() - 1), mostRows + 1);
  if (std::ranges::count_if(call->arguments, isElement) != 1 ||
      std::ranges::none_of(call->arguments, isLarge) || rows < 1 || rows > mostRows)
    return std::nullopt;
  size_t input = 0;
  for (const Operand& before : std::span(call->arguments.begin(), element))
    input += tensorCount(typing.of(*before.value));
  auto function = functionOfCall(*call, type, typing);
  if (!function || !isByRows(*function, uint32_t(input)))
    return std::nullopt;
  return RowProduct{place, size_t(element - call->arguments.begin()), rows};
}

} // namespace

std::optional<ListSteps> listStepsOf(const Global& global, const UseCounts& uses) {
  const Function* function = global.function;
  if (!function || function->body->bindings.size() != 1 || mentions(*function, global) != 1)
    return std::nullopt;
  const Binding& only = function->body->bindings[0];
  const auto* match = only.value->as<Match>();
  if (!match || function->body->result.value != only.var)
    return std::nullopt;
  auto list = std::ranges::find(function->parameters, match->scrutinee.value);
  if (list == function->parameters.end() || uses.mentions[(*list)->number] != 1)
    return std::nullopt;
  ListSteps steps{&global, match, 0, size_t(list - function->parameters.begin()), 0, 0};
  for (; steps.arm < match->arms.size(); ++steps.arm) {
    auto fields = fieldsOf(steps.step());
    auto call = callIn(*steps.step().body, global);
    if (!call || fields.empty())
      continue;
    steps.call = *call;
    if (steps.next().arguments.size() != function->parameters.size())
      return std::nullopt;
    const Expr* rest = steps.next().arguments[steps.list].value;
    auto field = std::ranges::find(fields, rest, &Pattern::var);
    if (field == fields.end() || uses.mentions[rest->as<Var>()->number] != 1)
      return std::nullopt;
    steps.rest = size_t(field - fields.begin());
    return steps;
  }
  return std::nullopt;
}

StepValues stepValuesOf(const ListSteps& steps) {
  StepValues values;
  const Function& function = steps.function();
  for (size_t i = 0; i < function.parameters.size(); ++i)
    if (steps.next().arguments[i].value == function.parameters[i])
      values[function.parameters[i]] = StepValue::Shared;
  auto fields = fieldsOf(steps.step());
  for (size_t i = 0; i < fields.size(); ++i)
    if (i != steps.rest && fields[i]->var)
      values[fields[i]->var] = StepValue::OfElement;
  return values;
}

StepValue stepValueOf(const Expr& atom, const StepValues& values) {
  if (!atom.as<Var>())
    return StepValue::Shared;
  auto found = values.find(&atom);
  return found == values.end() ? StepValue::Own : found->second;
}

std::vector<RowProduct> rowProducts(std::span<const Binding> bindings, StepValues& values,
                                    const Typing& typing) {
  std::vector<RowProduct> products;
  for (size_t i = 0; i < bindings.size(); ++i) {
    const Expr& value = *bindings[i].value;
    StepValue kind = isMadeAhead(value) ? stepValueOf(value, values) : StepValue::Own;
    if (!value.isAtom() && kind != StepValue::Own)
      forEachOperand(value, [&](const Operand& operand) {
        kind = combined(kind, stepValueOf(*operand.value, values));
      });
    auto product =
        kind == StepValue::OfElement ? productAt(bindings, i, values, typing) : std::nullopt;
    if (product)
      products.push_back(*product);
    values[bindings[i].var] = product ? StepValue::Own : kind;
  }
  return products;
}

} // namespace transform
