// What sizes of a table are, where some names have values: numbers, or forms that can be solved.
//
// Both are computed by one function, `valueOf`, over what the terms are.
#pragma once

#include "runtime/checks/declared.h"

#include <algorithm>
#include <bit>

namespace checks {

/// `scale * name + offset`, or the number `offset`, when there is no name.
struct Affine {
  static constexpr uint32_t noName = UINT32_MAX;

  uint32_t name = noName;
  int64_t scale = 0;
  int64_t offset = 0;

  bool isNumber() const { return name == noName; }
};

// The arithmetic of both. All are false when there is no such value: two names meet, what is not
// linear has a name, or a number passes 64 bits.

inline void setNumber(int64_t& value, int64_t number) {
  value = number;
}
inline void setNumber(Affine& value, int64_t number) {
  value = {Affine::noName, 0, number};
}
inline bool isNumber(int64_t value, int64_t& number) {
  number = value;
  return true;
}
inline bool isNumber(const Affine& value, int64_t& number) {
  number = value.offset;
  return value.isNumber();
}
/// Adds `factor * term`.
inline bool addScaled(int64_t& sum, int64_t term, int64_t factor) {
  return !__builtin_mul_overflow(term, factor, &term) && !__builtin_add_overflow(sum, term, &sum);
}
bool addScaled(Affine& sum, const Affine& term, int64_t factor);
inline bool multiply(int64_t& product, int64_t factor) {
  return !__builtin_mul_overflow(product, factor, &product);
}
bool multiply(Affine& product, const Affine& factor);

/// A size times a factor, rounded in float32, halves to even; false when there is no such size.
bool scaleRounded(int64_t size, float factor, int64_t& result);

/// What Broadcast, Least, Greatest or Scaled makes of two numbers.
inline bool combine(SizeKind kind, int64_t left, int64_t right, int64_t& result) {
  if (kind == SizeKind::Broadcast) {
    result = left == 1 ? right : left;
    return left == 1 || right == 1 || left == right;
  }
  if (kind == SizeKind::Scaled)
    return scaleRounded(left, std::bit_cast<float>(uint32_t(right)), result);
  result = kind == SizeKind::Least ? std::min(left, right) : std::max(left, right);
  return true;
}

/// What a size that is no name is; `termValue(place, value)` gives what its terms are. False when
/// one of them has no value, or it has none itself.
template <typename Value, typename TermValue>
bool valueOf(const Size& size, const TermValue& termValue, Value& result) {
  Value term;
  int64_t left = 0, right = 0;
  switch (size.kind) {
  case SizeKind::Open:
  case SizeKind::Name:
    return false;
  case SizeKind::Number:
    setNumber(result, size.number);
    return true;
  case SizeKind::Sum:
    setNumber(result, size.number);
    return std::ranges::all_of(size.terms, [&](const SizeTerm& each) {
      return termValue(each.size, term) && addScaled(result, term, each.coefficient);
    });
  case SizeKind::Product:
    setNumber(result, 1);
    return std::ranges::all_of(size.terms, [&](const SizeTerm& each) {
      bool isGood = termValue(each.size, term);
      for (int64_t i = 0; isGood && i < each.coefficient; ++i)
        isGood = multiply(result, term);
      return isGood;
    });
  case SizeKind::Quotient:
    if (!termValue(size.terms[0].size, term) || !isNumber(term, left))
      return false;
    right = size.terms[0].coefficient;
    setNumber(result, left / right - (left % right < 0 ? 1 : 0));
    return true;
  case SizeKind::Broadcast:
  case SizeKind::Least:
  case SizeKind::Greatest:
  case SizeKind::Scaled:
    if (!termValue(size.terms[0].size, term) || !isNumber(term, left) ||
        !termValue(size.terms[1].size, term) || !isNumber(term, right) ||
        !combine(size.kind, left, right, left))
      return false;
    setNumber(result, left);
    return true;
  }
  return false;
}

} // namespace checks
