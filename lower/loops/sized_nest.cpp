// Open extents that are equal are taken for one size: who calls with others asks for another class.
#include "lower/loops/sized_nest.h"

#include "lower/loops/build.h"
#include "lower/loops/verify.h"
#include "lower/tensor/bind.h"

#include <algorithm>
#include <fmt/format.h>

namespace loops {

namespace {

using tensor::TensorFunction;
using tensor::TensorInfo;

/// Tensors whose extents a call gives: inputs, then results.
std::vector<const TensorInfo*> tensorsOf(const TensorFunction& function) {
  std::vector<const TensorInfo*> tensors;
  for (size_t i = 0; i < function.inputCount; ++i)
    tensors.push_back(&function.tensors[i]);
  for (uint32_t result : function.results)
    tensors.push_back(&function.tensors[result]);
  return tensors;
}

/// Of each extent the size that it is, or nothing where it is a number.
struct Named {
  std::vector<int64_t> numbers;
  std::vector<std::optional<size_t>> names;
  std::vector<int64_t> sizes;
};

Named namedExtents(const TensorFunction& function, std::span<const int64_t> extents) {
  Named named{{extents.begin(), extents.end()}, {}, {}};
  size_t next = 0;
  for (const TensorInfo* info : tensorsOf(function))
    for (const tensor::ScalarNode* extent : info->shape) {
      int64_t number = extents[next++];
      if (extent->kind == tensor::ScalarKind::Number || number <= 1) {
        named.names.push_back(std::nullopt);
        continue;
      }
      auto known = std::ranges::find(named.sizes, number);
      named.names.push_back(size_t(known - named.sizes.begin()));
      if (known == named.sizes.end())
        named.sizes.push_back(number);
    }
  return named;
}

runtime::Checked<Nest> nestFor(const TensorFunction& function, const Named& named) {
  Nest start{.name = "kernel"};
  std::vector<Form> sizes;
  for (size_t i = 0; i < named.sizes.size(); ++i) {
    sizes.push_back(start.table.name(fmt::format("n{}", i)));
    start.sizes.push_back({*start.table.nameOf(sizes.back()), 2, 1});
  }
  size_t next = 0, tensors = 0;
  for (const TensorInfo* info : tensorsOf(function)) {
    bool isInput = tensors < function.inputCount;
    Buffer buffer{fmt::format("{}{}", isInput ? "x" : "y",
                                     isInput ? tensors : tensors - function.inputCount),
                         info->dtype,
                         {},
                         isInput ? Space::Input : Space::Output};
    for (size_t i = 0; i < info->shape.size(); ++i, ++next)
      buffer.extents.push_back(named.names[next] ? sizes[*named.names[next]]
                                                 : start.table.number(named.numbers[next]));
    start.buffers.push_back(std::move(buffer));
    ++tensors;
  }
  auto nest = nestOf(function, std::move(start));
  if (nest)
    if (std::string problem = loops::problemOf(*nest); !problem.empty())
      return runtime::Problem{problem};
  return nest;
}

} // namespace

std::vector<int64_t> classOf(const TensorFunction& function, std::span<const int64_t> extents) {
  Named named = namedExtents(function, extents);
  std::vector<int64_t> key;
  for (size_t i = 0; i < named.names.size(); ++i)
    key.push_back(named.names[i] ? -1 - int64_t(*named.names[i]) : named.numbers[i]);
  return key;
}

std::vector<int64_t> sizesOfClass(const TensorFunction& function,
                                  std::span<const int64_t> extents) {
  return namedExtents(function, extents).sizes;
}

runtime::Checked<SizedNest> nestOfClass(const TensorFunction& function,
                                        std::span<const int64_t> extents) {
  Named named = namedExtents(function, extents);
  auto nest = nestFor(function, named);
  if (!nest)
    return nest.failure();
  return SizedNest{*std::move(nest), std::move(named.sizes)};
}

runtime::Checked<SizedNest> nestOfNumbers(const TensorFunction& function,
                                          std::span<const int64_t> extents) {
  Named named{{extents.begin(), extents.end()}, {}, {}};
  named.names.resize(extents.size());
  auto nest = nestFor(function, named);
  if (!nest)
    return nest.failure();
  return SizedNest{*std::move(nest)};
}

} // namespace loops
