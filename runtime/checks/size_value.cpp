// The arithmetic of forms in one name, and of factors that are floats.
#include "runtime/checks/size_value.h"

#include <cmath>

namespace checks {

bool addScaled(Affine& sum, const Affine& term, int64_t factor) {
  int64_t scale = 0, offset = 0;
  if ((!sum.isNumber() && !term.isNumber() && sum.name != term.name) ||
      __builtin_mul_overflow(term.scale, factor, &scale) ||
      __builtin_mul_overflow(term.offset, factor, &offset) ||
      __builtin_add_overflow(sum.scale, scale, &sum.scale) ||
      __builtin_add_overflow(sum.offset, offset, &sum.offset))
    return false;
  if (sum.isNumber())
    sum.name = term.name;
  if (sum.scale == 0)
    sum.name = Affine::noName;
  return true;
}

bool multiply(Affine& product, const Affine& factor) {
  if (!product.isNumber() && !factor.isNumber())
    return false;
  Affine form = product.isNumber() ? factor : product;
  int64_t number = product.isNumber() ? product.offset : factor.offset;
  product = {};
  return addScaled(product, form, number);
}

bool scaleRounded(int64_t size, float factor, int64_t& result) {
  float scaled = std::nearbyint(float(size) * factor);
  bool isSize = scaled >= 0 && scaled < 0x1p62f;
  if (isSize)
    result = int64_t(scaled);
  return isSize;
}

} // namespace checks
