// Open extents that are equal are taken for one size: who calls with others asks for another class.
#include "lower/loops/sized_nest.h"

#include "lower/loops/build.h"
#include "lower/loops/verify.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace loops {

namespace {

using tensor::TensorFunction;

/// The extents that a call gives, as the function has them.
std::vector<const tensor::ScalarNode*> givenExtents(const TensorFunction& function) {
  std::vector<const tensor::ScalarNode*> extents;
  for (uint32_t tensor : tensor::givenTensors(function))
    extents.insert(extents.end(), function.tensors[tensor].shape.begin(),
                   function.tensors[tensor].shape.end());
  return extents;
}

size_t sizeOf(int64_t extent) {
  return size_t(-1 - extent);
}

} // namespace

std::vector<int64_t> classOf(const TensorFunction& function, std::span<const int64_t> extents) {
  std::vector<int64_t> pattern, sizes;
  for (const tensor::ScalarNode* extent : givenExtents(function)) {
    int64_t number = extents[pattern.size()];
    if (extent->kind == tensor::ScalarKind::Number || number < leastOfClass) {
      pattern.push_back(number);
      continue;
    }
    auto known = std::ranges::find(sizes, number);
    pattern.push_back(-1 - int64_t(known - sizes.begin()));
    if (known == sizes.end())
      sizes.push_back(number);
  }
  return pattern;
}

std::vector<int64_t> patternOf(const checks::Shapes& shapes) {
  std::vector<int64_t> pattern;
  std::map<uint32_t, int64_t> seen;
  int64_t next = -1;
  for (std::span<const uint32_t> extents : {std::span(shapes.operands), std::span(shapes.results)})
    for (uint32_t extent : extents) {
      const checks::Size& size = shapes.sizes[extent];
      if (size.kind == checks::SizeKind::Number)
        pattern.push_back(size.number);
      else if (auto [known, isNew] = seen.try_emplace(extent, next);
               !isNew && size.kind != checks::SizeKind::Open)
        pattern.push_back(known->second);
      else
        pattern.push_back(next--);
    }
  return pattern;
}

std::vector<int64_t> sizesOf(std::span<const int64_t> pattern, std::span<const int64_t> extents) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i] < 0) {
      sizes.resize(std::max(sizes.size(), sizeOf(pattern[i]) + 1));
      sizes[sizeOf(pattern[i])] = extents[i];
    }
  return sizes;
}

runtime::Checked<Nest> nestOfPattern(const TensorFunction& function,
                                     std::span<const int64_t> pattern, int64_t least,
                                     Numbers numbers) {
  Nest start{.name = "kernel", .numbers = numbers};
  std::vector<Form> sizes;
  auto extentOf = [&](int64_t is) {
    if (is >= 0)
      return start.table.number(is);
    while (sizes.size() <= sizeOf(is)) {
      sizes.push_back(start.table.name(fmt::format("n{}", sizes.size())));
      start.sizes.push_back({*start.table.nameOf(sizes.back()), least, 1});
    }
    return sizes[sizeOf(is)];
  };
  size_t next = 0, tensors = 0;
  for (uint32_t given : tensor::givenTensors(function)) {
    const tensor::TensorInfo& info = function.tensors[given];
    bool isInput = tensors < function.inputCount;
    Buffer buffer{
        fmt::format("{}{}", isInput ? "x" : "y", isInput ? tensors : tensors - function.inputCount),
        info.dtype,
        {},
        isInput ? Space::Input : Space::Output};
    for (size_t i = 0; i < info.shape.size(); ++i)
      buffer.extents.push_back(extentOf(pattern[next++]));
    start.buffers.push_back(std::move(buffer));
    ++tensors;
  }
  auto nest = nestOf(function, std::move(start));
  if (nest)
    if (std::string problem = problemOf(*nest); !problem.empty())
      return runtime::Problem{problem};
  return nest;
}

} // namespace loops
