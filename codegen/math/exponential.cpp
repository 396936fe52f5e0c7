// Functions made of e^x: x = n ln 2 + r with whole n and |r| <= ln 2 / 2, where a polynomial gives
// e^r.
#include "codegen/math/exponential_parts.h"
#include "codegen/math/functions.h"

namespace codegen::functions {

namespace {

/// ln 2 as a number which n times is exact, and the rest.
struct Reduction {
  double ln2High, ln2Low;
};

constexpr Reduction reduction32{0.693359375, -2.12194440e-4};
constexpr Reduction reduction64{6.93147180369123816490e-01, 1.90821492927058770002e-10};

/// e^r, with an error of 2^-28.1 and 2^-63.6.
MathValue powerOfSmall(MathValue r) {
  MathValue tail =
      isNarrow(r)
          ? polynomial(r, {0.49999994, 0.166665092, 0.041668009, 0.00836998969, 0.0013847033})
          : polynomial(r, {0.5, 0.16666666666666688, 0.041666666666666824, 0.00833333333331389,
                           0.0013888888888778312, 0.0001984126990337267, 2.4801587557233602e-05,
                           2.7557228684773968e-06, 2.7557070738786205e-07, 2.511393013939905e-08,
                           2.097638933094067e-09});
  return multiplyAdd(multiplyAdd(tail, r, 1), r, 1);
}

/// Where e^x is 0, and where it is infinite.
MathValue bounded(MathValue x) {
  return isNarrow(x) ? atLeast(atMost(x, 89), -104) : atLeast(atMost(x, 710), -746);
}

} // namespace

ExponentialParts exponentialParts(MathValue x, std::optional<MathValue> low) {
  const Reduction& reduction = isNarrow(x) ? reduction32 : reduction64;
  MathValue shifted = multiplyAdd(x, 1.4426950408889634, rounderOf(x));
  MathValue n = shifted - rounderOf(x);
  MathValue high = multiplyAdd(n, -reduction.ln2High, x);
  MathValue r = multiplyAdd(n, -reduction.ln2Low, high);
  return {powerOfSmall(low ? r + *low : r), n};
}

MathValue scaledOnce(const ExponentialParts& parts) {
  return scaledBy(parts.power, parts.exponent, true);
}

MathValue scaled(const ExponentialParts& parts, int more) {
  return scaledBy(parts.power, more == 0 ? parts.exponent : parts.exponent + more);
}

MathValue exponential(MathValue x) {
  return scaled(exponentialParts(bounded(x)));
}

/// With p = e^-|x| it is 1 - p / (1 + p), or p times that, so that small values keep their digits
/// and the error of 1 + p counts for little.
MathValue sigmoid(MathValue x) {
  MathValue power = exponential(-absolute(x));
  MathValue complement = power / (1 + power);
  MathValue whole = select(x < 0, power, 1);
  return multiplyAdd(-whole, complement, whole);
}

/// Near zero x (1 + x^2 P(x^2)), else (e^x - e^-x) / 2. Half of e^x overflows where the result
/// does.
MathValue hyperbolicSine(MathValue x) {
  MathValue size = absolute(x);
  MathValue square = size * size;
  MathValue odd =
      isNarrow(x) ? polynomial(square, {0.166666672, 0.00833331048, 0.000198428956, 2.7822132e-06})
                  : polynomial(square, {0.16666666666666666, 0.008333333333333573,
                                        0.0001984126984106116, 2.7557319310091027e-06,
                                        2.5052089412557198e-08, 1.6061339208430754e-10,
                                        7.503261823751909e-13, 6.475440699900932e-15});
  MathValue near = multiplyAdd(size * square, odd, size);
  MathValue half = scaled(exponentialParts(atMost(size, isNarrow(x) ? 90 : 711)), -1);
  return copySign(select(size < 1, near, half - 0.25 / half), x);
}

MathValue hyperbolicCosine(MathValue x) {
  MathValue half = scaled(exponentialParts(atMost(absolute(x), isNarrow(x) ? 90 : 711)), -1);
  return half + 0.25 / half;
}

/// Near zero x (1 + x^2 P(x^2)), else 1 - 2 / (e^2|x| + 1), which is 1 from the bound on.
MathValue hyperbolicTangent(MathValue x) {
  MathValue size = absolute(x);
  MathValue square = size * size;
  MathValue odd =
      isNarrow(x)
          ? polynomial(square,
                       {-0.333332807, 0.133314058, -0.0537365153, 0.0206281673, -0.0056922962})
          : polynomial(square,
                       {-0.33333333333332854, 0.13333333333261932, -0.053968253931193574,
                        0.021869487574398484, -0.008863220980444784, 0.0035919889950942288,
                        -0.0014549579610885328, 0.0005863135373384396, -0.0002285581339607511,
                        7.713744472870078e-05, -1.606917669984829e-05});
  MathValue near = multiplyAdd(size * square, odd, size);
  MathValue power = scaledOnce(exponentialParts(atMost(size + size, isNarrow(x) ? 20 : 40)));
  return copySign(select(size < 0.625, near, 1 - 2 / (power + 1)), x);
}

} // namespace codegen::functions
