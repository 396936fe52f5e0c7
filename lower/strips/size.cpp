// Forms are kept once each, so equal forms have equal numbers. They are few, so lists are searched
// from end to end.
#include "lower/strips/size.h"

#include "runtime/scalar_meaning.h"

#include <algorithm>

namespace lower {

namespace {

int64_t floorQuotient(int64_t a, int64_t b) {
  return runtime::applied<runtime::ScalarFunction::FloorDivide>(a, b);
}

bool multiplyAdd(int64_t& sum, int64_t a, int64_t b) {
  int64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}

/// What stands for no bound, or for a value that is not known.
bool isEnd(int64_t value) {
  return value == INT64_MIN || value == INT64_MAX;
}
bool isEnd(Size size) {
  return size.isConstant() && isEnd(size.number);
}

/// sum + factor * bound, or `end` when there is no such bound.
int64_t boundPlus(int64_t sum, int64_t factor, int64_t bound, int64_t end) {
  return isEnd(sum) || isEnd(bound) || !multiplyAdd(sum, factor, bound) ? end : sum;
}

/// For lists so short that sorting them is not worth its code.
void insertInOrder(List<uint32_t>& list, uint32_t value) {
  list.insert(std::ranges::find_if(list, [=](uint32_t other) { return other > value; }), value);
}

/// Parameters are taken to be no more than this, so that few products can pass 64 bits.
int64_t mostOf(int64_t parameter) {
  constexpr int64_t usual = int64_t(1) << 20, large = int64_t(1) << 31;
  return parameter <= usual ? usual : parameter <= large ? large : INT64_MAX;
}

} // namespace

Sizes::Sizes(std::span<const int64_t> parameters) : parameters_(parameters.size()), forms_(1) {
  for (int64_t parameter : parameters)
    atoms_.push_back({AtomKind::Parameter, false, true, 0, 0, {0, mostOf(parameter)}, parameter});
}

Size Sizes::parameter(size_t i) {
  Term term{uint32_t(i), 1};
  return {atoms_[i].value, formOf({&term, 1}, 0)};
}

std::span<const Sizes::Term> Sizes::termsOf(Size size) const {
  const Form& form = forms_[size.form];
  return std::span(terms_).subspan(form.first, form.count);
}

int64_t Sizes::constantOf(Size size) const {
  return size.isConstant() ? size.number : forms_[size.form].constant;
}

/// The number of a form; terms are in the order of their atoms, and not zero.
uint32_t Sizes::formOf(std::span<const Term> terms, int64_t constant) {
  if (terms.empty())
    return 0;
  uint64_t hash = uint64_t(constant);
  for (const Term& term : terms)
    hash = (hash * 31 + term.atom) * 31 + uint64_t(term.coefficient);
  auto isSameTerm = [](const Term& a, const Term& b) {
    return a.atom == b.atom && a.coefficient == b.coefficient;
  };
  for (uint32_t i = 1; i < forms_.size(); ++i) {
    const Form& form = forms_[i];
    if (form.hash == uint32_t(hash) && form.constant == constant &&
        std::ranges::equal(termsOf(Size(0, i)), terms, isSameTerm))
      return i;
  }
  Form form;
  form.first = uint32_t(terms_.size());
  form.count = uint32_t(terms.size());
  form.hash = uint32_t(hash);
  form.constant = constant;
  form.isNegated = terms[0].coefficient < 0;
  terms_.append(terms);
  uint32_t number = uint32_t(forms_.size());
  form.base = number;
  forms_.push_back(form);
  if (terms.size() > 1 && (form.isNegated || constant != 0)) {
    Terms positive(terms);
    for (Term& term : positive)
      term.coefficient = form.isNegated ? -term.coefficient : term.coefficient;
    uint32_t base = formOf(positive, 0);
    forms_[number].base = base;
  }
  return number;
}

/// The form of an operand of a quotient, which constants have too.
uint32_t Sizes::operandOf(Size size) {
  if (!size.isConstant())
    return size.form;
  for (uint32_t i = 1; i < forms_.size(); ++i)
    if (forms_[i].count == 0 && forms_[i].constant == size.number)
      return i;
  Form form;
  form.constant = size.number;
  forms_.push_back(form);
  return uint32_t(forms_.size() - 1);
}

uint32_t Sizes::atomOf(AtomKind kind, uint32_t left, uint32_t right, Interval interval) {
  for (uint32_t i = uint32_t(parameters_); i < atoms_.size(); ++i)
    if (atoms_[i].kind == kind && atoms_[i].left == left && atoms_[i].right == right)
      return i;
  atoms_.push_back({kind, false, false, left, right, interval});
  isAlone_ |= !evaluate(atoms_.back());
  return uint32_t(atoms_.size() - 1);
}

void Sizes::factorsOf(uint32_t atom, List<uint32_t>& factors) const {
  for (; atoms_[atom].kind == AtomKind::Product; atom = atoms_[atom].left)
    insertInOrder(factors, atoms_[atom].right);
  insertInOrder(factors, atom);
}

/// Factors are in order, so products of the same ones are one atom.
uint32_t Sizes::productOf(const List<uint32_t>& factors) {
  uint32_t product = factors[0];
  for (size_t i = 1; i < factors.size(); ++i)
    product = atomOf(AtomKind::Product, product, factors[i], {});
  return product;
}

/// Adds a term to those that are there in the order of atoms; false where its coefficient, the
/// product of two, is so large that a few of them would pass 64 bits.
bool Sizes::add(Terms& terms, uint32_t atom, int64_t first, int64_t second) {
  constexpr int64_t most = int64_t(1) << 56;
  Term term{atom, 0};
  if (__builtin_mul_overflow(first, second, &term.coefficient) || term.coefficient < -most ||
      term.coefficient > most)
    return false;
  auto place =
      std::ranges::find_if(terms, [&](const Term& other) { return other.atom >= term.atom; });
  if (place == terms.end() || place->atom != atom)
    terms.insert(place, term);
  else if ((place->coefficient += term.coefficient) == 0)
    terms.erase(place);
  return true;
}

/// A size with these terms. Where a form would be too long or pass 64 bits, or forms are so many
/// that looking for equal ones takes long, it is a number, and from then on all are.
Size Sizes::made(int64_t number, const Terms& terms, int64_t constant, bool fits) {
  constexpr size_t mostTerms = 32, mostForms = 4096;
  isAlone_ |=
      !fits || constant <= -INT64_MAX || terms.size() > mostTerms || forms_.size() > mostForms;
  return isAlone_ ? Size(number) : Size(number, formOf(terms, constant));
}

std::optional<Size> Sizes::sum(Size a, Size b, int64_t factor) {
  int64_t number = a.number, constant = constantOf(a);
  if (!multiplyAdd(number, b.number, factor))
    return std::nullopt;
  if (isAlone_ || (a.isConstant() && b.isConstant()))
    return Size(number);
  bool fits = multiplyAdd(constant, constantOf(b), factor);
  Terms terms(termsOf(a));
  for (const Term& term : termsOf(b))
    fits = factor == 0 || (fits && add(terms, term.atom, term.coefficient, factor));
  return made(number, terms, constant, fits);
}

std::optional<Size> Sizes::product(Size a, Size b) {
  if (b.isConstant())
    return sum(0, a, b.number);
  if (a.isConstant())
    return sum(0, b, a.number);
  constexpr size_t mostTerms = 16;
  int64_t number = 0;
  if (__builtin_mul_overflow(a.number, b.number, &number))
    return std::nullopt;
  Terms left(termsOf(a)), right(termsOf(b));
  isAlone_ |= left.size() * right.size() > mostTerms;
  if (isAlone_)
    return Size(number);
  // Constants are terms, too, but for their product.
  Terms terms;
  int64_t ofLeft = constantOf(a), ofRight = constantOf(b), constant = 0;
  bool fits = multiplyAdd(constant, ofLeft, ofRight);
  for (const Term& x : left) {
    fits = fits && (ofRight == 0 || add(terms, x.atom, x.coefficient, ofRight));
    for (const Term& y : right) {
      List<uint32_t> factors;
      factorsOf(x.atom, factors);
      factorsOf(y.atom, factors);
      fits = fits && add(terms, productOf(factors), x.coefficient, y.coefficient);
    }
  }
  for (const Term& y : right)
    fits = fits && (ofLeft == 0 || add(terms, y.atom, y.coefficient, ofLeft));
  return made(number, terms, constant, fits);
}

/// The product without the factors of another one, which are in it; none where they are not.
uint32_t Sizes::quotientOf(uint32_t product, uint32_t divisor) {
  List<uint32_t> factors, others;
  factorsOf(product, factors);
  factorsOf(divisor, others);
  for (uint32_t other : others) {
    auto found = std::ranges::find(factors, other);
    if (found == factors.end() || factors.size() == 1)
      return none;
    factors.erase(found);
  }
  return productOf(factors);
}

/// a = whole * divisor + left, term by term. False when the divisor is a sum.
bool Sizes::splitTerms(Size a, Size divisor, Size& whole, Size& left) {
  int64_t constant = constantOf(a), unit = divisor.number, ofWhole = 0;
  uint32_t atom = none;
  if (divisor.isConstant()) {
    ofWhole = floorQuotient(constant, unit);
    constant -= ofWhole * unit;
  } else {
    if (termsOf(divisor).size() != 1 || constantOf(divisor) != 0)
      return false;
    atom = termsOf(divisor)[0].atom;
    unit = termsOf(divisor)[0].coefficient;
  }
  if (unit <= 0)
    return false;
  Terms terms(termsOf(a)), quotients, others;
  bool fits = true;
  for (const Term& term : terms) {
    bool isWhole = term.coefficient % unit == 0;
    int64_t quotient = term.coefficient / unit;
    uint32_t rest = atom == none || !isWhole ? term.atom : quotientOf(term.atom, atom);
    if (isWhole && atom == term.atom)
      ofWhole += quotient;
    else if (isWhole && rest != none)
      fits &= add(quotients, rest, quotient, 1);
    else
      fits &= add(others, term.atom, term.coefficient, 1);
  }
  left = {a.number, formOf(others, constant)};
  if (left.isConstant())
    left.number = constant;
  else if (!fits || !evaluate(forms_[left.form], left.number))
    return false;
  whole = {(a.number - left.number) / divisor.number, formOf(quotients, ofWhole)};
  return true;
}

Size Sizes::quotient(Size a, Size divisor) {
  int64_t number = floorQuotient(a.number, divisor.number);
  if (isAlone_ || (a.isConstant() && divisor.isConstant()))
    return number;
  Size whole, left;
  if (!splitTerms(a, divisor, whole, left)) {
    whole = 0;
    left = a;
  }
  auto room = sum(divisor, left, -1);
  if (isKnownAtLeast(left, 0) && room && isKnownAtLeast(*room, 1))
    return whole;
  if (left.isConstant() && divisor.isConstant())
    return sum(whole, floorQuotient(left.number, divisor.number)).value_or(number);
  Interval above = boundsOf(left), below = boundsOf(divisor), interval;
  int64_t least = std::max<int64_t>(below.low, 1);
  if (!isEnd(above.high))
    interval.high = above.high < 0 ? -1 : above.high / least;
  if (!isEnd(above.low))
    interval.low = above.low < 0 ? floorQuotient(above.low, least)
                                 : (isEnd(below.high) ? 0 : above.low / below.high);
  uint32_t first = operandOf(left), second = operandOf(divisor);
  uint32_t atom = atomOf(AtomKind::Quotient, first, second, interval);
  Term term{atom, 1};
  Size rounded(floorQuotient(left.number, divisor.number), formOf({&term, 1}, 0));
  return sum(whole, rounded).value_or(number);
}

Size Sizes::rest(Size a, Size divisor) {
  auto whole = product(quotient(a, divisor), divisor);
  auto left = whole ? sum(a, *whole, -1) : std::nullopt;
  int64_t number = runtime::applied<runtime::ScalarFunction::FloorMod>(a.number, divisor.number);
  isAlone_ |= !left;
  return left.value_or(number);
}

Sizes::Interval Sizes::boundsOf(uint32_t atom) const {
  Interval bounds = atoms_[atom].interval;
  if (atoms_[atom].kind != AtomKind::Product)
    return bounds;
  // Of factors that are not negative, the products of their bounds.
  Interval product{1, 1};
  for (uint32_t rest = atom;; rest = atoms_[rest].left) {
    bool isLast = atoms_[rest].kind != AtomKind::Product;
    const Interval& factor = atoms_[isLast ? rest : atoms_[rest].right].interval;
    if (factor.low < 0)
      return bounds;
    product.high = boundPlus(0, product.high, factor.high, INT64_MAX);
    if (__builtin_mul_overflow(product.low, factor.low, &product.low))
      product.low = 0;
    if (isLast)
      break;
  }
  return {std::max(bounds.low, product.low), std::min(bounds.high, product.high)};
}

Sizes::Interval Sizes::boundsOf(Size size) const {
  if (size.isConstant())
    return {size.number, size.number};
  const Form& form = forms_[size.form];
  Interval bounds{form.constant, form.constant};
  for (const Term& term : termsOf(size)) {
    Interval each = boundsOf(term.atom);
    bool isNegative = term.coefficient < 0;
    bounds.low =
        boundPlus(bounds.low, term.coefficient, isNegative ? each.high : each.low, INT64_MIN);
    bounds.high =
        boundPlus(bounds.high, term.coefficient, isNegative ? each.low : each.high, INT64_MAX);
  }
  const Interval& own = forms_[form.base].interval;
  int64_t sign = form.isNegated ? -1 : 1;
  int64_t low = boundPlus(form.constant, sign, form.isNegated ? own.high : own.low, INT64_MIN);
  int64_t high = boundPlus(form.constant, sign, form.isNegated ? own.low : own.high, INT64_MAX);
  return {std::max(bounds.low, low), std::min(bounds.high, high)};
}

bool Sizes::isKnownAtLeast(Size a, Size b) {
  if ((a.isConstant() && b.isConstant()) || isEnd(a) || isEnd(b))
    return a.isConstant() && b.isConstant() && a.number >= b.number;
  auto difference = sum(a, b, -1);
  return difference && boundsOf(*difference).low >= 0;
}

bool Sizes::isAtLeast(Size a, Size b) {
  bool answer = a.number >= b.number;
  if ((a.isConstant() && b.isConstant()) || isEnd(a) || isEnd(b))
    return answer;
  auto difference = sum(a, b, -1);
  isAlone_ |= !difference;
  if (!difference || difference->isConstant())
    return answer;
  Interval bounds = boundsOf(*difference);
  if (bounds.low < 0 && bounds.high >= 0)
    note(*difference, answer);
  return answer;
}

bool Sizes::isSame(Size a, Size b) {
  if (a.number == b.number)
    return isAtLeast(a, b) && isAtLeast(b, a);
  if (a.number > b.number)
    std::swap(a, b);
  // The smaller one is below b, whose number is not the least one.
  isLess(a, b);
  return false;
}

/// Notes whether a form with terms is at least zero, as bounds of its only atom or of its base.
void Sizes::note(Size difference, bool isAtLeastZero) {
  const Form& form = forms_[difference.form];
  bool isOfAtom = form.count == 1;
  Term term = terms_[form.first];
  int64_t coefficient = isOfAtom ? term.coefficient : form.isNegated ? -1 : 1;
  Interval& interval = isOfAtom ? atoms_[term.atom].interval : forms_[form.base].interval;
  if (isOfAtom)
    atoms_[term.atom].isCondition = true;
  // coefficient * x >= least, or less than that.
  int64_t least = -form.constant, size = std::abs(coefficient);
  int64_t up = -floorQuotient(-least, size), down = floorQuotient(-least, size);
  if (coefficient > 0 && isAtLeastZero)
    interval.low = std::max(interval.low, up);
  else if (coefficient > 0)
    interval.high = std::min(interval.high, up - 1);
  else if (isAtLeastZero)
    interval.high = std::min(interval.high, down);
  else
    interval.low = std::max(interval.low, down + 1);
}

int64_t Sizes::exact(Size size) {
  isSame(size, size.number);
  return size.number;
}

double Sizes::magnitude(Size size) {
  constexpr int64_t many = 16;
  constexpr double ofFew = 6, ofMany = 200;
  if (Interval bounds = boundsOf(size); bounds.low == bounds.high)
    return double(bounds.low);
  return isAtLeast(size, many) ? ofMany : ofFew;
}

bool Sizes::evaluate(const Form& form, int64_t& value) const {
  value = form.constant;
  for (uint32_t i = form.first; i < form.first + form.count; ++i)
    if (!multiplyAdd(value, terms_[i].coefficient, atoms_[terms_[i].atom].value))
      return false;
  return true;
}

bool Sizes::evaluate(Atom& atom) const {
  if (atom.kind == AtomKind::Product)
    return !__builtin_mul_overflow(atoms_[atom.left].value, atoms_[atom.right].value, &atom.value);
  int64_t dividend = 0, divisor = 0;
  if (!evaluate(forms_[atom.left], dividend) || !evaluate(forms_[atom.right], divisor) ||
      divisor <= 0)
    return false;
  atom.value = floorQuotient(dividend, divisor);
  return true;
}

void Sizes::need(const Form& form) {
  for (uint32_t i = form.first; i < form.first + form.count; ++i)
    atoms_[terms_[i].atom].isNeeded = true;
}

void Sizes::close() {
  for (uint32_t i = 1; i < forms_.size(); ++i)
    if (forms_[i].isUsed || forms_[i].interval.isBounded()) {
      neededForms_.push_back(i);
      need(forms_[i]);
    }
  for (size_t i = atoms_.size(); i-- > parameters_;) {
    const Atom& atom = atoms_[i];
    if (!atom.isNeeded && !atom.isCondition)
      continue;
    neededAtoms_.push_back(uint32_t(i));
    if (atom.kind == AtomKind::Quotient) {
      need(forms_[atom.left]);
      need(forms_[atom.right]);
    } else {
      atoms_[atom.left].isNeeded = atoms_[atom.right].isNeeded = true;
    }
  }
  std::ranges::reverse(neededAtoms_);
}

bool Sizes::renew(std::span<const int64_t> parameters) {
  auto isIn = [](int64_t value, const Interval& interval) {
    return value >= interval.low && value <= interval.high;
  };
  if (parameters.size() != parameters_ || isAlone_)
    return false;
  for (size_t i = 0; i < parameters_; ++i) {
    atoms_[i].value = parameters[i];
    if (!isIn(parameters[i], atoms_[i].interval))
      return false;
  }
  for (uint32_t i : neededAtoms_) {
    Atom& atom = atoms_[i];
    if (!evaluate(atom) || (atom.isCondition && !isIn(atom.value, atom.interval)))
      return false;
  }
  for (uint32_t i : neededForms_) {
    Form& form = forms_[i];
    if (!evaluate(form, form.value) || !isIn(form.value, form.interval))
      return false;
  }
  return true;
}

size_t Sizes::bytes() const {
  return sizeof *this + atoms_.capacity() * sizeof(Atom) + terms_.capacity() * sizeof(Term) +
         forms_.capacity() * sizeof(Form) +
         (neededAtoms_.capacity() + neededForms_.capacity()) * sizeof(uint32_t);
}

size_t Sizes::conditions() const {
  auto isForm = [](const Form& form) { return form.interval.isBounded(); };
  auto isAtom = [](const Atom& atom) { return atom.isCondition; };
  return size_t(std::ranges::count_if(forms_, isForm) + std::ranges::count_if(atoms_, isAtom));
}

} // namespace lower
