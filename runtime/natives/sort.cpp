// Lines along the axis are sorted one by one.
#include "runtime/natives/sort.h"

#include "runtime/natives/order_key.h"
#include "runtime/natives/tensor_data.h"

#include <algorithm>
#include <utility>

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

/// Calls `visit(line, elements, entries)` with the first `kept` elements of each line in sorted
/// order.
template <typename Visit>
bool visitSorted(const Tensor& tensor, const Lines& lines, size_t kept, bool isAscending,
                 Visit&& visit) {
  return visitElementType(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::span<const T> elements = tensor.elements<T>();
    visitEntryType<T>(lines.extent, [&](auto entry) {
      std::vector<decltype(entry)> entries, scratch;
      for (size_t line = 0; line < lines.count(); ++line) {
        auto keyAt = [&](size_t i) {
          return orderKey(elements[lines.place(line, i, lines.extent)], isAscending);
        };
        sortFirst(lines.extent, kept, keyAt, entries, scratch);
        visit(line, elements, std::as_const(entries));
      }
    });
  });
}

/// Writes the elements of sorted entries as a line of a tensor of their type.
template <typename T, typename Entry>
void writeElements(Tensor& to, size_t line, const Lines& lines, std::span<const T> elements,
                   const std::vector<Entry>& entries) {
  auto results = to.elements<T>();
  for (size_t i = 0; i < entries.size(); ++i)
    results[lines.place(line, i, entries.size())] =
        elements[lines.place(line, size_t(entries[i].place), lines.extent)];
}

/// Writes the places of sorted entries as a line of a tensor of any type.
template <typename Entry>
void writePlaces(Tensor& to, size_t line, const Lines& lines, const std::vector<Entry>& entries) {
  visitElementType(to.dtype(), [&](auto zero) {
    using T = decltype(zero);
    auto results = to.elements<T>();
    for (size_t i = 0; i < entries.size(); ++i)
      results[lines.place(line, i, entries.size())] = T(Wide<T>(entries[i].place));
  });
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
  return faultUnless(visitSorted(data, lines, lines.extent, parameters.isAscending,
                                 [&](size_t line, auto elements, const auto& entries) {
                                   writeElements(result, line, lines, elements, entries);
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
  return faultUnless(visitSorted(
      data, lines, lines.extent, parameters.isAscending,
      [&](size_t line, auto, const auto& entries) { writePlaces(result, line, lines, entries); }));
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
  Tensor values, indices;
  if (parameters.wantsValues)
    values = Tensor(input.dtype(), shape);
  if (parameters.wantsIndices)
    indices = Tensor(parameters.dtype, shape);
  bool isKnown = visitSorted(input, lines, kept, parameters.isAscending,
                             [&](size_t line, auto elements, const auto& entries) {
                               if (parameters.wantsValues)
                                 writeElements(values, line, lines, elements, entries);
                               if (parameters.wantsIndices)
                                 writePlaces(indices, line, lines, entries);
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

template <typename T, typename P>
void searchSorted(const Tensor& sorted, const Tensor& values, bool right, Tensor& result) {
  size_t length = size_t(sorted.shape().back());
  size_t perLine = sorted.rank() == 1 ? size_t(values.size()) : size_t(values.shape().back());
  auto sequence = sorted.elements<T>();
  auto wanted = values.elements<T>();
  auto positions = result.elements<P>();
  for (size_t i = 0; i < wanted.size(); ++i) {
    auto line = sequence.subspan(i / perLine * length, length);
    auto value = wide(wanted[i]);
    auto at = right ? std::partition_point(line.begin(), line.end(),
                                           [&](T x) { return !comesBefore(value, wide(x)); })
                    : std::partition_point(line.begin(), line.end(),
                                           [&](T x) { return comesBefore(wide(x), value); });
    positions[i] = P(at - line.begin());
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
    using T = decltype(zero);
    parameters.dtype == runtime::Int32
        ? searchSorted<T, int32_t>(sorted, values, parameters.isRight, result)
        : searchSorted<T, int64_t>(sorted, values, parameters.isRight, result);
  }));
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

} // namespace natives
