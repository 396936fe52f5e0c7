// Forms are made by drafting a sum and looking for an equal one. Recursion follows the nesting of
// atoms, which is bounded when they are made.
#include "lower/sizes/form.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace sizes {

namespace {

constexpr uint32_t deepest = 32;
constexpr size_t mostTerms = 256;
constexpr size_t mostFactors = 16;

int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

uint64_t hashOf(std::span<const Term> terms, int64_t constant) {
  uint64_t hash = mixed(terms.size(), uint64_t(constant));
  for (const Term& term : terms) {
    hash = mixed(hash, uint64_t(term.coefficient));
    for (Atom factor : term.factors)
      hash = mixed(hash, uint64_t(factor));
  }
  return hash;
}

uint64_t hashOf(const AtomParts& parts) {
  uint64_t forms = uint64_t(parts.left) << 32 | uint64_t(parts.right);
  return mixed(mixed(forms, uint64_t(parts.kind)), uint64_t(parts.name));
}

} // namespace

/// Terms in any order on their way into a table.
class Table::Draft {
public:
  explicit Draft(Table& table) : table_(table) {}

  /// A product of factors in any order.
  void add(Factors left, Factors right, int64_t coefficient) {
    size_t count = left.size() + right.size();
    if (count > mostFactors) {
      table_.isTooLarge_ = true;
      return;
    }
    Atom* place = room(count);
    std::merge(left.begin(), left.end(), right.begin(), right.end(), place);
    terms_.push_back({Factors(place, count), coefficient});
  }

  /// The factors without one of them, if it is there.
  bool without(Factors& factors, Atom atom) {
    const Atom* found = std::find(factors.begin(), factors.end(), atom);
    if (found == factors.end())
      return false;
    Atom* place = room(factors.size() - 1);
    std::copy(found + 1, factors.end(), std::copy(factors.begin(), found, place));
    factors = Factors(place, factors.size() - 1);
    return true;
  }

  Form made(int64_t constant) {
    if (!std::ranges::is_sorted(terms_, {}, &Term::factors))
      std::ranges::sort(terms_, {}, &Term::factors);
    size_t count = 0;
    for (const Term& term : terms_)
      if (count > 0 && terms_[count - 1].factors == term.factors)
        terms_[count - 1].coefficient =
            table_.plus(terms_[count - 1].coefficient, term.coefficient);
      else
        terms_[count++] = term;
    terms_.resize(count);
    std::erase_if(terms_, [](const Term& term) { return term.coefficient == 0; });
    return table_.intern(terms_, constant, false);
  }

private:
  Atom* room(size_t count) {
    if (count <= first_.size() - used_) {
      used_ += count;
      return first_.data() + used_ - count;
    }
    more_.push_back(std::make_unique<Atom[]>(count));
    return more_.back().get();
  }

  Table& table_;
  std::vector<Term> terms_;
  std::array<Atom, 64> first_;
  size_t used_ = 0;
  std::vector<std::unique_ptr<Atom[]>> more_;
};

Table::Table() {
  intern({}, 0, true);
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

Form Table::intern(std::span<const Term> terms, int64_t constant, bool isOwn) {
  if (terms.size() > mostTerms) {
    isTooLarge_ = true;
    return Form{};
  }
  uint64_t hash = hashOf(terms, constant);
  uint32_t found = formOfSum_.find(hash, [&](uint32_t form) {
    return sums_[form].sum.constant == constant && std::ranges::equal(sums_[form].sum.terms, terms);
  });
  if (found != HashIndex::none)
    return Form(found);
  std::span<Term> own = terms_.put(terms);
  Written made{{own, constant}, 0, false};
  for (Term& term : own) {
    if (!isOwn)
      term.factors = Factors(factors_.put({term.factors.begin(), term.factors.size()}));
    for (Atom factor : term.factors) {
      made.names |= atoms_[size_t(factor)].names;
      made.hasParts |= atoms_[size_t(factor)].parts.kind != AtomKind::Name;
    }
  }
  formOfSum_.add(hash, uint32_t(sums_.size()));
  sums_.push_back(made);
  return Form(sums_.size() - 1);
}

Atom Table::intern(const AtomParts& parts) {
  uint64_t hash = hashOf(parts);
  uint32_t found =
      atomOfParts_.find(hash, [&](uint32_t atom) { return atoms_[atom].parts == parts; });
  if (found == HashIndex::none) {
    AtomRow row{parts, 0, 0};
    if (parts.kind == AtomKind::Name)
      row.names = setOf(parts.name);
    else
      for (Form part : {parts.left, parts.right}) {
        row.names |= sums_[size_t(part)].names;
        for (const Term& term : sumOf(part).terms)
          for (Atom factor : term.factors)
            row.depth = std::max(row.depth, atoms_[size_t(factor)].depth + 1);
      }
    found = uint32_t(atoms_.size());
    atomOfParts_.add(hash, found);
    atoms_.push_back(row);
  }
  isTooLarge_ |= atoms_[found].depth > deepest;
  return Atom(found);
}

Form Table::number(int64_t value) {
  return intern({}, value, true);
}

Form Table::name(std::string_view text) {
  uint64_t hash = std::hash<std::string_view>()(text);
  uint32_t found = nameOfText_.find(hash, [&](uint32_t name) { return names_[name].text == text; });
  if (found == HashIndex::none) {
    found = uint32_t(names_.size());
    nameOfText_.add(hash, found);
    Atom own = intern({.kind = AtomKind::Name, .name = Name(found)});
    names_.push_back({std::string(text), own});
  }
  return name(Name(found));
}

Form Table::atom(Atom atom) {
  // The first form is a number, and none of an atom.
  if (atoms_[size_t(atom)].form == Form{}) {
    Term term{{&atom, 1}, 1};
    Form form = intern({&term, 1}, 0, false);
    atoms_[size_t(atom)].form = form;
  }
  return atoms_[size_t(atom)].form;
}

Form Table::term(const Term& term) {
  return intern({&term, 1}, 0, false);
}

std::optional<Form> Table::without(const Term& term, Atom atom) {
  Draft draft(*this);
  Factors factors = term.factors;
  if (!draft.without(factors, atom))
    return std::nullopt;
  if (factors.empty())
    return number(term.coefficient);
  draft.add(factors, {}, term.coefficient);
  return draft.made(0);
}

Form Table::sum(Form a, Form b, int64_t scale) {
  const Sum left = sumOf(a), right = sumOf(b);
  int64_t constant = plus(left.constant, times(right.constant, scale));
  constexpr size_t usual = 16;
  std::array<Term, usual> few;
  std::vector<Term> many;
  if (left.terms.size() + right.terms.size() > usual)
    many.resize(left.terms.size() + right.terms.size());
  Term *begin = many.empty() ? few.data() : many.data(), *next = begin;
  auto first = left.terms.begin(), second = right.terms.begin();
  while (first != left.terms.end() || second != right.terms.end()) {
    auto order = second == right.terms.end() ? std::strong_ordering::less
                 : first == left.terms.end() ? std::strong_ordering::greater
                                             : first->factors <=> second->factors;
    if (order < 0) {
      *next++ = *first++;
      continue;
    }
    int64_t coefficient = times(second->coefficient, scale);
    if (order == 0)
      coefficient = plus(first++->coefficient, coefficient);
    if (coefficient != 0)
      *next++ = {second->factors, coefficient};
    ++second;
  }
  return intern({begin, next}, constant, true);
}

Form Table::product(Form a, Form b) {
  const Sum left = sumOf(a), right = sumOf(b);
  if (left.terms.empty() || right.terms.empty())
    return left.terms.empty() ? sum(number(0), b, left.constant)
                              : sum(number(0), a, right.constant);
  Draft draft(*this);
  for (const Term& term : left.terms) {
    for (const Term& other : right.terms)
      draft.add(term.factors, other.factors, times(term.coefficient, other.coefficient));
    if (right.constant != 0)
      draft.add(term.factors, {}, times(term.coefficient, right.constant));
  }
  if (left.constant != 0)
    for (const Term& other : right.terms)
      draft.add({}, other.factors, times(other.coefficient, left.constant));
  return draft.made(times(left.constant, right.constant));
}

/// Writes `a` as divisor * whole + left, with as much in `whole` as its terms allow.
bool Table::divide(Form a, Form divisor, Form& whole, Form& left) {
  const Sum by = sumOf(divisor), from = sumOf(a);
  if (by.terms.size() + (by.constant != 0) != 1)
    return false;
  int64_t scale = by.terms.empty() ? by.constant : by.terms[0].coefficient;
  Draft wholes(*this), lefts(*this);
  int64_t constant = 0, leftConstant = from.constant;
  for (const Term& term : from.terms) {
    Factors factors = term.factors;
    bool isWhole = term.coefficient % scale == 0;
    if (isWhole && !by.terms.empty())
      for (Atom atom : by.terms[0].factors)
        isWhole = isWhole && wholes.without(factors, atom);
    if (!isWhole)
      lefts.add(term.factors, {}, term.coefficient);
    else if (factors.empty())
      constant = term.coefficient / scale;
    else
      wholes.add(factors, {}, term.coefficient / scale);
  }
  if (by.terms.empty()) {
    constant = plus(constant, floorDivide(from.constant, scale));
    leftConstant = from.constant - times(floorDivide(from.constant, scale), scale);
  }
  whole = wholes.made(constant);
  left = lefts.made(leftConstant);
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
    std::vector<Term> smaller(sum.terms.begin(), sum.terms.end());
    for (Term& term : smaller)
      term.coefficient /= common;
    return quotient(intern(smaller, floorDivide(sum.constant, common), true),
                    number(divisor / common));
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
  if (auto between = apart(a, b))
    return *between <= 0 ? a : b;
  return atom(intern({AtomKind::Least, {}, std::min(a, b), std::max(a, b)}));
}

Form Table::greatest(Form a, Form b) {
  if (auto between = apart(a, b))
    return *between >= 0 ? a : b;
  return atom(intern({AtomKind::Greatest, {}, std::min(a, b), std::max(a, b)}));
}

std::optional<int64_t> Table::constantOf(Form form) const {
  const Sum sum = sumOf(form);
  return sum.terms.empty() ? std::optional(sum.constant) : std::nullopt;
}

std::optional<int64_t> Table::apart(Form a, Form b) const {
  const Sum left = sumOf(a), right = sumOf(b);
  int64_t between = 0;
  if (__builtin_sub_overflow(left.constant, right.constant, &between) ||
      !std::ranges::equal(left.terms, right.terms))
    return std::nullopt;
  return between;
}

std::optional<Name> Table::find(std::string_view text) const {
  uint32_t found = nameOfText_.find(std::hash<std::string_view>()(text),
                                    [&](uint32_t name) { return names_[name].text == text; });
  return found == HashIndex::none ? std::nullopt : std::optional(Name(found));
}

std::optional<Name> Table::nameOf(Form form) const {
  const Sum sum = sumOf(form);
  if (sum.constant != 0 || sum.terms.size() != 1 || sum.terms[0].coefficient != 1 ||
      sum.terms[0].factors.size() != 1)
    return std::nullopt;
  const AtomParts parts = partsOf(sum.terms[0].factors[0]);
  return parts.kind == AtomKind::Name ? std::optional(parts.name) : std::nullopt;
}

std::vector<Name> Table::namesIn(Form form) const {
  std::vector<Name> names;
  if (names_.size() <= 64) {
    for (NameSet left = sums_[size_t(form)].names; left != 0; left &= left - 1)
      names.push_back(Name(std::countr_zero(left)));
    return names;
  }
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
        const AtomParts parts = partsOf(factor);
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
  if ((sums_[size_t(form)].names & setOf(name)) == 0)
    return false;
  return names_.size() <= 64 || std::ranges::binary_search(namesIn(form), name);
}

Form Table::replaced(Form form, const std::map<Name, Form>& names) {
  NameSet set = 0;
  for (const auto& [name, by] : names)
    set |= setOf(name);
  std::map<Form, Form> known;
  return replaced(form, names, set, known);
}

/// `known` are forms that are parts of others, and what became of them.
Form Table::replaced(Form form, const std::map<Name, Form>& names, NameSet set,
                     std::map<Form, Form>& known) {
  if ((sums_[size_t(form)].names & set) == 0)
    return form;
  auto partReplaced = [&](Form part) {
    auto found = known.find(part);
    return found != known.end() ? found->second : known[part] = replaced(part, names, set, known);
  };
  const Sum sum = sumOf(form);
  std::vector<Term> same;
  Form changed = number(0);
  for (const Term& term : sum.terms) {
    auto isChanged = [&](Atom factor) { return (atoms_[size_t(factor)].names & set) != 0; };
    if (std::ranges::none_of(term.factors, isChanged)) {
      same.push_back(term);
      continue;
    }
    Form made = number(term.coefficient);
    for (Atom factor : term.factors) {
      const AtomParts parts = partsOf(factor);
      Form by = atom(factor);
      if (parts.kind == AtomKind::Name) {
        if (auto found = names.find(parts.name); found != names.end())
          by = found->second;
      } else if (isChanged(factor)) {
        Form left = partReplaced(parts.left), right = partReplaced(parts.right);
        by = parts.kind == AtomKind::Quotient ? quotient(left, right)
             : parts.kind == AtomKind::Least  ? least(left, right)
                                              : greatest(left, right);
      }
      made = product(made, by);
    }
    changed = this->sum(changed, made);
  }
  return this->sum(intern(same, sum.constant, true), changed);
}

Form Table::replaced(Form form, Atom atom, Form by) {
  const Sum sum = sumOf(form);
  std::vector<Term> same;
  Form changed = number(0);
  for (const Term& term : sum.terms) {
    if (std::ranges::find(term.factors, atom) == term.factors.end()) {
      same.push_back(term);
      continue;
    }
    Form made = number(term.coefficient);
    for (Atom factor : term.factors)
      made = product(made, factor == atom ? by : this->atom(factor));
    changed = this->sum(changed, made);
  }
  return this->sum(intern(same, sum.constant, true), changed);
}

std::optional<int64_t> Table::valueOf(Form form, std::span<const int64_t> names) const {
  const Sum sum = sumOf(form);
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
  const AtomParts parts = partsOf(atom);
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
