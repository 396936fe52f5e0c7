// Proofs count their steps, so that no form takes long; a proof that gives up leaves `Open`.
#include "lower/sizes/facts.h"

#include <algorithm>
#include <numeric>

namespace sizes {

namespace {

/// Steps of one proof, and how many facts may be taken off a form on one way.
constexpr int mostSteps = 400;
constexpr int mostFacts = 2;

} // namespace

template <typename Is>
std::optional<Known> Facts::findKnown(Is&& is) const {
  const Knowledge& knowledge = table_->knowledge();
  for (Scope scope = scope_; scope != Scope{}; scope = knowledge.at(scope).around)
    if (is(knowledge.at(scope)))
      return knowledge.at(scope);
  return std::nullopt;
}

std::optional<Known> Facts::sizeOf(Name name) const {
  return findKnown(
      [&](const Known& known) { return known.kind == KnownKind::Size && known.name == name; });
}

void Facts::assume(Name size, int64_t least, int64_t multiple) {
  Known known = sizeOf(size).value_or(Known{.name = size});
  known.around = scope_;
  known.kind = KnownKind::Size;
  known.least = std::max(known.least, least);
  known.multiple = std::max(known.multiple, multiple);
  hasMultiples_ |= known.multiple > 1;
  know(known);
}

void Facts::enter(Name variable, Form end) {
  know({.around = scope_, .kind = KnownKind::Loop, .name = variable, .form = end});
  hold(table_->sum(end, table_->number(1), -1));
}

std::vector<Name> Facts::loops() const {
  std::vector<Name> names;
  findKnown([&](const Known& known) {
    if (known.kind == KnownKind::Loop)
      names.push_back(known.name);
    return false;
  });
  std::ranges::reverse(names);
  return names;
}

void Facts::hold(Form form) {
  if (!table_->constantOf(form))
    know({.around = scope_, .kind = KnownKind::Hold, .form = form});
}

bool Facts::isProven(Form larger, Form smaller) const {
  bool isYes = false;
  auto isNeverNegativeHere = [&](Form form) {
    if (auto value = table_->constantOf(form))
      return *value >= 0;
    if (auto known = table_->knowledge().answer(scope_, Question::IsNeverNegative, form))
      return *known != 0;
    bool isSo = false;
    bool isSmall = table_->attempt([&] {
      int steps = mostSteps;
      isSo = isNeverNegative(withMultiples(form), steps, mostFacts);
    });
    isSo &= isSmall;
    table_->knowledge().note(scope_, Question::IsNeverNegative, form, isSo);
    return isSo;
  };
  bool isSmall =
      table_->attempt([&] { isYes = isNeverNegativeHere(table_->sum(larger, smaller, -1)); });
  return isYes && isSmall;
}

Answer Facts::isAtLeast(Form a, Form b) const {
  if (isProven(a, b))
    return Answer::Yes;
  return isProven(b, table_->sum(a, table_->number(1))) ? Answer::No : Answer::Open;
}

bool Facts::areSame(Form a, Form b) const {
  return a == b || simplified(table_->sum(a, b, -1)) == table_->number(0) ||
         (proves(a, b) && proves(b, a));
}

bool Facts::isInside(Form position, Form extent) const {
  return proves(position, table_->number(0)) &&
         proves(extent, table_->sum(position, table_->number(1)));
}

/// Sizes that are multiples of something as that times a name of its own.
Form Facts::withMultiples(Form form) const {
  if (!hasMultiples_)
    return form;
  std::map<Name, Form> names;
  findKnown([&](const Known& known) {
    if (known.kind == KnownKind::Size && known.multiple > 1)
      names.try_emplace(known.name,
                        table_->product(table_->number(known.multiple),
                                        table_->name(table_->textOf(known.name) + "'")));
    return false;
  });
  return table_->replaced(form, names);
}

bool Facts::isNeverNegative(Form form, int& steps, int facts) const {
  if (auto value = table_->constantOf(form))
    return *value >= 0;
  if (--steps < 0 || table_->isTooLarge())
    return false;
  if (bySizes(form) || isFact(form))
    return true;
  form = lessened(form);
  if (auto less = withoutOthers(form); less && isNeverNegative(*less, steps, 0))
    return true;
  auto loop = innermost(form);
  auto part = loop && !isInPart(form, loop->name) ? std::nullopt : nextPart(form);
  if (part ? byBoundedPart(form, *part, steps, facts) : loop && byLoop(form, *loop, steps, facts))
    return true;
  return facts > 0 && byFact(form, steps, facts);
}

/// Whether a term has factors that are no names.
bool Facts::hasParts(const Term& term) const {
  return std::ranges::any_of(
      term.factors, [&](Atom factor) { return table_->partsOf(factor).kind != AtomKind::Name; });
}

/// A form whose terms have a common factor h, over it: h*x + c >= 0 is x + floor(c / h) >= 0.
Form Facts::lessened(Form form) const {
  int64_t common = 0;
  for (const Term& term : table_->sumOf(form).terms)
    common = std::gcd(common, term.coefficient);
  return common > 1 ? table_->quotient(form, table_->number(common)) : form;
}

/// Where terms with quotients have a common factor h: with x for their sum over h, h*x + y >= 0 is
/// x + floor(y / h) >= 0, so the least y does for all, if that is a number.
std::optional<Form> Facts::withoutOthers(Form form) const {
  if (!table_->hasParts(form))
    return std::nullopt;
  const Sum sum = table_->sumOf(form);
  int64_t common = 0, least = sum.constant;
  size_t parts = 0;
  for (const Term& term : sum.terms) {
    if (hasParts(term)) {
      common = std::gcd(common, term.coefficient);
      ++parts;
      continue;
    }
    if (common == 1 || term.factors.size() != 1)
      return std::nullopt;
    Name name = table_->partsOf(term.factors[0]).name;
    auto loop = findKnown(
        [&](const Known& known) { return known.kind == KnownKind::Loop && known.name == name; });
    auto end = loop ? table_->constantOf(loop->form) : std::nullopt;
    int64_t last = 0;
    if (!end ||
        (term.coefficient < 0 && (__builtin_mul_overflow(term.coefficient, *end - 1, &last) ||
                                  __builtin_add_overflow(least, last, &least))))
      return std::nullopt;
  }
  if (common <= 1 || parts == sum.terms.size())
    return std::nullopt;
  Form whole = table_->number(least);
  for (const Term& term : sum.terms)
    if (hasParts(term))
      whole = table_->sum(whole, table_->term(term));
  return table_->quotient(whole, table_->number(common));
}

/// The part of a form to be bounded first: a lesser or greater one, then a quotient that stands
/// alone, then that of the smallest divisor, as (x/2) % 3 is x/2 - (x/6)*3.
std::optional<Facts::Part> Facts::nextPart(Form form) const {
  std::optional<Part> best;
  int64_t least = 0;
  if (!table_->hasParts(form))
    return best;
  for (const Term& term : table_->sumOf(form).terms)
    for (Atom factor : term.factors) {
      const AtomParts parts = table_->partsOf(factor);
      if (parts.kind == AtomKind::Name)
        continue;
      bool isAlone = term.factors.size() == 1 && (term.coefficient == 1 || term.coefficient == -1);
      int64_t order = parts.kind != AtomKind::Quotient ? -2
                      : isAlone                        ? -1
                                : table_->constantOf(parts.right).value_or(INT64_MAX);
      if (!best || order < least) {
        best = Part{term, factor};
        least = order;
      }
    }
  return best;
}

/// Puts what bounds it in place of one lesser or greater part, or of one quotient.
bool Facts::byBoundedPart(Form form, const Part& part, int& steps, int facts) const {
  const AtomParts parts = table_->partsOf(part.atom);
  if (parts.kind != AtomKind::Quotient)
    return byChoice(form, part, steps, facts);
  Form rest = *table_->without(part.term, part.atom);
  if (auto number = table_->constantOf(rest); number == 1 || number == -1)
    return isNeverNegative(byDividend(form, part.term, parts), steps, facts);
  if (!isProductAtLeastZero(rest, steps))
    return false;
  bool grows = part.term.coefficient > 0;
  Form others = table_->sum(form, table_->term(part.term), -1);
  if (grows && isNeverNegative(parts.left, steps, facts) && isNeverNegative(others, steps, facts))
    return true;
  // divisor * quotient lies between dividend - divisor + 1 and dividend.
  Form bound =
      grows ? table_->sum(table_->sum(parts.left, parts.right, -1), table_->number(1)) : parts.left;
  const Sum by = table_->sumOf(parts.right), left = table_->sumOf(rest);
  if (by.terms.size() == 1 && by.constant == 0 && by.terms[0].coefficient == 1 &&
      by.terms[0].factors.size() == 1 && !left.terms.empty())
    if (auto taken = table_->without(left.terms[0], by.terms[0].factors[0]))
      return isNeverNegative(table_->sum(others, table_->product(*taken, bound)), steps, facts);
  return isNeverNegative(
      table_->sum(table_->product(others, parts.right), table_->product(rest, bound)), steps,
      facts);
}

/// A lesser part is each of its sides at most, a greater one at least; and either is one of both.
bool Facts::byChoice(Form form, const Part& part, int& steps, int facts) const {
  const AtomParts parts = table_->partsOf(part.atom);
  auto isProvenBy = [&](Form side) {
    return isNeverNegative(table_->replaced(form, part.atom, side), steps, facts);
  };
  bool grows = part.term.coefficient > 0;
  auto occurrences = std::ranges::count_if(table_->sumOf(form).terms, [&](const Term& term) {
    return std::ranges::find(term.factors, part.atom) != term.factors.end();
  });
  Form rest = *table_->without(part.term, part.atom);
  if (occurrences == 1 && grows == (parts.kind == AtomKind::Greatest) &&
      isProductAtLeastZero(rest, steps) && (isProvenBy(parts.left) || isProvenBy(parts.right)))
    return true;
  return isProvenBy(parts.left) && isProvenBy(parts.right);
}

/// A form with a quotient alone in one term, as one that is not negative in the same cases:
/// q <= g is x < (g + 1)*d, and q >= -g is x >= -g*d.
Form Facts::byDividend(Form form, const Term& term, const AtomParts& parts) const {
  Form others = table_->sum(form, table_->term(term), -1);
  if (term.coefficient > 0)
    return table_->sum(parts.left, table_->product(others, parts.right));
  Form next = table_->product(table_->sum(others, table_->number(1)), parts.right);
  return table_->sum(table_->sum(next, parts.left, -1), table_->number(1), -1);
}

/// Whether a product of atoms, its coefficient aside, is not negative; names never are.
bool Facts::isProductAtLeastZero(Form product, int& steps) const {
  const Sum sum = table_->sumOf(product);
  return sum.terms.empty() || std::ranges::all_of(sum.terms[0].factors, [&](Atom factor) {
           return table_->partsOf(factor).kind == AtomKind::Name ||
                  isNeverNegative(table_->atom(factor), steps, 0);
         });
}

/// The innermost loop whose variable a form mentions.
std::optional<Known> Facts::innermost(Form form) const {
  return findKnown([&](const Known& known) {
    return known.kind == KnownKind::Loop && table_->mentions(form, known.name);
  });
}

/// Whether a variable stands in a quotient, or in a lesser or greater part.
bool Facts::isInPart(Form form, Name variable) const {
  return table_->hasParts(form) &&
         std::ranges::any_of(table_->sumOf(form).terms, [&](const Term& term) {
           return std::ranges::any_of(term.factors, [&](Atom factor) {
             const AtomParts parts = table_->partsOf(factor);
             return parts.kind != AtomKind::Name && (table_->mentions(parts.left, variable) ||
                                                     table_->mentions(parts.right, variable));
           });
         });
}

/// Puts the end that makes the form least in place of a variable.
bool Facts::byLoop(Form form, const Known& loop, int& steps, int facts) const {
  Form slope = table_->number(0), others = form;
  Atom variable = table_->sumOf(table_->name(loop.name)).terms[0].factors[0];
  for (const Term& term : table_->sumOf(form).terms)
    if (auto rest = table_->without(term, variable)) {
      slope = table_->sum(slope, *rest);
      others = table_->sum(others, table_->term(term), -1);
    }
  if (table_->mentions(slope, loop.name))
    return false;
  if (isNeverNegative(slope, steps, facts))
    return isNeverNegative(others, steps, facts);
  if (!isNeverNegative(table_->sum(table_->number(0), slope, -1), steps, facts))
    return false;
  Form last = withMultiples(table_->sum(loop.form, table_->number(1), -1));
  return isNeverNegative(table_->sum(others, table_->product(slope, last)), steps, facts);
}

/// Whether a fact says so as it stands.
bool Facts::isFact(Form form) const {
  return findKnown([&](const Known& known) {
           auto apart = known.kind == KnownKind::Hold
                            ? table_->apart(form, withMultiples(known.form))
                            : std::nullopt;
           return apart && *apart >= 0;
         })
      .has_value();
}

bool Facts::byFact(Form form, int& steps, int facts) const {
  const Sum wanted = table_->sumOf(form);
  return findKnown([&](const Known& fact) {
           if (fact.kind != KnownKind::Hold || steps < 0)
             return false;
           Form known = withMultiples(fact.form);
           // As often as makes a term that both have go away.
           std::vector<int64_t> tried;
           for (const Term& term : table_->sumOf(known).terms) {
             auto same = std::ranges::find(wanted.terms, term.factors, &Term::factors);
             if (same == wanted.terms.end() || same->coefficient % term.coefficient != 0)
               continue;
             int64_t times = same->coefficient / term.coefficient;
             if (times <= 0 || std::ranges::find(tried, times) != tried.end())
               continue;
             tried.push_back(times);
             if (isNeverNegative(table_->sum(form, known, -times), steps, facts - 1))
               return true;
             if (steps < 0)
               return false;
           }
           return false;
         })
      .has_value();
}

/// What is assumed of a size, or of one that is a multiple of something over that.
std::optional<Known> Facts::sizeBehind(Name name) const {
  auto size = sizeOf(name);
  if (size || !hasMultiples_)
    return size;
  const std::string& text = table_->textOf(name);
  auto whole = text.back() == '\'' ? table_->find(std::string_view(text).substr(0, text.size() - 1))
                                   : std::nullopt;
  size = whole ? sizeOf(*whole) : std::nullopt;
  if (size)
    size->least = (size->least + size->multiple - 1) / size->multiple;
  return size;
}

/// Whether a form over names alone is not negative at the least that they are, and grows.
bool Facts::bySizes(Form form) const {
  if (table_->hasParts(form))
    return false;
  auto grows = [](const Sum& sum) {
    return sum.constant >= 0 &&
           std::ranges::all_of(sum.terms, [](const Term& term) { return term.coefficient > 0; });
  };
  const Sum sum = table_->sumOf(form);
  if (grows(sum))
    return true;
  // What is linear grows as before where names begin at more than 0.
  if (std::ranges::all_of(sum.terms, [](const Term& term) { return term.factors.size() == 1; }) &&
      std::ranges::any_of(sum.terms, [](const Term& term) { return term.coefficient < 0; }))
    return false;
  std::map<Name, Form> names;
  for (Name name : table_->namesIn(form))
    if (auto size = sizeBehind(name); size && size->least > 0)
      names.emplace(name, table_->sum(table_->name(name), table_->number(size->least)));
  return !names.empty() && grows(table_->sumOf(table_->replaced(form, names)));
}

Form Facts::simplified(Form form) const {
  if (!table_->hasParts(form))
    return form;
  if (auto known = table_->knowledge().answer(scope_, Question::Simplified, form))
    return Form(*known);
  Form result = form;
  for (const Term& term : table_->sumOf(form).terms)
    if (hasParts(term))
      result = table_->sum(table_->sum(result, table_->term(term), -1), simplifiedTerm(term));
  table_->knowledge().note(scope_, Question::Simplified, form, uint32_t(result));
  return result;
}

Form Facts::simplifiedTerm(const Term& term) const {
  Form made = table_->number(term.coefficient);
  for (Atom factor : term.factors) {
    const AtomParts parts = table_->partsOf(factor);
    made = table_->product(made,
                           parts.kind == AtomKind::Name ? table_->atom(factor) : simplified(parts));
  }
  return made;
}

Form Facts::simplified(const AtomParts& parts) const {
  Form left = simplified(parts.left), right = simplified(parts.right);
  if (parts.kind == AtomKind::Quotient)
    return simplifiedQuotient(left, right);
  bool isLeast = parts.kind == AtomKind::Least;
  if (isProven(left, right))
    return isLeast ? right : left;
  if (isProven(right, left))
    return isLeast ? left : right;
  return isLeast ? table_->least(left, right) : table_->greatest(left, right);
}

/// (x*c + y) / (c*d) as x/d, where 0 <= y < c.
std::optional<Form> Facts::withoutSmall(Form left, int64_t divisor) const {
  const Sum sum = table_->sumOf(left);
  for (const Term& term : sum.terms) {
    int64_t common = std::gcd(divisor, term.coefficient);
    if (common == 1)
      continue;
    Form small = table_->number(sum.constant - sum.constant / common * common);
    Form large = table_->number(sum.constant / common);
    for (const Term& each : sum.terms)
      if (each.coefficient % common == 0)
        large = table_->sum(large, table_->term({each.factors, each.coefficient / common}));
      else
        small = table_->sum(small, table_->term(each));
    if (isInside(small, table_->number(common)))
      return simplifiedQuotient(large, table_->number(divisor / common));
  }
  return std::nullopt;
}

/// Takes the whole part out where what is left is proven to be less than the divisor.
Form Facts::simplifiedQuotient(Form left, Form right) const {
  if (auto divisor = table_->constantOf(right); divisor && *divisor > 1)
    if (auto simpler = withoutSmall(left, *divisor))
      return *simpler;
  Form quotient = table_->quotient(left, right);
  const Sum sum = table_->sumOf(quotient);
  for (const Term& term : sum.terms) {
    if (term.coefficient != 1 || term.factors.size() != 1)
      continue;
    const AtomParts parts = table_->partsOf(term.factors[0]);
    if (parts.kind == AtomKind::Quotient && isInside(parts.left, parts.right))
      return table_->sum(quotient, table_->atom(term.factors[0]), -1);
  }
  return quotient;
}

} // namespace sizes
