// Lines along the axis are sorted one by one.
#include "runtime/natives/sort.h"

#include "runtime/natives/elements.h"
#include "runtime/natives/tensor_data.h"

#include <algorithm>
#include <numeric>

namespace natives {

namespace {

/// A tensor as lines along an axis: element i of a line is `inner` elements after element i - 1.
struct Lines {
  size_t outer = 1, extent = 1, inner = 1;

  size_t count() const { return outer * inner; }
  /// The place of element `i` of line `line` when lines have `length` elements.
  size_t place(size_t line, size_t i, size_t length) const {
    return (line / inner * length + i) * inner + line % inner;
  }
};

/// The lines of a tensor that has elements; of an empty one, none.
Lines linesOf(const Tensor& tensor, size_t along) {
  Lines lines;
  lines.extent = size_t(tensor.shape()[along]);
  if (tensor.size() == 0)
    lines.outer = 0;
  for (size_t i = 0; i < tensor.rank() && tensor.size() > 0; ++i)
    if (i != along)
      (i < along ? lines.outer : lines.inner) *= size_t(tensor.shape()[i]);
  return lines;
}

/// The stable permutation that sorts `keys`.
template <typename W>
std::vector<size_t> sortingOrder(const std::vector<W>& keys, bool ascending) {
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::stable_sort(order, [&](size_t left, size_t right) {
    return ascending ? comesBefore(keys[left], keys[right]) : comesBefore(keys[right], keys[left]);
  });
  return order;
}

/// Calls `visit(line, order)` with the sorting order of each line.
template <typename Visit>
bool visitOrders(const Tensor& tensor, const Lines& lines, bool ascending, Visit&& visit) {
  return visitElementType(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    auto elements = tensor.elements<T>();
    std::vector<Wide<T>> keys(lines.extent);
    for (size_t line = 0; line < lines.count(); ++line) {
      for (size_t i = 0; i < keys.size(); ++i)
        keys[i] = wide(elements[lines.place(line, i, lines.extent)]);
      visit(line, sortingOrder(keys, ascending));
    }
  });
}

/// Writes a position as an element of any type.
void writeIndex(Tensor& tensor, size_t place, size_t index) {
  visitElementType(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    tensor.elements<T>()[place] = T(Wide<T>(index));
  });
}

void copyElement(Tensor& to, size_t toPlace, const Tensor& from, size_t fromPlace) {
  size_t size = from.dtype().bytes();
  std::memcpy(to.bytes() + toPlace * size, from.bytes() + fromPlace * size, size);
}

/// Nothing, or the fault of an element type that was not visited.
NativeFault faultUnless(bool isKnown) {
  return {isKnown ? NativeFaultCode::None : NativeFaultCode::ElementType};
}

/// Whether elements of the type can hold positions.
bool holdsPositions(DType dtype) {
  return isKnown(dtype) && !dtype.isBool();
}

NativeResults sortResults(NativeTypes inputs, const SortParameters& parameters) {
  bool isGood = inputs.size() == 1 && isKnown(inputs[0].dtype) && parameters.axis < inputs[0].rank;
  return isGood ? NativeResults({inputs[0]}) : std::nullopt;
}

NativeFault runSort(const NativeCall& call, const SortParameters& parameters) {
  const Tensor& data = call.inputs[0];
  Tensor& result = call.outputs.emplace_back(data.dtype(), data.shape());
  Lines lines = linesOf(data, parameters.axis);
  return faultUnless(visitOrders(data, lines, parameters.isAscending,
                                 [&](size_t line, const std::vector<size_t>& order) {
                                   for (size_t i = 0; i < order.size(); ++i)
                                     copyElement(result, lines.place(line, i, lines.extent), data,
                                                 lines.place(line, order[i], lines.extent));
                                 }));
}

NativeResults orderResults(NativeTypes inputs, const SortParameters& parameters) {
  if (!sortResults(inputs, parameters) || !holdsPositions(parameters.dtype))
    return std::nullopt;
  return {{{parameters.dtype, inputs[0].rank}}};
}

NativeFault runArgsort(const NativeCall& call, const SortParameters& parameters) {
  const Tensor& data = call.inputs[0];
  Tensor& result = call.outputs.emplace_back(parameters.dtype, data.shape());
  Lines lines = linesOf(data, parameters.axis);
  return faultUnless(visitOrders(
      data, lines, parameters.isAscending, [&](size_t line, const std::vector<size_t>& order) {
        for (size_t i = 0; i < order.size(); ++i)
          writeIndex(result, lines.place(line, i, lines.extent), order[i]);
      }));
}

NativeResults firstResults(NativeTypes inputs, const TopkParameters& parameters) {
  if (inputs.size() != 1 || !isKnown(inputs[0].dtype) || parameters.axis >= inputs[0].rank ||
      !holdsPositions(parameters.dtype))
    return std::nullopt;
  NativeResults results(std::in_place);
  if (parameters.wantsValues)
    results->push_back(inputs[0]);
  if (parameters.wantsIndices)
    results->push_back({parameters.dtype, inputs[0].rank});
  return results;
}

NativeFault topkOf(const NativeCall& call, const TopkParameters& parameters, int64_t k) {
  const Tensor& input = call.inputs[0];
  Lines lines = linesOf(input, parameters.axis);
  if (k > int64_t(lines.extent))
    return {NativeFaultCode::TooFewElements, {k, int64_t(lines.extent), int64_t(parameters.axis)}};
  size_t kept = k < 1 ? lines.extent : size_t(k);
  Shape shape = input.shape();
  shape[parameters.axis] = int64_t(kept);
  Tensor values(input.dtype(), shape), indices(parameters.dtype, shape);
  bool isKnown = visitOrders(
      input, lines, parameters.isAscending, [&](size_t line, const std::vector<size_t>& order) {
        for (size_t i = 0; i < kept; ++i) {
          size_t place = lines.place(line, i, kept);
          copyElement(values, place, input, lines.place(line, order[i], lines.extent));
          writeIndex(indices, place, order[i]);
        }
      });
  if (parameters.wantsValues)
    call.outputs.push_back(values);
  if (parameters.wantsIndices)
    call.outputs.push_back(indices);
  return faultUnless(isKnown);
}

NativeFault runTopk(const NativeCall& call, const TopkParameters& parameters) {
  return topkOf(call, parameters, parameters.k);
}

NativeResults firstByOperandResults(NativeTypes inputs, const TopkParameters& parameters) {
  return inputs.size() == 2 && isKnown(inputs[1].dtype) ? firstResults(inputs.first(1), parameters)
                                                        : std::nullopt;
}

NativeFault runDynTopk(const NativeCall& call, const TopkParameters& parameters) {
  auto k = wholeValues(call.inputs[1]);
  if (!k || k->size() != 1)
    return {NativeFaultCode::NotOneNumber, {1, call.inputs[1].size()}};
  return topkOf(call, parameters, k->front());
}

NativeResults searchResults(NativeTypes inputs, const SearchParameters& parameters) {
  bool isGood = inputs.size() == 2 && isKnown(inputs[0].dtype) &&
                inputs[0].dtype == inputs[1].dtype && inputs[0].rank > 0 &&
                (inputs[0].rank == 1 || inputs[0].rank == inputs[1].rank) &&
                (parameters.dtype == runtime::Int32 || parameters.dtype == runtime::Int64);
  return isGood ? NativeResults({{parameters.dtype, inputs[1].rank}}) : std::nullopt;
}

template <typename T>
void searchSorted(const Tensor& sorted, const Tensor& values, bool right, Tensor& result) {
  size_t length = size_t(sorted.shape().back());
  size_t perLine = sorted.rank() == 1 ? size_t(values.size()) : size_t(values.shape().back());
  auto sequence = sorted.elements<T>();
  auto wanted = values.elements<T>();
  for (size_t i = 0; i < wanted.size(); ++i) {
    auto line = sequence.subspan(i / perLine * length, length);
    auto value = wide(wanted[i]);
    auto at = right ? std::partition_point(line.begin(), line.end(),
                                           [&](T x) { return !comesBefore(value, wide(x)); })
                    : std::partition_point(line.begin(), line.end(),
                                           [&](T x) { return comesBefore(wide(x), value); });
    writeIndex(result, i, size_t(at - line.begin()));
  }
}

NativeFault runSearchSorted(const NativeCall& call, const SearchParameters& parameters) {
  const Tensor &sorted = call.inputs[0], &values = call.inputs[1];
  if (sorted.rank() > 1 && !agree(sorted.shape(), values.shape(), 0, sorted.rank() - 1))
    return {NativeFaultCode::Shapes};
  Tensor& result = call.outputs.emplace_back(parameters.dtype, values.shape());
  if (values.size() == 0)
    return {};
  return faultUnless(visitElementType(sorted.dtype(), [&](auto zero) {
    searchSorted<decltype(zero)>(sorted, values, parameters.isRight, result);
  }));
}

/// The groups of equal elements: their first positions, in the wanted order, and the group of each
/// element.
struct Groups {
  std::vector<size_t> first;
  std::vector<size_t> groupOf;
};

template <typename W>
Groups groupsOf(const std::vector<W>& keys, bool sorted) {
  Groups groups;
  groups.groupOf.resize(keys.size());
  std::vector<size_t> order = sortingOrder(keys, true);
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || comesBefore(keys[order[i - 1]], keys[order[i]]))
      groups.first.push_back(order[i]);
    groups.groupOf[order[i]] = groups.first.size() - 1;
  }
  if (sorted)
    return groups;
  std::vector<size_t> byFirst(groups.first.size()), rank(groups.first.size());
  std::iota(byFirst.begin(), byFirst.end(), size_t(0));
  std::ranges::sort(byFirst, {}, [&](size_t group) { return groups.first[group]; });
  for (size_t i = 0; i < byFirst.size(); ++i)
    rank[byFirst[i]] = i;
  for (size_t& group : groups.groupOf)
    group = rank[group];
  std::ranges::sort(groups.first);
  return groups;
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
  Groups groups;
  bool isKnown = visitElementType(data.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<Wide<T>> keys;
    for (T element : data.elements<T>())
      keys.push_back(wide(element));
    groups = groupsOf(keys, parameters.isSorted);
  });
  Tensor values(data.dtype(), data.shape()), first(runtime::Int32, data.shape());
  Tensor inverse(runtime::Int32, data.shape()), counts(runtime::Int32, data.shape());
  for (size_t group = 0; group < groups.first.size(); ++group) {
    copyElement(values, group, data, groups.first[group]);
    writeIndex(first, group, groups.first[group]);
  }
  for (size_t i = 0; i < groups.groupOf.size(); ++i) {
    writeIndex(inverse, i, groups.groupOf[i]);
    counts.elements<int32_t>()[groups.groupOf[i]]++;
  }
  Tensor count(runtime::Int32, {1});
  writeIndex(count, 0, groups.first.size());
  call.outputs = {values, first, inverse, count};
  if (parameters.wantsCounts)
    call.outputs.push_back(counts);
  return faultUnless(isKnown);
}

} // namespace

constinit const NativeOf<SortParameters> sortLines =
    native<SortParameters, sortResults, runSort>("sortLines");
constinit const NativeOf<SortParameters> orderOfLines =
    native<SortParameters, orderResults, runArgsort>("orderOfLines");
constinit const NativeOf<TopkParameters> firstOfLines =
    native<TopkParameters, firstResults, runTopk>("firstOfLines");
constinit const NativeOf<TopkParameters> firstOfLinesByOperand =
    native<TopkParameters, firstByOperandResults, runDynTopk>("firstOfLinesByOperand");
constinit const NativeOf<SearchParameters> searchLines =
    native<SearchParameters, searchResults, runSearchSorted>("searchLines");
constinit const NativeOf<UniqueParameters> distinctElements =
    native<UniqueParameters, uniqueResults, runUnique>("distinctElements");

} // namespace natives
