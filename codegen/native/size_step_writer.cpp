// Forms are nested no deeper than their table allows, so writing them may recur.
#include "codegen/native/size_step_writer.h"

#include <algorithm>
#include <stdexcept>

namespace codegen {

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
