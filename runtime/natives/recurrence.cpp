// Added up in float64; each element is rounded once.
#include "runtime/natives/recurrence.h"

#include "runtime/natives/elements.h"
#include "runtime/natives/tensor_data.h"

namespace natives {

namespace {

NativeResults recurrenceResults(NativeTypes inputs, const RecurrenceParameters& parameters) {
  bool isGood = inputs.size() == 2 && inputs[0].dtype.isFloat() && isKnown(inputs[0].dtype) &&
                inputs[1].dtype == inputs[0].dtype && inputs[1].rank == inputs[0].rank &&
                parameters.axis < inputs[0].rank;
  return isGood ? NativeResults({inputs[0]}) : std::nullopt;
}

/// Lines along the axis one after the other; the elements of one are `inner` apart.
NativeFault runRecurrence(const NativeCall& call, const RecurrenceParameters& parameters) {
  const Tensor &factors = call.inputs[0], &terms = call.inputs[1];
  const Shape& shape = terms.shape();
  if (factors.shape() != shape)
    return {NativeFaultCode::Shapes};
  Tensor& result = call.outputs.emplace_back(terms.dtype(), shape);
  if (result.size() == 0)
    return {};
  int64_t length = shape[parameters.axis], inner = 1;
  for (size_t i = parameters.axis + 1; i < shape.size(); ++i)
    inner *= shape[i];
  visitElementType(terms.dtype(), [&](auto zero) {
    using T = decltype(zero);
    auto factor = factors.elements<T>(), term = terms.elements<T>();
    auto value = result.elements<T>();
    for (int64_t line = 0; line < result.size() / length; ++line) {
      int64_t start = line / inner * inner * length + line % inner;
      double before = 0;
      for (int64_t i = 0; i < length; ++i) {
        auto at = [&](int64_t k) {
          return size_t(start + (parameters.isReverse ? length - 1 - k : k) * inner);
        };
        double share =
            i == 0 ? 0 : double(wide(factor[at(parameters.isReverse ? i - 1 : i)])) * before;
        before = double(wide(term[at(i)])) + share;
        writeSum(value[at(i)], before);
      }
    }
  });
  return {};
}

} // namespace

constinit const NativeOf<RecurrenceParameters> linearRecurrence =
    native<RecurrenceParameters, recurrenceResults, runRecurrence>("linearRecurrence");

} // namespace natives
