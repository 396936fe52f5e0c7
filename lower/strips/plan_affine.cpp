// Affine forms and ranges, with overflow-checked arithmetic.
#include "lower/strips/plan_affine.h"

namespace lower {

namespace {

bool isEnd(Size size) {
  return size.isConstant() && (size.number == INT64_MIN || size.number == INT64_MAX);
}

/// Whether both ends are numbers that can be computed with.
bool isBounded(const Range& range) {
  return !isEnd(range.low) && !isEnd(range.high);
}

Size larger(Sizes& sizes, Size a, Size b) {
  return sizes.isAtLeast(a, b) ? a : b;
}
Size smaller(Sizes& sizes, Size a, Size b) {
  return sizes.isAtLeast(a, b) ? b : a;
}

Range rangeOrFull(std::optional<Size> low, std::optional<Size> high) {
  return low && high ? Range{*low, *high} : Range{};
}

/// Of a range by one that has no negative values.
Range product(Sizes& sizes, const Range& a, const Range& b) {
  auto times = [&](Size end, bool isOutward) {
    return sizes.product(end, isOutward ? b.high : b.low);
  };
  return rangeOrFull(times(a.low, !sizes.isKnownAtLeast(a.low, 0)),
                     times(a.high, sizes.isKnownAtLeast(a.high, 0)));
}

/// Whether the sign of an end is known.
bool hasSign(Sizes& sizes, Size end) {
  return sizes.isKnownAtLeast(end, 0) || sizes.isKnownAtLeast(0, end);
}

Range productOf(Sizes& sizes, const Range& a, const Range& b) {
  if (!isBounded(a) || !isBounded(b))
    return {};
  if (sizes.isKnownAtLeast(b.low, 0) && hasSign(sizes, a.low) && hasSign(sizes, a.high))
    return product(sizes, a, b);
  if (sizes.isKnownAtLeast(a.low, 0) && hasSign(sizes, b.low) && hasSign(sizes, b.high))
    return product(sizes, b, a);
  return {};
}

Range quotientOf(Sizes& sizes, const Range& a, const Range& b) {
  if (!isPoint(b) || !sizes.isAtLeast(b.low, 1))
    return {};
  auto quotient = [&](Size end) { return isEnd(end) ? end : sizes.quotient(end, b.low); };
  return {quotient(a.low), quotient(a.high)};
}

Range restOf(Sizes& sizes, const Range& b) {
  if (!isBounded(b) || !sizes.isAtLeast(b.low, 1))
    return {};
  return rangeOrFull(0, sizes.sum(b.high, -1));
}

} // namespace

bool multiplyAdd(Sizes& sizes, Size& sum, Size a, Size b) {
  auto product = sizes.product(a, b);
  auto total = product ? sizes.sum(sum, *product) : std::nullopt;
  sum = total.value_or(sum);
  return total.has_value();
}

std::optional<Affine> addAffine(Sizes& sizes, const Affine& a, const Affine& b, Size factor) {
  Affine sum;
  sum.constant = a.constant;
  if (!multiplyAdd(sizes, sum.constant, b.constant, factor))
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
      if (!multiplyAdd(sizes, term.coefficient, (right++)->coefficient, factor))
        return std::nullopt;
    }
    // A term of `a` alone is as it was.
    if (!fromRight || !sizes.isSame(term.coefficient, 0))
      sum.terms.push_back(term);
  }
  return sum;
}

namespace {

struct DividedAffine {
  Affine quotient, rest;
};

std::optional<DividedAffine> divideAffine(Sizes& sizes, const Affine& a, Size divisor,
                                          std::span<const Size> extents) {
  DividedAffine parts;
  parts.quotient.constant = sizes.quotient(a.constant, divisor);
  parts.rest.constant = sizes.rest(a.constant, divisor);
  for (const AffineTerm& term : a.terms)
    if (sizes.isSame(sizes.rest(term.coefficient, divisor), 0))
      parts.quotient.terms.push_back({term.axis, sizes.quotient(term.coefficient, divisor)});
    else
      parts.rest.terms.push_back(term);
  bool isExact = fits(sizes, rangeOf(sizes, a, extents)) &&
                 isBelow(sizes, rangeOf(sizes, parts.rest, extents), divisor);
  return isExact ? std::optional(std::move(parts)) : std::nullopt;
}

std::optional<Affine> divided(Sizes& sizes, const Affine& a, const Affine& b,
                              Affine DividedAffine::*part, std::span<const Size> extents) {
  if (!b.terms.empty() || !sizes.isAtLeast(b.constant, 1))
    return std::nullopt;
  if (a.terms.empty())
    return Affine{part == &DividedAffine::quotient ? sizes.quotient(a.constant, b.constant)
                                                   : sizes.rest(a.constant, b.constant)};
  auto parts = divideAffine(sizes, a, b.constant, extents);
  return parts ? std::optional(std::move(*parts.*part)) : std::nullopt;
}

} // namespace

std::optional<Affine> applyAffine(Sizes& sizes, ScalarFunction function, const Affine& a,
                                  const Affine& b, std::span<const Size> extents) {
  using enum ScalarFunction;
  bool areConstant = a.terms.empty() && b.terms.empty();
  auto divide = [&](Affine DividedAffine::*part) { return divided(sizes, a, b, part, extents); };
  auto isNatural = [&] { return areConstant && sizes.isAtLeast(a.constant, 0); };
  switch (function) {
  case Add:
    return addAffine(sizes, a, b);
  case Subtract:
    return addAffine(sizes, a, b, -1);
  case Multiply:
    return b.terms.empty()   ? addAffine(sizes, {}, a, b.constant)
           : a.terms.empty() ? addAffine(sizes, {}, b, a.constant)
                             : std::nullopt;
  case FloorDivide:
    return divide(&DividedAffine::quotient);
  case FloorMod:
    return divide(&DividedAffine::rest);
  case Divide:
  case TruncDivide:
    return isNatural() ? divide(&DividedAffine::quotient) : std::nullopt;
  case TruncMod:
    return isNatural() ? divide(&DividedAffine::rest) : std::nullopt;
  case Maximum:
  case Minimum:
    if (!areConstant)
      return std::nullopt;
    return sizes.isAtLeast(a.constant, b.constant) == (function == Maximum) ? a : b;
  default:
    return std::nullopt;
  }
}

Range rangeOf(Sizes& sizes, const Affine& a, std::span<const Size> extents) {
  Range range{a.constant, a.constant};
  for (const AffineTerm& term : a.terms) {
    Size& end = sizes.isAtLeast(term.coefficient, 0) ? range.high : range.low;
    auto last = sizes.sum(extents[term.axis], -1);
    if (!last || !multiplyAdd(sizes, end, term.coefficient, *last))
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

bool fits(Sizes& sizes, const Range& range) {
  constexpr int64_t limit = int64_t(1) << 62;
  return isBounded(range) && sizes.isLess(-limit, range.low) && sizes.isLess(range.high, limit);
}

bool isBelow(Sizes& sizes, const Range& range, Size count) {
  return sizes.isAtLeast(range.low, 0) && sizes.isLess(range.high, count);
}

bool isPoint(const Range& range) {
  return range.low.form == range.high.form && range.low.number == range.high.number;
}

Range rangeOf(Sizes& sizes, ScalarFunction function, const Range& a, const Range& b) {
  using enum ScalarFunction;
  bool areBounded = isBounded(a) && isBounded(b);
  switch (function) {
  case Add:
    return areBounded ? rangeOrFull(sizes.sum(a.low, b.low), sizes.sum(a.high, b.high)) : Range{};
  case Subtract:
    return areBounded ? rangeOrFull(sizes.sum(a.low, b.high, -1), sizes.sum(a.high, b.low, -1))
                      : Range{};
  case Multiply:
    return productOf(sizes, a, b);
  case Maximum:
    return {larger(sizes, a.low, b.low), larger(sizes, a.high, b.high)};
  case Minimum:
    return {smaller(sizes, a.low, b.low), smaller(sizes, a.high, b.high)};
  case Select:
    return {smaller(sizes, a.low, b.low), larger(sizes, a.high, b.high)};
  case Divide:
  case TruncDivide:
    return sizes.isAtLeast(a.low, 0) ? quotientOf(sizes, a, b) : Range{};
  case FloorDivide:
    return quotientOf(sizes, a, b);
  case FloorMod:
    return restOf(sizes, b);
  case TruncMod:
    return sizes.isAtLeast(a.low, 0) ? restOf(sizes, b) : Range{};
  default:
    return {};
  }
}

std::optional<bool> decideComparison(Sizes& sizes, ScalarFunction function, const Range& a,
                                     const Range& b) {
  using enum ScalarFunction;
  auto isBefore = [&](const Range& x, const Range& y) { return sizes.isLess(x.high, y.low); };
  switch (function) {
  case Less:
  case GreaterEqual:
    if (isBefore(a, b))
      return function == Less;
    return sizes.isAtLeast(a.low, b.high) ? std::optional(function != Less) : std::nullopt;
  case Greater:
  case LessEqual:
    if (isBefore(b, a))
      return function == Greater;
    return sizes.isAtLeast(b.low, a.high) ? std::optional(function != Greater) : std::nullopt;
  case Equal:
  case NotEqual:
    if (isBefore(a, b) || isBefore(b, a))
      return function == NotEqual;
    // Neither is before the other.
    return isPoint(a) && isPoint(b) ? std::optional(function == Equal) : std::nullopt;
  default:
    return std::nullopt;
  }
}

} // namespace lower
