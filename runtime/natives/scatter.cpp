// Nothing is written before all positions were looked at.
#include "runtime/natives/scatter.h"

#include "runtime/natives/elements.h"
#include "runtime/natives/tensor_data.h"
#include "runtime/scalar_meaning.h"

#include <algorithm>
#include <numeric>

namespace natives {

namespace {

using runtime::ScalarFunction;

/// Integers wrap; the extremes of floats are NaN when either side is.
template <typename W>
W joinWide(Joining joining, W old, W update) {
  constexpr bool isInteger = std::is_integral_v<W>;
  switch (joining) {
  case Joining::Update:
    return update;
  case Joining::Add:
  case Joining::Mean: {
    W sum = isInteger ? W(uint64_t(old) + uint64_t(update)) : W(old + update);
    return joining == Joining::Mean ? W(sum / 2) : sum;
  }
  case Joining::Mul:
    return isInteger ? W(uint64_t(old) * uint64_t(update)) : W(old * update);
  case Joining::Min:
    return runtime::applied<ScalarFunction::Minimum>(old, update);
  case Joining::Max:
    return runtime::applied<ScalarFunction::Maximum>(old, update);
  }
  return old;
}

template <typename T>
T join(Joining joining, T old, T update) {
  return T(joinWide(joining, wide(old), wide(update)));
}

/// Row-major distances between neighbours along each dimension; meaningless, but defined, for empty
/// shapes whose other extents overflow.
std::vector<int64_t> stridesOf(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = int64_t(uint64_t(strides[i]) * uint64_t(shape[i]));
  return strides;
}

/// Moves `at` to the next position of `shape` in row-major order.
void advance(std::vector<int64_t>& at, const Shape& shape) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++at[i] < shape[i])
      return;
    at[i] = 0;
  }
}

/// An index made non-negative, or nothing when it lies outside.
std::optional<int64_t> placeOf(int64_t index, int64_t extent) {
  int64_t place = index < 0 ? index + extent : index;
  if (place < 0 || place >= extent)
    return std::nullopt;
  return place;
}

/// The elements at the positions of `shape`, which lies within that of the tensor.
Tensor cornerOf(const Tensor& tensor, const Shape& shape) {
  if (tensor.shape() == shape)
    return tensor;
  Tensor corner(tensor.dtype(), shape);
  std::vector<int64_t> strides = stridesOf(tensor.shape()), at(shape.size());
  for (int64_t i = 0; i < corner.size(); ++i) {
    int64_t flat = std::inner_product(at.begin(), at.end(), strides.begin(), int64_t(0));
    copyElements(tensor, flat, corner, i, 1);
    advance(at, shape);
  }
  return corner;
}

/// Joins runs of `run` updates into `to`: update run k goes to the elements from `places[k]` on.
NativeFault joinAt(Tensor& to, const Tensor& updates, std::span<const int64_t> places, size_t run,
                   Joining joining) {
  bool isBool = to.dtype().isBool();
  bool known = visitElementType(to.dtype(), [&](auto zero) {
    using T = decltype(zero);
    auto target = to.elements<T>();
    auto source = updates.elements<T>();
    for (size_t k = 0; k < places.size(); ++k)
      for (size_t i = 0; i < run; ++i) {
        T& element = target[size_t(places[k]) + i];
        element = join(joining, element, source[k * run + i]);
        if (isBool)
          element = wide(element) != Wide<T>(0) ? T(1) : T(0);
      }
  });
  return {known ? NativeFaultCode::None : NativeFaultCode::ElementType};
}

/// Of data, indices and updates, whatever their ranks.
NativeResults scatterResults(NativeTypes inputs, const ScatterParameters& parameters) {
  bool isGood = inputs.size() == 3 && isKnown(inputs[0].dtype) && inputs[1].dtype.isInteger() &&
                isKnown(inputs[1].dtype) && inputs[2].dtype == inputs[0].dtype &&
                parameters.joining <= Joining::Max;
  return isGood ? NativeResults({inputs[0]}) : std::nullopt;
}

NativeResults elementsResults(NativeTypes inputs, const ScatterParameters& parameters) {
  auto results = scatterResults(inputs, parameters);
  bool isGood = results && inputs[1].rank == inputs[0].rank && inputs[2].rank == inputs[0].rank &&
                parameters.axis < inputs[0].rank;
  return isGood ? results : std::nullopt;
}

/// Whether indices and updates lie within the shapes that they are for.
bool elementsFit(const NativeCall& call, size_t axis) {
  const Shape &data = call.inputs[0].shape(), &indices = call.inputs[1].shape();
  const Shape& updates = call.inputs[2].shape();
  for (size_t i = 0; i < data.size(); ++i)
    if ((i != axis && indices[i] > data[i]) || indices[i] > updates[i])
      return false;
  return true;
}

NativeFault runElements(const NativeCall& call, const ScatterParameters& parameters) {
  if (!elementsFit(call, parameters.axis))
    return {NativeFaultCode::Shapes};
  Tensor& data = call.inputs[0];
  const Tensor& indices = call.inputs[1];
  Tensor updates = cornerOf(call.inputs[2], indices.shape());
  size_t axis = parameters.axis;
  auto index = integerValues(indices);
  if (!index)
    return {NativeFaultCode::IndexTooLarge};
  std::vector<int64_t> strides = stridesOf(data.shape()), at(data.rank()), places;
  for (int64_t wanted : *index) {
    auto place = placeOf(wanted, data.shape()[axis]);
    if (!place)
      return {NativeFaultCode::IndexOutside, {wanted, data.shape()[axis]}};
    int64_t flat = std::inner_product(at.begin(), at.end(), strides.begin(), int64_t(0));
    places.push_back(flat + (*place - at[axis]) * strides[axis]);
    advance(at, indices.shape());
  }
  Tensor& result = call.outputs.emplace_back(ownElements(data));
  return joinAt(result, updates, places, 1, parameters.joining);
}

NativeResults slicesResults(NativeTypes inputs, const ScatterParameters& parameters) {
  auto results = scatterResults(inputs, parameters);
  bool isGood = results && inputs[1].rank > 0 && parameters.joining != Joining::Mean;
  return isGood ? results : std::nullopt;
}

/// Whether the updates are as many slices as there are indices.
bool slicesFit(const NativeCall& call) {
  const Shape &data = call.inputs[0].shape(), &indices = call.inputs[1].shape();
  if (indices[0] > int64_t(data.size()))
    return false;
  Shape wanted(indices.begin() + 1, indices.end());
  wanted.insert(wanted.end(), data.begin() + indices[0], data.end());
  return call.inputs[2].shape() == wanted;
}

NativeFault runSlices(const NativeCall& call, const ScatterParameters& parameters) {
  if (!slicesFit(call))
    return {NativeFaultCode::Shapes};
  const Tensor &data = call.inputs[0], &indices = call.inputs[1], &updates = call.inputs[2];
  auto index = integerValues(indices);
  if (!index)
    return {NativeFaultCode::IndexTooLarge};
  if (updates.size() == 0) {
    call.outputs.push_back(data);
    return {};
  }
  size_t depth = size_t(indices.shape()[0]);
  size_t count = size_t(*runtime::elementCount(std::span(indices.shape()).subspan(1)));
  std::vector<int64_t> strides = stridesOf(data.shape()), places(count, 0);
  for (size_t m = 0; m < depth; ++m)
    for (size_t k = 0; k < places.size(); ++k) {
      int64_t wanted = (*index)[m * places.size() + k];
      auto place = placeOf(wanted, data.shape()[m]);
      if (!place)
        return {NativeFaultCode::IndexOutside, {wanted, data.shape()[m]}};
      places[k] += *place * strides[m];
    }
  Tensor& result = call.outputs.emplace_back(ownElements(call.inputs[0]));
  return joinAt(result, updates, places, size_t(updates.size()) / count, parameters.joining);
}

} // namespace

constinit const NativeOf<ScatterParameters> scatterElements =
    native<ScatterParameters, elementsResults, runElements>("scatterElements");
constinit const NativeOf<ScatterParameters> scatterSlices =
    native<ScatterParameters, slicesResults, runSlices>("scatterSlices");

} // namespace natives
