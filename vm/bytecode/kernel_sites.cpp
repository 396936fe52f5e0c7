// The types must tell element types and ranks; all else may be open.
#include "vm/bytecode/kernel_sites.h"

#include "lang/calls/call_function.h"
#include "lang/calls/group.h"
#include "lang/calls/open_call.h"
#include "lang/op/op.h"
#include "lang/op/shapes_of.h"

namespace bytecode {

using namespace lang;

namespace {

/// A tensor in an operand, and the way to it.
struct Leaf {
  const Type* type;
  std::vector<vm::SiteStep> path;
};

/// The tensors of an operand in order, by an explicit stack, since tuples may be nested.
std::vector<Leaf> leavesOf(Layouts& layouts, const Type* operand) {
  std::vector<Leaf> leaves, stack{{operand, {}}};
  while (!stack.empty()) {
    Leaf top = std::move(stack.back());
    stack.pop_back();
    if (!top.type->isTuple()) {
      leaves.push_back(std::move(top));
      continue;
    }
    uint16_t layout = layouts.tuple(layouts.reps(top.type->parts));
    for (size_t i = top.type->parts.size(); i-- > 0;) {
      Leaf part{top.type->parts[i], top.path};
      part.path.push_back({layout, uint16_t(i)});
      stack.push_back(std::move(part));
    }
  }
  return leaves;
}

bool isComputable(Types tensors) {
  return std::ranges::all_of(tensors, [](const Type* type) { return type->dtype.isComputable(); });
}

void addResults(Layouts& layouts, const Type* result, Types tensors, vm::KernelSite& site) {
  if (result->isTuple())
    site.resultLayout = layouts.tuple(layouts.reps(tensors));
  for (const Type* tensor : tensors)
    site.results.push_back({uint16_t(tensor->shape.size()), layouts.rep(tensor, {}).isScalar()});
}

std::vector<vm::SiteInput> inputsOf(Layouts& layouts, Types operands) {
  std::vector<vm::SiteInput> inputs;
  for (size_t i = 0; i < operands.size(); ++i)
    for (Leaf& leaf : leavesOf(layouts, operands[i]))
      inputs.push_back({uint16_t(i), std::move(leaf.path), leaf.type->dtype,
                        uint16_t(leaf.type->shape.size()), layouts.rep(leaf.type, {}).isScalar()});
  return inputs;
}

/// The tensors in operands and result, in order.
struct Tensors {
  std::vector<const Type*> inputs, results;
};
Tensors tensorsOf(Types operands, const Type* result) {
  Tensors tensors;
  for (const Type* operand : operands)
    appendTensors(operand, tensors.inputs);
  appendTensors(result, tensors.results);
  return tensors;
}

/// Whether a result is a tensor, or a tuple of tensors alone.
bool isFlat(const Type* result) {
  return !result->isTuple() || std::ranges::all_of(result->parts, &Type::isTensor);
}

vm::KernelSite siteOf(Layouts& layouts, Types operands, const Type* result, checks::Shapes shapes,
                      tensor::TensorFunction function) {
  vm::KernelSite site{.inputs = inputsOf(layouts, operands),
                      .shapes = std::move(shapes),
                      .function = std::move(function)};
  addResults(layouts, result, tensorsOf(operands, result).results, site);
  return site;
}

} // namespace

std::optional<vm::NativeSite> nativeSite(Layouts& layouts, const OperatorRow& row, Types operands,
                                         const Type* result, const Attributes& attributes) {
  if (!row.native || !OpenCall::isPossible(operands, result))
    return std::nullopt;
  auto [inputs, results] = tensorsOf(operands, result);
  vm::NativeSite site{.name = std::string(row.native.function->name),
                      .parameters = row.native.decode(attributes, operands),
                      .inputs = inputsOf(layouts, operands),
                      .function = row.native.function};
  std::vector<runtime::NativeType> types;
  for (const Type* input : inputs)
    types.push_back({input->dtype, input->shape.size()});
  auto given = site.function->results(types, site.parameters);
  bool fits = given && isFlat(result) && given->size() == results.size();
  for (size_t i = 0; fits && i < results.size(); ++i)
    fits = (*given)[i].dtype == results[i]->dtype && (*given)[i].rank == results[i]->shape.size();
  if (!fits)
    return std::nullopt;
  if (result->isTuple())
    site.resultLayout = layouts.tuple(layouts.reps(results));
  return site;
}

bool needsWords(const OperatorRow& row, Types operands, const Type* result) {
  auto [inputs, results] = tensorsOf(operands, result);
  return row.shapeNeeds != ShapeNeeds::Shapes || !areClosed(inputs) || !areClosed(results);
}

std::optional<vm::KernelSite> kernelSite(Layouts& layouts, const OperatorRow& row, Types operands,
                                         const Type* result, const Attributes& attributes) {
  if (!isTensorFunction(row) || layouts.tensorsChange || !OpenCall::isPossible(operands, result))
    return std::nullopt;
  auto [inputs, results] = tensorsOf(operands, result);
  if (!isFlat(result) || !isComputable(inputs) || !isComputable(results))
    return std::nullopt;
  auto function = tensorFunctionOf(row, operands, result, attributes);
  if (!function)
    return std::nullopt;
  auto shapes = areClosed(inputs) && areClosed(results)
                    ? std::optional(shapesOf(operands, results))
                    : shapesOf(row, operands, attributes, results);
  return shapes ? std::optional(
                      siteOf(layouts, operands, result, *std::move(shapes), *std::move(function)))
                : std::nullopt;
}

std::optional<vm::KernelSite> groupSite(Layouts& layouts, const Function& group,
                                        const Typing& typing) {
  std::vector<const Type*> operands;
  for (const Var* parameter : group.parameters)
    operands.push_back(typing.of(*parameter));
  const Type* result = typing.result(group);
  auto function = layouts.tensorsChange || !group.generics.empty() || !result
                      ? std::nullopt
                      : groupFunction(group, typing);
  if (!function)
    return std::nullopt;
  auto [inputs, results] = tensorsOf(operands, result);
  if (!isFlat(result) || !isComputable(inputs) || !isComputable(results))
    return std::nullopt;
  checks::Shapes shapes = shapesOfFunction(operands, results);
  if (!checks::areResultsGiven(shapes))
    return std::nullopt;
  return siteOf(layouts, operands, result, std::move(shapes), *std::move(function));
}

} // namespace bytecode
