// Lists that follow from the tensors of a function.
#include "lower/tensor/given.h"

#include <algorithm>

namespace tensor {

std::vector<int64_t> extentsOf(const TensorFunction& function) {
  std::vector<int64_t> extents;
  for (uint32_t tensor : givenTensors(function))
    for (const ScalarNode* extent : function.tensors[tensor].shape) {
      const auto* number = extent->as<ScalarNumber>();
      extents.push_back(number ? number->integer : -1);
    }
  return extents;
}

std::vector<runtime::Shape> givenShapes(const TensorFunction& function,
                                        std::span<const int64_t> extents) {
  std::vector<runtime::Shape> shapes;
  for (uint32_t tensor : givenTensors(function)) {
    auto shape = extents.first(std::min(function.tensors[tensor].shape.size(), extents.size()));
    extents = extents.subspan(shape.size());
    shapes.emplace_back(shape.begin(), shape.end());
  }
  return shapes;
}

bool fits(const TensorFunction& function, std::span<const int64_t> extents) {
  std::vector<int64_t> own = extentsOf(function);
  return std::ranges::equal(own, extents, [](int64_t known, int64_t given) {
    return given >= 0 && (known == -1 || known == given);
  });
}

std::optional<runtime::Fault> uncounted(const TensorFunction& function,
                                        std::span<const int64_t> extents) {
  std::vector<runtime::Shape> shapes = givenShapes(function, extents);
  std::vector<uint32_t> given = givenTensors(function);
  for (size_t i = 0; i < given.size(); ++i) {
    runtime::DType dtype = function.tensors[given[i]].dtype;
    bool isNegative = std::ranges::any_of(shapes[i], [](int64_t extent) { return extent < 0; });
    auto elements = isNegative ? 0 : runtime::elementCount(shapes[i]);
    if (!elements || *elements > INT64_MAX / int64_t(dtype.bytes()))
      return runtime::memoryFault(dtype, shapes[i]);
  }
  return std::nullopt;
}

std::vector<uint32_t> elementRoots(const TensorFunction& function) {
  std::vector<uint32_t> roots;
  for (uint32_t tensor = 0; tensor < function.tensors.size(); ++tensor) {
    const Stage* stage =
        tensor < function.inputCount ? nullptr : &function.stages[tensor - function.inputCount];
    bool isReshape = stage && stage->kind == StageKind::Reshape;
    roots.push_back(isReshape ? roots[stage->source] : tensor);
  }
  return roots;
}

std::vector<runtime::ResultSource> resultSources(const TensorFunction& function) {
  std::vector<uint32_t> roots = elementRoots(function);
  std::vector<runtime::ResultSource> sources;
  for (uint32_t result : function.results) {
    uint32_t root = roots[result];
    bool isInput = root < function.inputCount;
    auto first =
        std::ranges::find(function.results, root, [&](uint32_t other) { return roots[other]; });
    sources.push_back({isInput, isInput ? root : uint32_t(first - function.results.begin())});
  }
  return sources;
}

} // namespace tensor
