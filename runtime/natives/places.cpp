// One function after the other.
#include "runtime/natives/places.h"

namespace natives {

namespace {

NativeResults permutationResults(NativeTypes inputs, const NoParameters&) {
  bool isGood = inputs.size() == 1 && inputs[0].dtype.isInteger() && isKnown(inputs[0].dtype);
  return isGood ? NativeResults({inputs[0]}) : std::nullopt;
}

NativeFault runInvert(const NativeCall& call, const NoParameters&) {
  const Tensor& data = call.inputs[0];
  Tensor& result = call.outputs.emplace_back(data.dtype(), data.shape());
  std::vector<bool> seen(size_t(data.size()));
  NativeFault fault;
  visitElementType(data.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      auto from = data.elements<T>();
      auto to = result.elements<T>();
      for (size_t i = 0; i < from.size() && !fault; ++i) {
        uint64_t place = uint64_t(from[i]);
        if (place >= seen.size() || seen[place]) {
          fault = {NativeFaultCode::NoPermutation,
                   {int64_t(seen.size()) - 1, int64_t(from[i]), int64_t(i)}};
          return;
        }
        to[place] = T(i);
        seen[place] = true;
      }
    }
  });
  return fault;
}

NativeResults placesResults(NativeTypes inputs, const NoParameters&) {
  bool isGood = inputs.size() == 1 && isKnown(inputs[0].dtype);
  return isGood ? NativeResults({{runtime::Int32, 2}}) : std::nullopt;
}

NativeFault runPlaces(const NativeCall& call, const NoParameters&) {
  const Tensor& condition = call.inputs[0];
  std::vector<int64_t> places;
  if (!visitNonZero(condition, [&](int64_t place) { places.push_back(place); }))
    return {NativeFaultCode::ElementType};
  size_t rank = condition.rank();
  Tensor& result =
      call.outputs.emplace_back(runtime::Int32, Shape{int64_t(places.size()), int64_t(rank)});
  auto rows = result.elements<int32_t>();
  for (size_t row = 0; row < places.size(); ++row)
    for (size_t i = rank, rest = size_t(places[row]); i-- > 0;) {
      size_t extent = size_t(condition.shape()[i]);
      rows[row * rank + i] = int32_t(rest % extent);
      rest /= extent;
    }
  return {};
}

} // namespace

constinit const NativeOf<NoParameters> invertPermutation =
    native<NoParameters, permutationResults, runInvert>("invertPermutation");
constinit const NativeOf<NoParameters> nonZeroPlaces =
    native<NoParameters, placesResults, runPlaces>("nonZeroPlaces");

} // namespace natives
