// Native functions are called, tensor expressions planned and run.
#include "tests/harness/run_operator.h"

#include "codegen/strips/compile/sized.h"

#include <algorithm>

namespace harness {

using namespace lang;

namespace {

constexpr int64_t mostElements = 100'000;

/// Whether all extents are numbers, and the elements are few and can be computed.
bool isSmall(const Type* tensor) {
  int64_t count = 1;
  for (const Dim* dim : tensor->shape) {
    if (!dim->isConstant() || dim->value < 0 || dim->value > mostElements)
      return false;
    count *= std::max<int64_t>(dim->value, 1);
    if (count > mostElements)
      return false;
  }
  return tensor->dtype.isComputable();
}

/// Whether the extents that are numbers make too many elements to compute.
bool isHuge(const Type* tensor) {
  int64_t count = 1;
  for (const Dim* dim : tensor->shape)
    if (dim->isConstant() && dim->value > 0)
      count = std::min(count, mostElements + 1) * std::min(dim->value, mostElements + 1);
  return count > mostElements;
}

} // namespace

bool appendLeafTypes(const Type* type, std::vector<const Type*>& leaves) {
  size_t first = leaves.size();
  return appendTensors(type, leaves) &&
         std::all_of(leaves.begin() + ptrdiff_t(first), leaves.end(), isSmall);
}

std::optional<TensorFunction> operatorFunction(const OperatorRow& row, const RelationCall& call,
                                               const Type* output) {
  std::vector<const Type*> promised;
  if (!row.compute || !appendLeafTypes(output, promised))
    return std::nullopt;
  return *tensorFunctionOf(row, call.operands, output, call.attributes);
}

std::optional<OperatorRun> runOperator(const OperatorRow& row, const RelationCall& call,
                                       const Type* output, std::span<const runtime::Tensor> leaves,
                                       const tensor::TensorEngine& engine) {
  if (row.native) {
    std::vector<const Type*> promised;
    if (appendTensors(output, promised) && std::ranges::any_of(promised, isHuge))
      return std::nullopt;
    OperatorRun result;
    auto parameters = row.native.decode(call.attributes, call.operands);
    std::vector<runtime::Tensor> inputs(leaves.begin(), leaves.end());
    result.problem =
        runtime::nativeFaultText(row.native.function->run({inputs, result.results}, parameters));
    return result;
  }
  if (row.action == Action::Pass || row.action == Action::Show)
    return OperatorRun{{leaves.begin(), leaves.end()}, {}};
  auto function = operatorFunction(row, call, output);
  if (!function)
    return std::nullopt;
  std::vector<runtime::Value> inputs, outputs;
  for (const runtime::Tensor& leaf : leaves)
    inputs.push_back(runtime::tensorValue(leaf));
  tensor::OwnedKernel kernel(*std::move(function), engine.makeKernel);
  if (auto fault = kernel.run(inputs, outputs))
    return OperatorRun{{}, fault->problem.plain()};
  OperatorRun result;
  for (const runtime::Value& value : outputs)
    result.results.push_back(value.tensor());
  return result;
}

} // namespace harness
