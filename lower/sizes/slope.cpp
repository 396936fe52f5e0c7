// A summand grows evenly when it has the name once, and no other factor mentions it.
#include "lower/sizes/slope.h"

namespace sizes {

namespace {

bool isName(const Table& table, Atom atom, Name name) {
  const AtomParts& parts = table.partsOf(atom);
  return parts.kind == AtomKind::Name && parts.name == name;
}

/// What one summand grows by.
std::optional<Form> slopeOf(Table& table, const Term& term, Name name) {
  Form rest = table.number(term.coefficient);
  bool isIn = false;
  for (Atom factor : term.factors) {
    if (isName(table, factor, name) && !isIn) {
      isIn = true;
      continue;
    }
    if (table.mentions(table.atom(factor), name))
      return std::nullopt;
    rest = table.product(rest, table.atom(factor));
  }
  return isIn ? rest : table.number(0);
}

} // namespace

std::optional<Form> slopeOf(Table& table, Form form, Name name) {
  const Sum sum = table.sumOf(form);
  Form slope = table.number(0);
  for (const Term& term : sum.terms) {
    auto part = slopeOf(table, term, name);
    if (!part)
      return std::nullopt;
    slope = table.sum(slope, *part);
  }
  return slope;
}

} // namespace sizes
