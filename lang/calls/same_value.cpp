// Values can be long lists, so the comparison keeps a stack of its own.
#include "lang/calls/same_value.h"

#include "runtime/element.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lang {

using runtime::Value;
using runtime::ValueKind;

namespace {

int fractionBits(runtime::DType dtype) {
  return dtype.code == runtime::DTypeCode::BFloat ? 7
         : dtype.bits == 16                       ? 10
         : dtype.bits == 32                       ? 23
                                                  : 52;
}

/// The bits of a float without the sign, and above which of them it is NaN.
struct Magnitude {
  uint64_t bits = 0;
  uint64_t infinity = 0;

  Magnitude(const std::byte* element, runtime::DType dtype) {
    std::memcpy(&bits, element, dtype.bytes());
    bits &= (uint64_t(1) << (dtype.bits - 1)) - 1;
    int fraction = fractionBits(dtype);
    infinity = ((uint64_t(1) << (dtype.bits - 1)) - 1) >> fraction << fraction;
  }
  bool isNan() const { return bits > infinity; }
};

/// How much values may differ.
enum class Sameness : uint8_t { Bits, Numbers, Roundings };

constexpr double mostRoundings = 1024, roughest = 1.0 / 32;

/// The largest finite magnitude of a tensor of floats.
double largest(const runtime::Tensor& tensor) {
  double found = 0;
  for (size_t i = 0; i < size_t(tensor.size()); ++i) {
    double number =
        std::abs(runtime::readFloat(tensor.dtype(), tensor.bytes() + i * tensor.dtype().bytes()));
    if (std::isfinite(number))
      found = std::max(found, number);
  }
  return found;
}

bool nearElements(const runtime::Tensor& a, const runtime::Tensor& b) {
  const runtime::DType dtype = a.dtype();
  const double epsilon = std::ldexp(1.0, -fractionBits(dtype));
  const double room =
      std::min(mostRoundings * epsilon, roughest) * std::max(largest(a), largest(b));
  for (size_t i = 0; i < size_t(a.size()); ++i) {
    double left = runtime::readFloat(dtype, a.bytes() + i * dtype.bytes());
    double right = runtime::readFloat(dtype, b.bytes() + i * dtype.bytes());
    bool areSame = left == right || (std::isnan(left) && std::isnan(right));
    if (!areSame && !(std::abs(left - right) <= room))
      return false;
  }
  return true;
}

bool sameElements(const runtime::Tensor& a, const runtime::Tensor& b, Sameness sameness) {
  size_t width = a.dtype().bytes();
  if (std::memcmp(a.bytes(), b.bytes(), size_t(a.size()) * width) == 0)
    return true;
  for (size_t at = 0; at < size_t(a.size()) * width; at += width) {
    if (std::memcmp(a.bytes() + at, b.bytes() + at, width) == 0)
      continue;
    if (sameness == Sameness::Bits || !a.dtype().isFloat())
      return false;
    if (sameness == Sameness::Roundings)
      return nearElements(a, b);
    Magnitude left(a.bytes() + at, a.dtype()), right(b.bytes() + at, b.dtype());
    bool areZeros = left.bits == 0 && right.bits == 0;
    if (!areZeros && !(left.isNan() && right.isNan()))
      return false;
  }
  return true;
}

bool isFunction(const Value& value) {
  return value.kind() == ValueKind::Closure || value.kind() == ValueKind::Maker ||
         value.kind() == ValueKind::Operator;
}

/// Functions are alike, as a pass may write what one does into another.
bool sameHead(const Value& left, const Value& right, Sameness sameness) {
  if (isFunction(left) && isFunction(right))
    return true;
  if (left.kind() != right.kind())
    return false;
  if (left.kind() == ValueKind::Constructor)
    return left.symbol().name == right.symbol().name;
  if (left.kind() != ValueKind::Tensor)
    return true;
  const runtime::Tensor &a = left.tensor(), &b = right.tensor();
  return a.dtype() == b.dtype() && a.shape() == b.shape() && sameElements(a, b, sameness);
}

bool same(const Value& left, const Value& right, Sameness sameness) {
  // Parts that many hold are compared for each, which may be without end.
  constexpr size_t mostParts = 10'000'000;
  std::vector<std::pair<Value, Value>> stack{{left, right}};
  for (size_t count = 0; !stack.empty() && count < mostParts; ++count) {
    auto [a, b] = std::move(stack.back());
    stack.pop_back();
    if (!sameHead(a, b, sameness))
      return false;
    if (a.kind() == ValueKind::Reference)
      stack.emplace_back(a.content(), b.content());
    if (a.kind() != ValueKind::Tuple && a.kind() != ValueKind::Constructor)
      continue;
    if (a.fields().size() != b.fields().size())
      return false;
    for (size_t i = 0; i < a.fields().size(); ++i)
      stack.emplace_back(a.fields()[i], b.fields()[i]);
  }
  return true;
}

} // namespace

bool sameValue(const Value& left, const Value& right) {
  return same(left, right, Sameness::Bits);
}

bool sameNumbers(const Value& left, const Value& right) {
  return same(left, right, Sameness::Numbers);
}

bool nearNumbers(const Value& left, const Value& right) {
  return same(left, right, Sameness::Roundings);
}

} // namespace lang
