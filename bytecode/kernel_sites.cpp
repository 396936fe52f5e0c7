// The types must tell element types and ranks; all else may be open.
#include "bytecode/kernel_sites.h"

#include "lang/open_call.h"
#include "lang/site_shapes.h"

namespace bytecode {

using namespace lang;

namespace {

/// A tensor in an operand, and the way to it.
struct Leaf {
  const Type* type;
  std::vector<vm::KernelStep> path;
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
  for (const Type* tensor : tensors) {
    site.results.push_back({uint16_t(tensor->shape.size()), layouts.rep(tensor, {}).isScalar()});
    for (const Dim* dim : tensor->shape)
      site.resultExtents.push_back(dim->isConstant() ? dim->value : -1);
  }
}

} // namespace

std::optional<vm::KernelSite> kernelSite(Layouts& layouts, const OperatorRow& row, Types operands,
                                         const Type* result, const Attributes& attributes) {
  if (row.action != Action::Compute || !row.compute || row.shapeNeeds != ShapeNeeds::Shapes ||
      layouts.tensorsChange || !OpenCall::isPossible(operands, result))
    return std::nullopt;
  std::vector<const Type*> inputs, results;
  for (const Type* operand : operands)
    appendTensors(operand, inputs);
  appendTensors(result, results);
  bool isFlat = !result->isTuple() || result->parts.size() == results.size();
  if (!isFlat || !isComputable(inputs) || !isComputable(results))
    return std::nullopt;
  auto function = tensorFunctionOf(row, operands, result, attributes);
  if (!function)
    return std::nullopt;
  vm::KernelSite site{.function = *std::move(function)};
  for (size_t i = 0; i < operands.size(); ++i)
    for (Leaf& leaf : leavesOf(layouts, operands[i]))
      site.inputs.push_back({uint16_t(i), std::move(leaf.path), leaf.type->dtype,
                             uint16_t(leaf.type->shape.size()),
                             layouts.rep(leaf.type, {}).isScalar()});
  addResults(layouts, result, results, site);
  site.known = knownExtents(inputs, results);
  if (areClosed(inputs) && areClosed(results))
    return site;
  site.shapes = foreseenShapes(row, operands, site.resultExtents.size(), attributes);
  return site.shapes.empty() ? std::nullopt : std::optional(std::move(site));
}

} // namespace bytecode
