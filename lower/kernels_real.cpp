// The same loops on reals of many digits. Most functions are those of MPFR itself, which round
// correctly; the digits are those that new reals have (RealDigits).
#include "lower/kernels.h"
#include "lower/real.h"
#include "lower/scalar_ops.h"

#include <limits>

namespace lower {

namespace {

using enum ScalarFunction;

using MpfrFunction = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

Real* reals(std::byte* bytes) {
  return reinterpret_cast<Real*>(bytes);
}

const Real* reals(const std::byte* bytes) {
  return reinterpret_cast<const Real*>(bytes);
}

template <ScalarFunction function>
void binaryLoop(std::byte* out, const std::byte* const* in, size_t count) {
  for (size_t j = 0; j < count; ++j)
    reals(out)[j] = applyBinary<function, Real>(reals(in[0])[j], reals(in[1])[j]);
}

template <ScalarFunction function>
void compareLoop(std::byte* out, const std::byte* const* in, size_t count) {
  for (size_t j = 0; j < count; ++j)
    out[j] = std::byte(applyTest<function>(reals(in[0])[j], reals(in[1])[j]));
}

template <ScalarFunction function>
void logicLoop(std::byte* out, const std::byte* const* in, size_t count) {
  for (size_t j = 0; j < count; ++j)
    reals(out)[j] = applyTest<function>(reals(in[0])[j], reals(in[1])[j]) ? 1 : 0;
}

template <auto function>
void unaryLoop(std::byte* out, const std::byte* const* in, size_t count) {
  for (size_t j = 0; j < count; ++j)
    reals(out)[j] = function(reals(in[0])[j]);
}

template <MpfrFunction function>
void mpfrLoop(std::byte* out, const std::byte* const* in, size_t count) {
  for (size_t j = 0; j < count; ++j)
    function(reals(out)[j].backend().data(), reals(in[0])[j].backend().data(), MPFR_RNDN);
}

template <auto test>
void testLoop(std::byte* out, const std::byte* const* in, size_t count) {
  for (size_t j = 0; j < count; ++j)
    out[j] = std::byte(test(reals(in[0])[j].backend().data()) != 0);
}

void selectLoop(std::byte* out, const std::byte* const* in, size_t count) {
  for (size_t j = 0; j < count; ++j)
    reals(out)[j] = reals(in[in[0][j] != std::byte(0) ? 1 : 2])[j];
}

int roundHalfAway(mpfr_ptr out, mpfr_srcptr in, mpfr_rnd_t) {
  return mpfr_round(out, in);
}
int roundHalfEven(mpfr_ptr out, mpfr_srcptr in, mpfr_rnd_t) {
  return mpfr_roundeven(out, in);
}
int roundDown(mpfr_ptr out, mpfr_srcptr in, mpfr_rnd_t) {
  return mpfr_floor(out, in);
}
int roundUp(mpfr_ptr out, mpfr_srcptr in, mpfr_rnd_t) {
  return mpfr_ceil(out, in);
}
int roundToZero(mpfr_ptr out, mpfr_srcptr in, mpfr_rnd_t) {
  return mpfr_trunc(out, in);
}
bool isFinite(mpfr_srcptr value) {
  return mpfr_number_p(value) != 0;
}
bool isNanReal(mpfr_srcptr value) {
  return mpfr_nan_p(value) != 0;
}
bool isInfinite(mpfr_srcptr value) {
  return mpfr_inf_p(value) != 0;
}

Real sigmoid(const Real& a) {
  return Real(1) / (Real(1) + exp(Real(-a)));
}
Real logicalNot(const Real& a) {
  return Real(a == 0 ? 1 : 0);
}

ApplyKernel mathKernel(ScalarFunction function) {
  switch (function) {
  case Floor:
    return mpfrLoop<roundDown>;
  case Ceil:
    return mpfrLoop<roundUp>;
  case Trunc:
    return mpfrLoop<roundToZero>;
  case Round:
    return mpfrLoop<roundHalfAway>;
  case RoundEven:
    return mpfrLoop<roundHalfEven>;
  case Exp:
    return mpfrLoop<mpfr_exp>;
  case Log:
    return mpfrLoop<mpfr_log>;
  case Log2:
    return mpfrLoop<mpfr_log2>;
  case Log10:
    return mpfrLoop<mpfr_log10>;
  case Sqrt:
    return mpfrLoop<mpfr_sqrt>;
  case Rsqrt:
    return mpfrLoop<mpfr_rec_sqrt>;
  case Sin:
    return mpfrLoop<mpfr_sin>;
  case Cos:
    return mpfrLoop<mpfr_cos>;
  case Tan:
    return mpfrLoop<mpfr_tan>;
  case Sinh:
    return mpfrLoop<mpfr_sinh>;
  case Cosh:
    return mpfrLoop<mpfr_cosh>;
  case Tanh:
    return mpfrLoop<mpfr_tanh>;
  case Asin:
    return mpfrLoop<mpfr_asin>;
  case Acos:
    return mpfrLoop<mpfr_acos>;
  case Atan:
    return mpfrLoop<mpfr_atan>;
  case Asinh:
    return mpfrLoop<mpfr_asinh>;
  case Acosh:
    return mpfrLoop<mpfr_acosh>;
  case Atanh:
    return mpfrLoop<mpfr_atanh>;
  case Erf:
    return mpfrLoop<mpfr_erf>;
  default:
    return nullptr;
  }
}

ApplyKernel unaryKernel(ScalarFunction function) {
  switch (function) {
  case Negative:
    return unaryLoop<applySign<Negative, Real>>;
  case Abs:
    return unaryLoop<applySign<Abs, Real>>;
  case Sign:
    return unaryLoop<applySign<Sign, Real>>;
  case LogicalNot:
    return unaryLoop<logicalNot>;
  case Sigmoid:
    return unaryLoop<sigmoid>;
  case IsNan:
    return testLoop<isNanReal>;
  case IsFinite:
    return testLoop<isFinite>;
  case IsInf:
    return testLoop<isInfinite>;
  default:
    return mathKernel(function);
  }
}

ApplyKernel testKernel(ScalarFunction function) {
  switch (function) {
  case LogicalAnd:
    return logicLoop<LogicalAnd>;
  case LogicalOr:
    return logicLoop<LogicalOr>;
  case LogicalXor:
    return logicLoop<LogicalXor>;
  case Equal:
    return compareLoop<Equal>;
  case NotEqual:
    return compareLoop<NotEqual>;
  case Less:
    return compareLoop<Less>;
  case LessEqual:
    return compareLoop<LessEqual>;
  case Greater:
    return compareLoop<Greater>;
  case GreaterEqual:
    return compareLoop<GreaterEqual>;
  default:
    return unaryKernel(function);
  }
}

int64_t saturated(const Real& value, int64_t low, int64_t high) {
  mpfr_srcptr data = value.backend().data();
  if (mpfr_nan_p(data))
    return 0;
  if (mpfr_cmp_si(data, low) <= 0)
    return low;
  return mpfr_cmp_si(data, high) >= 0 ? high : int64_t(mpfr_get_si(data, MPFR_RNDZ));
}

uint64_t saturated(const Real& value, uint64_t low, uint64_t high) {
  mpfr_srcptr data = value.backend().data();
  if (mpfr_nan_p(data) || mpfr_cmp_ui(data, low) <= 0)
    return 0;
  return mpfr_cmp_ui(data, high) >= 0 ? high : uint64_t(mpfr_get_ui(data, MPFR_RNDZ));
}

/// Rounds to binary32 toward zero, keeping in the last bit whether that was inexact; a second
/// rounding to 16 bits is then the only one.
float floatRoundedToOdd(const Real& value) {
  float nearest = mpfr_get_flt(value.backend().data(), MPFR_RNDZ);
  if (nearest != nearest || Real(nearest) == value)
    return nearest;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) | 1u);
}

template <typename To>
To fromReal(const Real& value) {
  if constexpr (std::is_same_v<To, Bit>)
    return Bit{uint8_t(value != 0)};
  else if constexpr (std::is_same_v<To, double>)
    return mpfr_get_d(value.backend().data(), MPFR_RNDN);
  else if constexpr (std::is_same_v<To, float>)
    return mpfr_get_flt(value.backend().data(), MPFR_RNDN);
  else if constexpr (std::is_integral_v<To>) {
    using Wide = std::conditional_t<std::is_signed_v<To>, int64_t, uint64_t>;
    using Limits = std::numeric_limits<To>;
    return To(saturated(value, Wide(Limits::min()), Wide(Limits::max())));
  } else
    return To(floatRoundedToOdd(value));
}

template <typename To>
void fromRealLoop(std::byte* out, const std::byte* const* in, size_t count) {
  for (size_t j = 0; j < count; ++j)
    reinterpret_cast<To*>(out)[j] = fromReal<To>(reals(in[0])[j]);
}

template <typename From>
void toRealLoop(std::byte* out, const std::byte* const* in, size_t count) {
  for (size_t j = 0; j < count; ++j)
    reals(out)[j] = widen(reinterpret_cast<const From*>(in[0])[j]);
}

void copyLoop(std::byte* out, const std::byte* const* in, size_t count) {
  for (size_t j = 0; j < count; ++j)
    reals(out)[j] = reals(in[0])[j];
}

void splatLoop(std::byte* out, const std::byte* const* in, size_t count) {
  for (size_t j = 0; j < count; ++j)
    reals(out)[j] = reals(in[0])[0];
}

void stridedLoop(std::byte* out, const std::byte* base, int64_t stride, size_t count) {
  for (size_t j = 0; j < count; ++j)
    reals(out)[j] = reals(base)[int64_t(j) * stride];
}

void gatherLoop(std::byte* out, const std::byte* base, const int64_t* offsets,
                const std::byte* fill, size_t count) {
  for (size_t j = 0; j < count; ++j)
    reals(out)[j] = offsets[j] < 0 ? reals(fill)[0] : reals(base)[offsets[j]];
}

void scatterLoop(std::byte* out, int64_t stride, const std::byte* in, size_t count) {
  for (size_t j = 0; j < count; ++j)
    reals(out)[int64_t(j) * stride] = reals(in)[j];
}

} // namespace

ApplyKernel realApplyKernel(ScalarFunction function) {
  switch (function) {
  case Add:
    return binaryLoop<Add>;
  case Subtract:
    return binaryLoop<Subtract>;
  case Multiply:
    return binaryLoop<Multiply>;
  case Divide:
    return binaryLoop<Divide>;
  case FloorDivide:
    return binaryLoop<FloorDivide>;
  case FloorMod:
    return binaryLoop<FloorMod>;
  case TruncDivide:
    return binaryLoop<TruncDivide>;
  case TruncMod:
    return binaryLoop<TruncMod>;
  case Power:
    return binaryLoop<Power>;
  case Maximum:
    return binaryLoop<Maximum>;
  case Minimum:
    return binaryLoop<Minimum>;
  case Select:
    return selectLoop;
  default:
    return testKernel(function);
  }
}

ApplyKernel realCastKernel(Element from, Element to) {
  if (from == to)
    return copyLoop;
  bool toReal = to == Element::Real;
  return withOwnElement(toReal ? from : to, [&](auto tag) -> ApplyKernel {
    using T = typename decltype(tag)::type;
    return toReal ? toRealLoop<T> : fromRealLoop<T>;
  });
}

ApplyKernel realSplatKernel() {
  return splatLoop;
}
StridedKernel realStridedKernel() {
  return stridedLoop;
}
GatherKernel realGatherKernel() {
  return gatherLoop;
}
ScatterKernel realScatterKernel() {
  return scatterLoop;
}

std::shared_ptr<std::byte[]> makeElements(Element element, size_t count) {
  if (element != Element::Real) {
    size_t bytes = std::max<size_t>(count * elementBytes(element), 8);
    return std::shared_ptr<std::byte[]>(new std::byte[bytes]());
  }
  std::shared_ptr<Real[]> owner(new Real[count]);
  return {owner, reinterpret_cast<std::byte*>(owner.get())};
}

} // namespace lower
