// Proofs count their steps, so that no form takes long; a proof that gives up leaves `Open`.
#include "lower/sizes/facts.h"

#include <algorithm>
#include <numeric>

namespace sizes {

namespace {

/// Steps of one proof, and how many facts may be taken off a form on one way.
constexpr int mostSteps = 400;
constexpr int mostFacts = 2;

/// A term with the atom taken out of its factors once.
std::optional<Term> without(const Term& term, Atom atom) {
  auto found = std::ranges::find(term.factors, atom);
  if (found == term.factors.end())
    return std::nullopt;
  Term rest = term;
  rest.factors.erase(rest.factors.begin() + (found - term.factors.begin()));
  return rest;
}

Form formOf(Table& table, const Term& term) {
  Form form = table.number(term.coefficient);
  for (Atom factor : term.factors)
    form = table.product(form, table.atom(factor));
  return form;
}

} // namespace

void Facts::assume(Name size, int64_t least, int64_t multiple) {
  Size& known = sizes_[size];
  known.least = std::max(known.least, least);
  if (multiple > known.multiple)
    known.multiple = multiple;
}

void Facts::enter(Name variable, Form end) {
  loops_.push_back({variable, end});
  hold(table_->sum(end, table_->number(1), -1));
}

std::vector<Name> Facts::loops() const {
  std::vector<Name> names;
  for (const Loop& loop : loops_)
    names.push_back(loop.variable);
  return names;
}

void Facts::hold(Form form) {
  if (!table_->constantOf(form))
    holds_.push_back(form);
}

Answer Facts::isAtLeast(Form a, Form b) const {
  auto isProven = [&](Form larger, Form smaller) {
    bool isYes = false;
    bool isSmall = table_->attempt([&] {
      int steps = mostSteps;
      isYes = isNeverNegative(withMultiples(table_->sum(larger, smaller, -1)), steps, mostFacts);
    });
    return isYes && isSmall;
  };
  if (isProven(a, b))
    return Answer::Yes;
  return isProven(b, table_->sum(a, table_->number(1))) ? Answer::No : Answer::Open;
}

bool Facts::areSame(Form a, Form b) const {
  return a == b || simplified(table_->sum(a, b, -1)) == table_->number(0) ||
         (proves(a, b) && proves(b, a));
}

bool Facts::isInside(Form position, Form extent) const {
  return proves(position, table_->number(0)) && isLess(position, extent) == Answer::Yes;
}

/// Sizes that are multiples of something as that times a name of its own.
Form Facts::withMultiples(Form form) const {
  std::map<Name, Form> names;
  for (const auto& [name, size] : sizes_)
    if (size.multiple > 1)
      names.emplace(name, table_->product(table_->number(size.multiple),
                                          table_->name(table_->textOf(name) + "'")));
  return names.empty() ? form : table_->replaced(form, names);
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
  auto part = loop && !isInPart(form, loop->variable) ? std::nullopt : nextPart(form);
  if (part ? byBoundedPart(form, *part, steps, facts) : loop && byLoop(form, *loop, steps, facts))
    return true;
  return facts > 0 && byFact(form, steps, facts);
}

/// A form whose terms have a common factor h, over it: h*x + c >= 0 is x + floor(c / h) >= 0.
Form Facts::lessened(Form form) const {
  const Sum sum = table_->sumOf(form);
  int64_t common = 0;
  for (const Term& term : sum.terms)
    common = std::gcd(common, term.coefficient);
  return common > 1 ? table_->quotient(form, table_->number(common)) : form;
}

/// Where terms with quotients have a common factor h: with x for their sum over h, h*x + y >= 0 is
/// x + floor(y / h) >= 0, so the least y does for all, if that is a number.
std::optional<Form> Facts::withoutOthers(Form form) const {
  const Sum sum = table_->sumOf(form);
  int64_t common = 0, least = sum.constant;
  Sum parts;
  for (const Term& term : sum.terms) {
    bool isPart = std::ranges::any_of(
        term.factors, [&](Atom factor) { return table_->partsOf(factor).kind != AtomKind::Name; });
    if (isPart) {
      common = std::gcd(common, term.coefficient);
      parts.terms.push_back(term);
      continue;
    }
    if (term.factors.size() != 1)
      return std::nullopt;
    Name name = table_->partsOf(term.factors[0]).name;
    auto loop = std::ranges::find(loops_, name, &Loop::variable);
    auto end = loop == loops_.end() ? std::nullopt : table_->constantOf(loop->end);
    int64_t last = 0;
    if (!end ||
        (term.coefficient < 0 && (__builtin_mul_overflow(term.coefficient, *end - 1, &last) ||
                                  __builtin_add_overflow(least, last, &least))))
      return std::nullopt;
  }
  if (common <= 1 || parts.terms.size() == sum.terms.size())
    return std::nullopt;
  Form whole = table_->number(0);
  for (const Term& term : parts.terms)
    whole = table_->sum(whole, formOf(*table_, term));
  return table_->quotient(table_->sum(whole, table_->number(least)), table_->number(common));
}

/// The part of a form to be bounded first: a lesser or greater one, then a quotient that stands
/// alone, then that of the smallest divisor, as (x/2) % 3 is x/2 - (x/6)*3.
std::optional<Facts::Part> Facts::nextPart(Form form) const {
  std::optional<Part> best;
  int64_t least = 0;
  for (const Term& term : table_->sumOf(form).terms)
    for (Atom factor : term.factors) {
      const AtomParts& parts = table_->partsOf(factor);
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
  Term rest = *without(part.term, part.atom);
  if (rest.factors.empty() && (rest.coefficient == 1 || rest.coefficient == -1))
    return isNeverNegative(byDividend(form, part.term, parts), steps, facts);
  if (!isProductAtLeastZero(rest.factors, steps))
    return false;
  Form others = table_->sum(form, formOf(*table_, part.term), -1);
  if (rest.coefficient > 0 && isNeverNegative(parts.left, steps, facts) &&
      isNeverNegative(others, steps, facts))
    return true;
  // divisor * quotient lies between dividend - divisor + 1 and dividend.
  Form bound = rest.coefficient < 0
                   ? parts.left
                   : table_->sum(table_->sum(parts.left, parts.right, -1), table_->number(1));
  const Sum by = table_->sumOf(parts.right);
  if (by.terms.size() == 1 && by.constant == 0 && by.terms[0].coefficient == 1 &&
      by.terms[0].factors.size() == 1)
    if (auto taken = without(rest, by.terms[0].factors[0]))
      return isNeverNegative(table_->sum(others, table_->product(formOf(*table_, *taken), bound)),
                             steps, facts);
  return isNeverNegative(table_->sum(table_->product(others, parts.right),
                                     table_->product(formOf(*table_, rest), bound)),
                         steps, facts);
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
  Term rest = *without(part.term, part.atom);
  if (occurrences == 1 && grows == (parts.kind == AtomKind::Greatest) &&
      isProductAtLeastZero(rest.factors, steps) &&
      (isProvenBy(parts.left) || isProvenBy(parts.right)))
    return true;
  return isProvenBy(parts.left) && isProvenBy(parts.right);
}

/// A form with a quotient alone in one term, as one that is not negative in the same cases:
/// q <= g is x < (g + 1)*d, and q >= -g is x >= -g*d.
Form Facts::byDividend(Form form, const Term& term, const AtomParts& parts) const {
  Form others = table_->sum(form, formOf(*table_, term), -1);
  if (term.coefficient > 0)
    return table_->sum(parts.left, table_->product(others, parts.right));
  Form next = table_->product(table_->sum(others, table_->number(1)), parts.right);
  return table_->sum(table_->sum(next, parts.left, -1), table_->number(1), -1);
}

/// Whether a product of atoms is not negative; names never are.
bool Facts::isProductAtLeastZero(const std::vector<Atom>& factors, int& steps) const {
  return std::ranges::all_of(factors, [&](Atom factor) {
    return table_->partsOf(factor).kind == AtomKind::Name ||
           isNeverNegative(table_->atom(factor), steps, 0);
  });
}

const Facts::Loop* Facts::innermost(Form form) const {
  std::vector<Name> names = table_->namesIn(form);
  auto found = std::find_if(loops_.rbegin(), loops_.rend(), [&](const Loop& loop) {
    return std::ranges::binary_search(names, loop.variable);
  });
  return found == loops_.rend() ? nullptr : &*found;
}

/// Whether a variable stands in a quotient, or in a lesser or greater part.
bool Facts::isInPart(Form form, Name variable) const {
  return std::ranges::any_of(table_->sumOf(form).terms, [&](const Term& term) {
    return std::ranges::any_of(term.factors, [&](Atom factor) {
      const AtomParts& parts = table_->partsOf(factor);
      return parts.kind != AtomKind::Name &&
             (table_->mentions(parts.left, variable) || table_->mentions(parts.right, variable));
    });
  });
}

/// Puts the end that makes the form least in place of a variable.
bool Facts::byLoop(Form form, const Loop& loop, int& steps, int facts) const {
  Form slope = table_->number(0), others = form;
  Atom variable = table_->sumOf(table_->name(table_->textOf(loop.variable))).terms[0].factors[0];
  const Sum sum = table_->sumOf(form);
  for (const Term& term : sum.terms)
    if (auto rest = without(term, variable)) {
      slope = table_->sum(slope, formOf(*table_, *rest));
      others = table_->sum(others, formOf(*table_, term), -1);
    }
  if (table_->mentions(slope, loop.variable))
    return false;
  if (isNeverNegative(slope, steps, facts))
    return isNeverNegative(others, steps, facts);
  if (!isNeverNegative(table_->sum(table_->number(0), slope, -1), steps, facts))
    return false;
  Form last = withMultiples(table_->sum(loop.end, table_->number(1), -1));
  return isNeverNegative(table_->sum(others, table_->product(slope, last)), steps, facts);
}

/// Whether a fact says so as it stands.
bool Facts::isFact(Form form) const {
  return std::ranges::any_of(holds_, [&](Form fact) {
    auto apart = table_->constantOf(table_->sum(form, withMultiples(fact), -1));
    return apart && *apart >= 0;
  });
}

bool Facts::byFact(Form form, int& steps, int facts) const {
  const Sum wanted = table_->sumOf(form);
  for (auto fact = holds_.rbegin(); fact != holds_.rend(); ++fact) {
    Form known = withMultiples(*fact);
    const Sum given = table_->sumOf(known);
    // As often as makes a term that both have go away.
    std::vector<int64_t> tried;
    for (const Term& term : given.terms) {
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
  }
  return false;
}

/// Whether a form over names alone is not negative at the least that they are, and grows.
bool Facts::bySizes(Form form) const {
  std::map<Name, Form> names;
  for (Name name : table_->namesIn(form)) {
    const std::string& text = table_->textOf(name);
    bool isQuotient = text.back() == '\'';
    auto size = sizes_.find(
        isQuotient ? *table_->find(std::string_view(text).substr(0, text.size() - 1)) : name);
    if (size == sizes_.end() || size->second.least <= 0)
      continue;
    int64_t multiple = isQuotient ? size->second.multiple : 1;
    int64_t least = (size->second.least + multiple - 1) / multiple;
    names.emplace(name, table_->sum(table_->name(text), table_->number(least)));
  }
  const Sum sum = table_->sumOf(names.empty() ? form : table_->replaced(form, names));
  return sum.constant >= 0 && std::ranges::all_of(sum.terms, [&](const Term& term) {
           return term.coefficient > 0 && std::ranges::all_of(term.factors, [&](Atom factor) {
                    return table_->partsOf(factor).kind == AtomKind::Name;
                  });
         });
}

Form Facts::simplified(Form form) const {
  Known known;
  return simplified(form, known);
}

Form Facts::simplified(Form form, Known& known) const {
  if (auto found = known.find(form); found != known.end())
    return found->second;
  const Sum sum = table_->sumOf(form);
  Form result = table_->number(sum.constant);
  for (const Term& term : sum.terms) {
    Form made = table_->number(term.coefficient);
    for (Atom factor : term.factors) {
      const AtomParts parts = table_->partsOf(factor);
      made = table_->product(made, parts.kind == AtomKind::Name ? table_->atom(factor)
                                                                : simplified(parts, known));
    }
    result = table_->sum(result, made);
  }
  return known[form] = result;
}

Form Facts::simplified(const AtomParts& parts, Known& known) const {
  Form left = simplified(parts.left, known), right = simplified(parts.right, known);
  if (parts.kind == AtomKind::Quotient)
    return simplifiedQuotient(left, right);
  Answer answer = isAtLeast(left, right);
  bool isLeast = parts.kind == AtomKind::Least;
  if (answer == Answer::Open)
    return isLeast ? table_->least(left, right) : table_->greatest(left, right);
  return (answer == Answer::Yes) == isLeast ? right : left;
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
        large = table_->sum(large, formOf(*table_, {each.factors, each.coefficient / common}));
      else
        small = table_->sum(small, formOf(*table_, each));
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
