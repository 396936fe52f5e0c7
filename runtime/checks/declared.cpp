// Terms are earlier entries, so one pass finds how deep and how long each form is.
#include "runtime/checks/declared.h"

#include <algorithm>

namespace checks {

namespace {

bool hasGoodTerms(const Size& size) {
  switch (size.kind) {
  case SizeKind::Number:
  case SizeKind::Open:
  case SizeKind::Name:
    return size.terms.empty();
  case SizeKind::Sum:
    return true;
  case SizeKind::Product:
    return !size.terms.empty() && std::ranges::all_of(size.terms, [](const SizeTerm& term) {
      return term.coefficient > 0 && term.coefficient < mostSizeParts;
    });
  case SizeKind::Quotient:
    return size.terms.size() == 1 && size.terms[0].coefficient > 0;
  case SizeKind::Broadcast:
  case SizeKind::Least:
  case SizeKind::Greatest:
  case SizeKind::Scaled:
    return size.terms.size() == 2;
  }
  return false;
}

const char* problemOf(const Declared& type, const SizeTable& sizes, size_t depth) {
  if (depth > mostNesting)
    return "a type is nested too deep";
  if (type.kind > Declared::Kind::Tuple)
    return "a type is of no kind";
  if (std::ranges::any_of(type.shape, [&](uint32_t size) { return size >= sizes.size(); }))
    return "an extent is beyond its table";
  for (const Declared& part : type.parts)
    if (const char* problem = problemOf(part, sizes, depth + 1))
      return problem;
  return nullptr;
}

} // namespace

const char* problemOf(const SizeTable& sizes) {
  struct Measure {
    uint64_t depth = 1, parts = 1;
  };
  std::vector<Measure> measures;
  for (const Size& size : sizes) {
    if (!hasGoodTerms(size))
      return "an extent is no form";
    Measure own;
    for (const SizeTerm& term : size.terms) {
      if (term.size >= measures.size())
        return "an extent is made of what comes behind it";
      uint64_t times = size.kind == SizeKind::Product ? uint64_t(term.coefficient) : 1;
      own.depth = std::max(own.depth, measures[term.size].depth + 1);
      own.parts += times * measures[term.size].parts;
    }
    if (own.depth > mostSizeDepth || own.parts > mostSizeParts)
      return "an extent is too long a form";
    measures.push_back(own);
  }
  return nullptr;
}

const char* problemOf(const Declared& type, const SizeTable& sizes) {
  return problemOf(type, sizes, 0);
}

} // namespace checks
