// Terms come before what is made of them.
#include "lang/types/dim_sizes.h"

#include "lang/types/type.h"

namespace lang {

namespace {

checks::SizeKind kindOf(const Dim& dim) {
  using checks::SizeKind;
  switch (dim.kind) {
  case DimKind::Constant:
    return SizeKind::Number;
  case DimKind::Symbol:
    return SizeKind::Name;
  case DimKind::Linear:
    return SizeKind::Sum;
  case DimKind::Product:
    return SizeKind::Product;
  case DimKind::Quotient:
    return SizeKind::Quotient;
  case DimKind::Any:
  case DimKind::Unknown:
    break;
  }
  return SizeKind::Open;
}

} // namespace

uint32_t DimSizes::of(const Dim* dim) {
  if (auto found = places_.find(dim); found != places_.end())
    return found->second;
  checks::Size size{.kind = kindOf(*dim), .number = dim->value};
  if (texts_ == Texts::Kept)
    size.text = dimText(dim);
  for (const DimTerm& term : dim->terms)
    size.terms.push_back({of(term.variable), term.coefficient});
  return put(dim, std::move(size));
}

uint32_t DimSizes::put(const Dim* dim, checks::Size size) {
  auto place = uint32_t(table_.size());
  table_.push_back(std::move(size));
  places_.emplace(dim, place);
  return place;
}

} // namespace lang
