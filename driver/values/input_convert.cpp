// Element by element; a finite float that would become infinite does not fit either.
#include "driver/values/input_convert.h"

#include "runtime/element.h"

#include <fmt/format.h>

namespace driver {

using runtime::DType;
using runtime::Error;
using runtime::Result;
using runtime::Tensor;

namespace {

Error misfit(const std::string& element, DType to, runtime::Notation notation) {
  return Error{fmt::format("it holds {}, which does not fit `{}`", element,
                           runtime::spelled(to).in(notation))};
}

std::string wholeText(DType dtype, int64_t whole) {
  return dtype.isSigned() ? std::to_string(whole) : std::to_string(uint64_t(whole));
}

} // namespace

bool isConvertible(DType from, DType to) {
  bool isSameKind = (from.isFloat() && to.isFloat()) || (from.isInteger() && to.isInteger());
  return isSameKind && from.isComputable() && to.isComputable();
}

Result<Tensor> convertedTensor(const Tensor& tensor, DType to, runtime::Notation notation) {
  DType from = tensor.dtype();
  Tensor result(to, tensor.shape());
  const std::byte* source = tensor.bytes();
  std::byte* target = result.bytes();
  for (int64_t i = 0; i < tensor.size(); ++i, source += from.bytes(), target += to.bytes()) {
    if (from.isFloat()) {
      double value = runtime::readFloat(from, source), rounded = runtime::rounded(to, value);
      if (std::isinf(rounded) && !std::isinf(value))
        return misfit(fmt::format("{}", value), to, notation);
      runtime::writeFloat(to, target, rounded);
      continue;
    }
    int64_t whole = runtime::readWhole(from, source), wrapped = runtime::wrap(to, uint64_t(whole));
    if (runtime::wideOf(to, wrapped) != runtime::wideOf(from, whole))
      return misfit(wholeText(from, whole), to, notation);
    runtime::writeWhole(to, target, wrapped);
  }
  return result;
}

} // namespace driver
