// Reals with as many digits as the run asks for. Include this in source files only: the library's
// headers are heavy.
//
// The digits are a setting of the library for the whole process, so runs of different precision
// must not overlap; RealDigits sets them for a scope.
#pragma once

#include <algorithm>
#include <boost/multiprecision/mpfr.hpp>
#include <vector>

namespace interp {

using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<0>,
                                           boost::multiprecision::et_off>;

/// The elements of a tensor, as runtime::Value::exact() keeps them.
using Reals = std::vector<Real>;

/// New reals have `digits` decimal digits while this lives, and at least 20, so that they hold
/// every 64-bit integer. What passes 2^131072 is infinite: nobody means such numbers, and the
/// cosine of one would take as many digits of pi as it has.
class RealDigits {
public:
  explicit RealDigits(unsigned digits) : before_(Real::default_precision()) {
    constexpr mpfr_exp_t most = 1 << 17;
    Real::default_precision(std::max(digits, 20u));
    mpfr_set_emax(most);
    mpfr_set_emin(-most);
  }
  ~RealDigits() { Real::default_precision(before_); }
  RealDigits(const RealDigits&) = delete;
  RealDigits& operator=(const RealDigits&) = delete;

private:
  unsigned before_;
};

} // namespace interp
