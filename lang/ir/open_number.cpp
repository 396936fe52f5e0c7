// Floats are rounded; integers must fit.
#include "lang/ir/open_number.h"

#include "lang/ir/builder.h"
#include "runtime/scalar.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace lang {

double OpenElement::real() const {
  return kind == OpenNumber::Real ? std::bit_cast<double>(bits) : double(int64_t(bits));
}

std::string OpenElement::text() const {
  return kind == OpenNumber::Real ? fmt::format("{}", real()) : fmt::format("{}", int64_t(bits));
}

std::optional<uint64_t> bitsIn(const OpenElement& element, runtime::DType dtype) {
  if (dtype.isFloat()) {
    bool isIn = std::isinf(element.real()) || !std::isinf(runtime::rounded(dtype, element.real()));
    return isIn ? std::optional(scalarBits(dtype, element.real())) : std::nullopt;
  }
  auto value = int64_t(element.bits);
  int valueBits = dtype.bits - (dtype.isSigned() ? 1 : 0);
  int64_t most = valueBits < 63 ? (int64_t(1) << valueBits) - 1 : INT64_MAX;
  int64_t least = dtype.isSigned() ? -most - 1 : 0;
  if (value < least || value > most)
    return std::nullopt;
  return element.bits & (~uint64_t(0) >> (64 - dtype.bits));
}

std::optional<runtime::Tensor> tensorIn(const Constant& constant, runtime::DType dtype) {
  const runtime::Tensor* from = constant.tensor;
  runtime::Tensor made(dtype, from ? runtime::Shape(from->shape().begin(), from->shape().end())
                                   : runtime::Shape());
  for (int64_t i = 0; i < made.size(); ++i) {
    OpenElement element{constant.open, constant.bits};
    if (from)
      std::memcpy(&element.bits, from->bytes() + size_t(i) * sizeof(uint64_t), sizeof(uint64_t));
    auto bits = bitsIn(element, dtype);
    if (!bits)
      return std::nullopt;
    std::memcpy(made.bytes() + size_t(i) * dtype.bytes(), &*bits, dtype.bytes());
  }
  return made;
}

} // namespace lang
