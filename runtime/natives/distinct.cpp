// Elements are sorted, and equal ones stand beside each other then; groups that are wanted in the
// order of their first elements are numbered anew.
#include "runtime/natives/order_key.h"
#include "runtime/natives/sort.h"

namespace natives {

namespace {

/// Of each group of equal elements the place of its first one, and the group of each element.
struct Groups {
  std::vector<size_t> first;
  std::span<int32_t> ofElement;
};

template <typename T>
void findGroups(std::span<const T> elements, Groups& groups) {
  visitEntryType<T>(elements.size(), [&](auto entry) {
    std::vector<decltype(entry)> entries, scratch;
    auto keyAt = [&](size_t i) { return orderKey(elements[i], true); };
    sortFirst(elements.size(), elements.size(), keyAt, entries, scratch);
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i == 0 || entries[i].key != entries[i - 1].key)
        groups.first.push_back(size_t(entries[i].place));
      groups.ofElement[size_t(entries[i].place)] = int32_t(groups.first.size() - 1);
    }
  });
}

void numberByFirst(Groups& groups) {
  std::vector<size_t> first;
  std::vector<int32_t> number(groups.first.size());
  for (size_t i = 0; i < groups.ofElement.size(); ++i) {
    int32_t& group = groups.ofElement[i];
    if (groups.first[size_t(group)] == i) {
      number[size_t(group)] = int32_t(first.size());
      first.push_back(i);
    }
    group = number[size_t(group)];
  }
  groups.first = std::move(first);
}

NativeResults uniqueResults(NativeTypes inputs, const UniqueParameters& parameters) {
  if (inputs.size() != 1 || !isKnown(inputs[0].dtype) || inputs[0].rank != 1)
    return std::nullopt;
  const NativeType positions{runtime::Int32, 1};
  NativeResults results({inputs[0], positions, positions, positions});
  if (parameters.wantsCounts)
    results->push_back(positions);
  return results;
}

NativeFault runUnique(const NativeCall& call, const UniqueParameters& parameters) {
  const Tensor& data = call.inputs[0];
  Tensor values(data.dtype(), data.shape()), first(runtime::Int32, data.shape());
  Tensor inverse(runtime::Int32, data.shape()), count(runtime::Int32, {1});
  Groups groups{{}, inverse.elements<int32_t>()};
  bool isKnown = visitElementType(data.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::span<const T> elements = data.elements<T>();
    findGroups(elements, groups);
    if (!parameters.isSorted)
      numberByFirst(groups);
    for (size_t group = 0; group < groups.first.size(); ++group)
      values.elements<T>()[group] = elements[groups.first[group]];
  });
  if (!isKnown)
    return {NativeFaultCode::ElementType};
  std::ranges::transform(groups.first, first.elements<int32_t>().begin(),
                         [](size_t place) { return int32_t(place); });
  count.elements<int32_t>()[0] = int32_t(groups.first.size());
  call.outputs = {values, first, inverse, count};
  if (!parameters.wantsCounts)
    return {};
  Tensor& counts = call.outputs.emplace_back(runtime::Int32, data.shape());
  for (int32_t group : groups.ofElement)
    ++counts.elements<int32_t>()[size_t(group)];
  return {};
}

} // namespace

constinit const NativeOf<UniqueParameters> distinctElements =
    native<UniqueParameters, uniqueResults, runUnique>("distinctElements");

} // namespace natives
