// Forms are made by adding up terms in a map and interning the sum. Recursion follows the nesting
// of atoms, which is bounded when they are made.
#include "lower/sizes/form.h"

#include <algorithm>
#include <numeric>

namespace sizes {

namespace {

constexpr uint32_t deepest = 32;
constexpr size_t mostTerms = 256;
constexpr size_t mostFactors = 16;

using Terms = std::map<std::vector<Atom>, int64_t>;

int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

/// The factors without one of them, if it is there.
std::optional<std::vector<Atom>> without(std::vector<Atom> factors, Atom atom) {
  auto found = std::ranges::find(factors, atom);
  if (found == factors.end())
    return std::nullopt;
  factors.erase(found);
  return factors;
}

} // namespace

Table::Table() {
  intern(Sum{});
}

int64_t Table::plus(int64_t a, int64_t b) {
  int64_t result;
  isTooLarge_ |= __builtin_add_overflow(a, b, &result);
  return result;
}

int64_t Table::times(int64_t a, int64_t b) {
  int64_t result;
  isTooLarge_ |= __builtin_mul_overflow(a, b, &result);
  return result;
}

Form Table::intern(Sum sum) {
  auto [place, isNew] = formOfSum_.try_emplace(sum, Form(sums_.size()));
  if (isNew)
    sums_.push_back(std::move(sum));
  return place->second;
}

Atom Table::intern(const AtomParts& parts) {
  auto [place, isNew] = atomOfParts_.try_emplace(parts, Atom(atoms_.size()));
  if (!isNew)
    return place->second;
  uint32_t depth = 0;
  if (parts.kind != AtomKind::Name)
    for (Form part : {parts.left, parts.right})
      for (const Term& term : sumOf(part).terms)
        for (Atom factor : term.factors)
          depth = std::max(depth, depths_[size_t(factor)] + 1);
  isTooLarge_ |= depth > deepest;
  atoms_.push_back(parts);
  depths_.push_back(depth);
  return place->second;
}

Form Table::made(Terms terms, int64_t constant) {
  Sum sum{.constant = constant};
  for (auto& [factors, coefficient] : terms)
    if (coefficient != 0)
      sum.terms.push_back({factors, coefficient});
  if (sum.terms.size() > mostTerms) {
    isTooLarge_ = true;
    return Form{};
  }
  return intern(std::move(sum));
}

Form Table::number(int64_t value) {
  return intern(Sum{.constant = value});
}

Form Table::name(std::string_view text) {
  auto found = nameOfText_.find(text);
  if (found == nameOfText_.end()) {
    found = nameOfText_.emplace(text, Name(names_.size())).first;
    names_.emplace_back(text);
  }
  return atom(intern({.kind = AtomKind::Name, .name = found->second}));
}

Form Table::atom(Atom atom) {
  return intern(Sum{.terms = {{{atom}, 1}}});
}

Form Table::sum(Form a, Form b, int64_t scale) {
  const Sum &left = sumOf(a), &right = sumOf(b);
  Sum sum{.constant = plus(left.constant, times(right.constant, scale))};
  sum.terms.reserve(left.terms.size() + right.terms.size());
  auto first = left.terms.begin(), second = right.terms.begin();
  while (first != left.terms.end() || second != right.terms.end()) {
    bool isFirst = second == right.terms.end() ||
                   (first != left.terms.end() && first->factors < second->factors);
    if (isFirst) {
      sum.terms.push_back(*first++);
      continue;
    }
    Term term{second->factors, times(second->coefficient, scale)};
    if (first != left.terms.end() && first->factors == second->factors)
      term.coefficient = plus(first++->coefficient, term.coefficient);
    ++second;
    if (term.coefficient != 0)
      sum.terms.push_back(std::move(term));
  }
  if (sum.terms.size() > mostTerms) {
    isTooLarge_ = true;
    return Form{};
  }
  return intern(std::move(sum));
}

Form Table::product(Form a, Form b) {
  Terms terms;
  auto add = [&](const std::vector<Atom>& left, const std::vector<Atom>& right, int64_t number) {
    std::vector<Atom> factors = left;
    factors.insert(factors.end(), right.begin(), right.end());
    std::ranges::sort(factors);
    if (factors.size() > mostFactors) {
      isTooLarge_ = true;
      return;
    }
    int64_t& coefficient = terms[std::move(factors)];
    coefficient = plus(coefficient, number);
  };
  const Sum &left = sumOf(a), &right = sumOf(b);
  if (left.terms.empty() || right.terms.empty())
    return left.terms.empty() ? sum(number(0), b, left.constant)
                              : sum(number(0), a, right.constant);
  for (const Term& term : left.terms) {
    for (const Term& other : right.terms)
      add(term.factors, other.factors, times(term.coefficient, other.coefficient));
    if (right.constant != 0)
      add(term.factors, {}, times(term.coefficient, right.constant));
  }
  if (left.constant != 0)
    for (const Term& other : right.terms)
      add({}, other.factors, times(other.coefficient, left.constant));
  return made(std::move(terms), times(left.constant, right.constant));
}

/// Writes `a` as divisor * whole + left, with as much in `whole` as its terms allow.
bool Table::divide(Form a, Form divisor, Form& whole, Form& left) {
  const Sum by = sumOf(divisor), from = sumOf(a);
  if (by.terms.size() + (by.constant != 0) != 1)
    return false;
  int64_t scale = by.terms.empty() ? by.constant : by.terms[0].coefficient;
  Terms wholes, lefts;
  for (const Term& term : from.terms) {
    std::optional<std::vector<Atom>> factors = term.factors;
    if (!by.terms.empty())
      for (Atom atom : by.terms[0].factors)
        if (factors)
          factors = without(*std::move(factors), atom);
    if (factors && term.coefficient % scale == 0)
      wholes[*std::move(factors)] = term.coefficient / scale;
    else
      lefts[term.factors] = term.coefficient;
  }
  int64_t constant = 0, leftConstant = from.constant;
  if (auto pure = wholes.extract(std::vector<Atom>{}))
    constant = pure.mapped();
  if (by.terms.empty()) {
    constant = plus(constant, floorDivide(from.constant, scale));
    leftConstant = from.constant - times(floorDivide(from.constant, scale), scale);
  }
  whole = made(std::move(wholes), constant);
  left = made(std::move(lefts), leftConstant);
  return true;
}

Form Table::quotient(Form a, Form divisor) {
  Form whole = number(0), left = a;
  if (constantOf(divisor) == 1)
    return a;
  if (divide(a, divisor, whole, left) && constantOf(left) == 0)
    return whole;
  if (auto by = constantOf(divisor))
    return *by <= 0 ? number(0) : sum(whole, quotientByNumber(left, *by));
  return sum(whole, atom(intern({.kind = AtomKind::Quotient, .left = left, .right = divisor})));
}

/// Of what no whole part can be taken out of.
Form Table::quotientByNumber(Form a, int64_t divisor) {
  if (auto value = constantOf(a))
    return number(floorDivide(*value, divisor));
  const Sum sum = sumOf(a);
  int64_t common = divisor;
  for (const Term& term : sum.terms)
    common = std::gcd(common, term.coefficient);
  if (common > 1) {
    Sum smaller{.constant = floorDivide(sum.constant, common)};
    for (const Term& term : sum.terms)
      smaller.terms.push_back({term.factors, term.coefficient / common});
    return quotient(intern(std::move(smaller)), number(divisor / common));
  }
  if (sum.terms.size() == 1 && sum.terms[0].coefficient == 1 && sum.terms[0].factors.size() == 1) {
    const AtomParts inner = partsOf(sum.terms[0].factors[0]);
    auto by = inner.kind == AtomKind::Quotient ? constantOf(inner.right) : std::nullopt;
    if (by)
      return quotient(this->sum(inner.left, number(times(sum.constant, *by))),
                      number(times(*by, divisor)));
  }
  return atom(intern({.kind = AtomKind::Quotient, .left = a, .right = number(divisor)}));
}

Form Table::rest(Form a, Form divisor) {
  return sum(a, product(divisor, quotient(a, divisor)), -1);
}

Form Table::pieces(Form a, Form piece) {
  return quotient(sum(sum(a, piece), number(1), -1), piece);
}

Form Table::least(Form a, Form b) {
  if (auto apart = constantOf(sum(a, b, -1)))
    return *apart <= 0 ? a : b;
  return atom(intern({AtomKind::Least, {}, std::min(a, b), std::max(a, b)}));
}

Form Table::greatest(Form a, Form b) {
  if (auto apart = constantOf(sum(a, b, -1)))
    return *apart >= 0 ? a : b;
  return atom(intern({AtomKind::Greatest, {}, std::min(a, b), std::max(a, b)}));
}

std::optional<int64_t> Table::constantOf(Form form) const {
  const Sum& sum = sumOf(form);
  return sum.terms.empty() ? std::optional(sum.constant) : std::nullopt;
}

std::optional<Name> Table::find(std::string_view text) const {
  auto found = nameOfText_.find(text);
  return found == nameOfText_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Name> Table::nameOf(Form form) const {
  const Sum& sum = sumOf(form);
  if (sum.constant != 0 || sum.terms.size() != 1 || sum.terms[0].coefficient != 1 ||
      sum.terms[0].factors.size() != 1)
    return std::nullopt;
  const AtomParts& parts = partsOf(sum.terms[0].factors[0]);
  return parts.kind == AtomKind::Name ? std::optional(parts.name) : std::nullopt;
}

std::vector<Name> Table::namesIn(Form form) const {
  std::vector<Name> names;
  std::vector<Form> stack{form};
  std::vector<bool> isSeen(sums_.size());
  while (!stack.empty()) {
    Form next = stack.back();
    stack.pop_back();
    if (isSeen[size_t(next)])
      continue;
    isSeen[size_t(next)] = true;
    for (const Term& term : sumOf(next).terms)
      for (Atom factor : term.factors) {
        const AtomParts& parts = partsOf(factor);
        if (parts.kind == AtomKind::Name)
          names.push_back(parts.name);
        else
          stack.insert(stack.end(), {parts.left, parts.right});
      }
  }
  std::ranges::sort(names);
  auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

bool Table::mentions(Form form, Name name) const {
  return std::ranges::binary_search(namesIn(form), name);
}

Form Table::replaced(Form form, const std::map<Name, Form>& names) {
  std::map<Form, Form> known;
  return replaced(form, names, known);
}

/// `known` are forms that are parts of others, and what became of them.
Form Table::replaced(Form form, const std::map<Name, Form>& names, std::map<Form, Form>& known) {
  if (auto found = known.find(form); found != known.end())
    return found->second;
  const Sum sum = sumOf(form);
  Form result = number(sum.constant);
  for (const Term& term : sum.terms) {
    Form made = number(term.coefficient);
    for (Atom factor : term.factors) {
      const AtomParts parts = partsOf(factor);
      Form by = atom(factor);
      if (parts.kind == AtomKind::Name) {
        if (auto found = names.find(parts.name); found != names.end())
          by = found->second;
      } else {
        Form left = replaced(parts.left, names, known), right = replaced(parts.right, names, known);
        by = parts.kind == AtomKind::Quotient ? quotient(left, right)
             : parts.kind == AtomKind::Least  ? least(left, right)
                                              : greatest(left, right);
      }
      made = product(made, by);
    }
    result = this->sum(result, made);
  }
  return known[form] = result;
}

Form Table::replaced(Form form, Atom atom, Form by) {
  const Sum sum = sumOf(form);
  Form result = number(sum.constant);
  for (const Term& term : sum.terms) {
    Form made = number(term.coefficient);
    for (Atom factor : term.factors)
      made = product(made, factor == atom ? by : this->atom(factor));
    result = this->sum(result, made);
  }
  return result;
}

std::optional<int64_t> Table::valueOf(Form form, std::span<const int64_t> names) const {
  const Sum& sum = sumOf(form);
  int64_t total = sum.constant;
  for (const Term& term : sum.terms) {
    int64_t value = term.coefficient;
    for (Atom factor : term.factors) {
      auto by = valueOf(factor, names);
      if (!by || __builtin_mul_overflow(value, *by, &value))
        return std::nullopt;
    }
    if (__builtin_add_overflow(total, value, &total))
      return std::nullopt;
  }
  return total;
}

std::optional<int64_t> Table::valueOf(Atom atom, std::span<const int64_t> names) const {
  const AtomParts& parts = partsOf(atom);
  if (parts.kind == AtomKind::Name)
    return size_t(parts.name) < names.size() ? std::optional(names[size_t(parts.name)])
                                             : std::nullopt;
  auto left = valueOf(parts.left, names), right = valueOf(parts.right, names);
  if (!left || !right)
    return std::nullopt;
  switch (parts.kind) {
  case AtomKind::Quotient:
    return *right > 0 ? std::optional(floorDivide(*left, *right)) : std::nullopt;
  case AtomKind::Least:
    return std::min(*left, *right);
  default:
    return std::max(*left, *right);
  }
}

} // namespace sizes
