// Conversion between tensors of the program and arrays of reals.
#include "lower/array.h"

#include <cstdio>

#include "lower/kernels.h"
#include "lower/real.h"

namespace lower {

const runtime::Tensor& Array::emptyTensor() {
  static const runtime::Tensor tensor;
  return tensor;
}

Array::Array(runtime::DType dtype, runtime::Shape shape, std::shared_ptr<const std::byte[]> reals)
    : reals_(std::move(reals)), realDType_(dtype), realShape_(std::move(shape)),
      realCount_(runtime::elementCount(realShape_).value_or(0)) {}

Array Array::fromTensor(runtime::Tensor tensor, Precision precision) {
  if (precision.digits == 0 || !tensor.dtype().isFloat() || !tensor.dtype().isComputable())
    return tensor;
  RealDigits digits(precision.digits);
  auto reals = makeElements(Element::Real, size_t(tensor.size()));
  const std::byte* from = tensor.bytes();
  castKernel(elementOf(tensor.dtype(), false), Element::Real)(reals.get(), &from,
                                                              size_t(tensor.size()));
  return {tensor.dtype(), tensor.shape(), std::move(reals)};
}

runtime::Tensor Array::toTensor() const {
  if (!reals_)
    return tensor_;
  runtime::Tensor tensor(realDType_, realShape_);
  const std::byte* from = reals_.get();
  castKernel(Element::Real, elementOf(realDType_, false))(tensor.bytes(), &from,
                                                          size_t(realCount_));
  return tensor;
}

std::string Array::realText(int64_t flat) const {
  const Real& value = reinterpret_cast<const Real*>(reals_.get())[flat];
  char* text = nullptr;
  int length = mpfr_asprintf(&text, "%.*Rg", int(value.precision()), value.backend().data());
  std::string result(text, size_t(std::max(length, 0)));
  mpfr_free_str(text);
  return result;
}

Array Array::reshaped(runtime::Shape shape) const {
  Array result = *this;
  if (reals_)
    result.realShape_ = std::move(shape);
  else
    result.tensor_ = tensor_.reshaped(std::move(shape));
  return result;
}

} // namespace lower
