// Affine forms and ranges, with overflow-checked arithmetic.
#include "lower/plan_affine.h"

#include "runtime/scalar_meaning.h"

#include <algorithm>

namespace lower {

namespace {

int64_t floorQuotient(int64_t a, int64_t b) {
  return runtime::applied<tensor::ScalarFunction::FloorDivide>(a, b);
}

int64_t floorRest(int64_t a, int64_t b) {
  return runtime::applied<tensor::ScalarFunction::FloorMod>(a, b);
}

bool multiplyAdd(int64_t& sum, int64_t a, int64_t b) {
  int64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}

/// Splits a form into divisor * quotient + rest, term by term.
void splitAffine(const Affine& a, int64_t divisor, Affine& quotient, Affine& rest) {
  quotient.constant = floorQuotient(a.constant, divisor);
  rest.constant = floorRest(a.constant, divisor);
  for (const AffineTerm& term : a.terms) {
    bool whole = term.coefficient % divisor == 0;
    Affine& part = whole ? quotient : rest;
    part.terms.push_back({term.axis, whole ? term.coefficient / divisor : term.coefficient});
  }
}

Range product(Range a, Range b) {
  Range result{INT64_MAX, INT64_MIN};
  for (int64_t x : {a.low, a.high})
    for (int64_t y : {b.low, b.high}) {
      int64_t value = 0;
      if (__builtin_mul_overflow(x, y, &value))
        return {};
      result = {std::min(result.low, value), std::max(result.high, value)};
    }
  return result;
}

} // namespace

std::optional<Affine> addAffine(const Affine& a, const Affine& b, int64_t factor) {
  Affine sum;
  sum.constant = a.constant;
  if (!multiplyAdd(sum.constant, b.constant, factor))
    return std::nullopt;
  auto left = a.terms.begin(), right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    AffineTerm term{0, 0};
    bool fromLeft = left != a.terms.end() && (right == b.terms.end() || left->axis <= right->axis);
    bool fromRight = right != b.terms.end() && (left == a.terms.end() || right->axis <= left->axis);
    if (fromLeft)
      term = *left++;
    if (fromRight) {
      term.axis = right->axis;
      if (!multiplyAdd(term.coefficient, (right++)->coefficient, factor))
        return std::nullopt;
    }
    if (term.coefficient != 0)
      sum.terms.push_back(term);
  }
  return sum;
}

std::optional<Affine> scaleAffine(const Affine& a, int64_t factor) {
  return addAffine(Affine{}, a, factor);
}

std::optional<Affine> divideAffine(const Affine& a, int64_t divisor,
                                   std::span<const int64_t> extents) {
  Affine quotient, rest;
  splitAffine(a, divisor, quotient, rest);
  bool exact = fits(rangeOf(a, extents)) && within(rangeOf(rest, extents), 0, divisor - 1);
  return exact ? std::optional(quotient) : std::nullopt;
}

std::optional<Affine> modAffine(const Affine& a, int64_t divisor,
                                std::span<const int64_t> extents) {
  Affine quotient, rest;
  splitAffine(a, divisor, quotient, rest);
  bool exact = fits(rangeOf(a, extents)) && within(rangeOf(rest, extents), 0, divisor - 1);
  return exact ? std::optional(rest) : std::nullopt;
}

Range rangeOf(const Affine& a, std::span<const int64_t> extents) {
  Range range{a.constant, a.constant};
  for (const AffineTerm& term : a.terms) {
    int64_t& end = term.coefficient < 0 ? range.low : range.high;
    if (!multiplyAdd(end, term.coefficient, extents[term.axis] - 1))
      return {};
  }
  return range;
}

AxisSet axesOf(const Affine& a) {
  AxisSet axes;
  for (const AffineTerm& term : a.terms)
    axes.set(term.axis);
  return axes;
}

Range rangeOf(ScalarFunction function, Range a, Range b) {
  using enum ScalarFunction;
  Range result;
  switch (function) {
  case Add:
    if (__builtin_add_overflow(a.low, b.low, &result.low) ||
        __builtin_add_overflow(a.high, b.high, &result.high))
      return {};
    return result;
  case Subtract:
    if (__builtin_sub_overflow(a.low, b.high, &result.low) ||
        __builtin_sub_overflow(a.high, b.low, &result.high))
      return {};
    return result;
  case Multiply:
    return product(a, b);
  case Maximum:
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
  case Minimum:
    return {std::min(a.low, b.low), std::min(a.high, b.high)};
  case Divide:
  case TruncDivide:
    if (a.low < 0)
      return {};
    [[fallthrough]];
  case FloorDivide:
    return b.low > 0 && b.low == b.high
               ? Range{floorQuotient(a.low, b.low), floorQuotient(a.high, b.low)}
               : Range{};
  case FloorMod:
    return b.low > 0 ? Range{0, b.high - 1} : Range{};
  case TruncMod:
    return b.low > 0 && a.low >= 0 ? Range{0, b.high - 1} : Range{};
  default:
    return {};
  }
}

std::optional<bool> decideComparison(ScalarFunction function, Range a, Range b) {
  using enum ScalarFunction;
  switch (function) {
  case Less:
  case GreaterEqual:
    if (a.high < b.low || a.low >= b.high)
      return (a.high < b.low) == (function == Less);
    return std::nullopt;
  case Greater:
  case LessEqual:
    if (a.low > b.high || a.high <= b.low)
      return (a.low > b.high) == (function == Greater);
    return std::nullopt;
  case Equal:
  case NotEqual:
    if (a.high < b.low || b.high < a.low)
      return function == NotEqual;
    if (a.low == a.high && b.low == b.high && a.low == b.low)
      return function == Equal;
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

} // namespace lower
