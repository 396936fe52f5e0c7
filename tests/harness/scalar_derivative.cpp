// The column of derivatives, read as scalar expressions.
#include "tests/harness/scalar_derivative.h"

#include <vector>

namespace harness {

using namespace lang;

namespace {

/// The entry of a row that has no derivatives.
struct None {};

Scalar sin(Scalar a) {
  return apply(ScalarFunction::Sin, {a});
}
Scalar cos(Scalar a) {
  return apply(ScalarFunction::Cos, {a});
}
Scalar sinh(Scalar a) {
  return apply(ScalarFunction::Sinh, {a});
}
Scalar cosh(Scalar a) {
  return apply(ScalarFunction::Cosh, {a});
}
Scalar acos(Scalar a) {
  return apply(ScalarFunction::Acos, {a});
}
Scalar floor(Scalar a) {
  return apply(ScalarFunction::Floor, {a});
}
Scalar trunc(Scalar a) {
  return apply(ScalarFunction::Trunc, {a});
}
Scalar pow(Scalar a, Scalar b) {
  return apply(ScalarFunction::Power, {a, b});
}

/// The derivatives of one row, of which the one that is asked for is made an expression.
class Chosen {
public:
  Chosen(Scalar y, size_t i) : y_(y), i_(i) {}

  void add(Scalar derivative) { take(derivative); }
  void add(double derivative) { take(number(y_, derivative)); }
  void add(None) {}

  std::optional<Scalar> result;

private:
  void take(Scalar derivative) {
    if (i_-- == 0)
      result = derivative;
  }

  Scalar y_;
  size_t i_;
};

} // namespace

std::optional<Scalar> scalarDerivative(ScalarFunction function, size_t i,
                                       std::span<const Scalar> operands, Scalar y) {
  Scalar a = operands[0], b = operands.size() > 1 ? operands[1] : a;
  auto choose = [&](Scalar condition, double then, double otherwise) {
    return select(condition, number(y, then), number(y, otherwise));
  };
  Chosen chosen(y, i);
  auto addAll = [&](auto... derivatives) { (chosen.add(derivatives), ...); };
#define NONE                                                                                       \
  None {}
#define SCALAR_FUNCTION(name, arity, result, floats, wholes, ...)                                  \
  case ScalarFunction::name:                                                                       \
    addAll(__VA_ARGS__);                                                                           \
    break;
  switch (function) {
#include "runtime/scalar_functions.def"
  }
#undef SCALAR_FUNCTION
#undef NONE
  return chosen.result;
}

} // namespace harness
