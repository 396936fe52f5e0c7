// What passes 64 bits is nothing, and so is all that hangs on it.
#include "codegen/image/size_steps.h"

#include <algorithm>

namespace codegen {

namespace {

std::optional<int64_t> valueOf(const SizeStep& step, std::optional<int64_t> a,
                               std::optional<int64_t> b) {
  if (!a || !b)
    return std::nullopt;
  int64_t value = 0;
  switch (step.kind) {
  case SizeStepKind::Sum:
    return __builtin_add_overflow(*a, *b, &value) ? std::nullopt : std::optional(value);
  case SizeStepKind::Product:
    return __builtin_mul_overflow(*a, *b, &value) ? std::nullopt : std::optional(value);
  case SizeStepKind::Quotient:
    return *b > 0 ? std::optional(*a / *b - (*a % *b < 0)) : std::nullopt;
  case SizeStepKind::Least:
    return std::min(*a, *b);
  default:
    return std::max(*a, *b);
  }
}

} // namespace

bool areSound(const SizeSteps& steps, size_t sizes) {
  auto isBelow = [](int64_t number, size_t end) { return number >= 0 && size_t(number) < end; };
  for (size_t i = 0; i < steps.size(); ++i) {
    const SizeStep& step = steps[i];
    if (step.kind > SizeStepKind::Greatest ||
        (step.kind == SizeStepKind::Size && !isBelow(step.a, sizes)) ||
        (step.kind > SizeStepKind::Size && !(isBelow(step.a, i) && isBelow(step.b, i))))
      return false;
  }
  return true;
}

runtime::List<std::optional<int64_t>> valuesOf(const SizeSteps& steps,
                                               std::span<const int64_t> sizes) {
  runtime::List<std::optional<int64_t>> values;
  for (const SizeStep& step : steps)
    values.push_back(step.kind == SizeStepKind::Number ? step.a
                     : step.kind == SizeStepKind::Size
                         ? sizes[size_t(step.a)]
                         : valueOf(step, values[size_t(step.a)], values[size_t(step.b)]));
  return values;
}

} // namespace codegen
