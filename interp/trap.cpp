// Looking for NaN and infinity in values.
#include "interp/trap.h"

#include "runtime/element.h"
#include "lang/leaves.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace interp {

using runtime::DType;

namespace {

std::string placeText(const runtime::Shape& shape, int64_t flat) {
  std::vector<int64_t> place(shape.size());
  for (size_t i = shape.size(); i-- > 0; flat /= shape[i])
    place[i] = flat % shape[i];
  return place.empty() ? "" : fmt::format(" at ({})", fmt::join(place, ", "));
}

} // namespace

std::optional<std::string> firstNonFinite(const runtime::Value& value) {
  std::vector<runtime::Value> leaves;
  lang::appendTensors(value, leaves);
  for (const runtime::Value& leaf : leaves) {
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

} // namespace interp
