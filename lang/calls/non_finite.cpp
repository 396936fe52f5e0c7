// Looking for NaN and infinity in values.
#include "lang/calls/non_finite.h"

#include "lang/op/leaves.h"
#include "runtime/element.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lang {

using runtime::DType;
using runtime::Value;

namespace {

std::string placeText(const runtime::Shape& shape, int64_t flat) {
  std::vector<int64_t> place(shape.size());
  for (size_t i = shape.size(); i-- > 0; flat /= shape[i])
    place[i] = flat % shape[i];
  return place.empty() ? "" : fmt::format(" at ({})", fmt::join(place, ", "));
}

} // namespace

std::optional<std::string> firstNonFinite(const Value& value) {
  std::vector<Value> leaves;
  appendTensors(value, leaves);
  for (const Value& leaf : leaves) {
    const runtime::Tensor& tensor = leaf.tensor();
    if (!tensor.dtype().isFloat())
      continue;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      double number =
          readFloat(tensor.dtype(), tensor.bytes() + size_t(i) * tensor.dtype().bytes());
      if (!std::isfinite(number))
        return fmt::format("{}{}", std::isnan(number) ? "NaN" : "infinity",
                           placeText(tensor.shape(), i));
    }
  }
  return std::nullopt;
}

std::optional<runtime::Fault> nonFiniteFault(std::string_view op, std::span<const Value> operands,
                                             const Value& result) {
  auto found = firstNonFinite(result);
  bool isNew = found && std::ranges::none_of(operands, [](const Value& operand) {
                 return firstNonFinite(operand).has_value();
               });
  if (!isNew)
    return std::nullopt;
  return runtime::Fault{runtime::FaultKind::Data,
                        fmt::format("`{}` gives {}, and all its operands are finite", op, *found)};
}

} // namespace lang
