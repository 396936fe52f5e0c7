// Forms are nested no deeper than their table allows, so writing them may recur.
#include "codegen/native/size_steps.h"

#include <algorithm>
#include <stdexcept>

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

std::vector<std::optional<int64_t>> valuesOf(const SizeSteps& steps,
                                             std::span<const int64_t> sizes) {
  std::vector<std::optional<int64_t>> values;
  for (const SizeStep& step : steps)
    values.push_back(step.kind == SizeStepKind::Number ? step.a
                     : step.kind == SizeStepKind::Size
                         ? sizes[size_t(step.a)]
                         : valueOf(step, values[size_t(step.a)], values[size_t(step.b)]));
  return values;
}

SizeStepWriter::SizeStepWriter(const sizes::Table& table, std::vector<sizes::Name> sizes)
    : table_(table), sizes_(std::move(sizes)) {}

uint32_t SizeStepWriter::step(SizeStep step) {
  auto [place, isNew] = known_.emplace(step, uint32_t(steps_.size()));
  if (isNew)
    steps_.push_back(step);
  return place->second;
}

uint32_t SizeStepWriter::stepOf(sizes::Form form) {
  if (auto found = ofForm_.find(form); found != ofForm_.end())
    return found->second;
  const sizes::Sum& sum = table_.sumOf(form);
  std::optional<uint32_t> total;
  if (sum.constant != 0 || sum.terms.empty())
    total = step({SizeStepKind::Number, sum.constant});
  for (const sizes::Term& term : sum.terms) {
    uint32_t value = stepOf(term);
    total = total ? step({SizeStepKind::Sum, *total, value}) : value;
  }
  ofForm_.emplace(form, *total);
  return *total;
}

uint32_t SizeStepWriter::stepOf(const sizes::Term& term) {
  std::optional<uint32_t> product;
  if (term.coefficient != 1)
    product = step({SizeStepKind::Number, term.coefficient});
  for (sizes::Atom factor : term.factors) {
    uint32_t value = stepOf(factor);
    product = product ? step({SizeStepKind::Product, *product, value}) : value;
  }
  return *product;
}

uint32_t SizeStepWriter::stepOf(sizes::Atom atom) {
  const sizes::AtomParts& parts = table_.partsOf(atom);
  if (parts.kind == sizes::AtomKind::Name) {
    auto found = std::ranges::find(sizes_, parts.name);
    if (found == sizes_.end())
      throw std::logic_error("a size of a kernel hangs on a loop");
    return step({SizeStepKind::Size, found - sizes_.begin()});
  }
  SizeStepKind kind = parts.kind == sizes::AtomKind::Quotient ? SizeStepKind::Quotient
                      : parts.kind == sizes::AtomKind::Least  ? SizeStepKind::Least
                                                              : SizeStepKind::Greatest;
  uint32_t left = stepOf(parts.left), right = stepOf(parts.right);
  return step({kind, left, right});
}

} // namespace codegen
