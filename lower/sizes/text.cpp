// Forms as text. What is left of a division is found again in the sum that it was written out as.
#include "lower/sizes/form.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace sizes {

namespace {

/// Items of a sum: a sign and what stands behind it.
struct Item {
  bool isNegative;
  std::string text;
};

/// As an operand of `*`, `/` and `%`.
std::string operand(const std::string& text, bool isAtom) {
  return isAtom ? text : "(" + text + ")";
}

/// A sum that terms are taken out of.
struct Rest {
  explicit Rest(const Sum& sum)
      : terms(sum.terms.begin(), sum.terms.end()), constant(sum.constant) {}

  std::vector<Term> terms;
  int64_t constant;
};

class Writer {
public:
  Writer(const Table& table, std::span<const uint32_t> order) : table_(table), order_(order) {}

  /// Each form is written once, as it may be a part of many.
  const std::string& text(Form form) {
    auto known = texts_.find(form);
    return known != texts_.end() ? known->second
                                 : texts_.emplace(form, written(form)).first->second;
  }

private:
  std::string written(Form form) {
    Rest sum(table_.sumOf(form));
    std::vector<Item> items;
    std::ranges::sort(sum.terms, [&](const Term& a, const Term& b) {
      return std::ranges::lexicographical_compare(keysOf(a), keysOf(b));
    });
    takeRests(sum, items);
    for (const Term& term : sum.terms)
      items.push_back({term.coefficient < 0, product(term)});
    if (sum.constant != 0 || items.empty())
      items.push_back({sum.constant < 0, magnitude(sum.constant)});
    return joined(items);
  }

  static std::string magnitude(int64_t number) {
    return fmt::format("{}", number < 0 ? 0 - uint64_t(number) : uint64_t(number));
  }

  /// What is added first, in order, then what is taken away.
  static std::string joined(const std::vector<Item>& items) {
    std::string text;
    for (bool isNegative : {false, true})
      for (const Item& item : items)
        if (item.isNegative == isNegative) {
          if (isNegative)
            text += text.empty() ? "-" : " - ";
          else if (!text.empty())
            text += " + ";
          text += item.text;
        }
    return text;
  }

  /// What factors are ordered by: names by their places, then all others by their texts.
  using Key = std::pair<uint32_t, std::string>;

  Key keyOf(Atom factor) {
    const AtomParts parts = table_.partsOf(factor);
    if (parts.kind != AtomKind::Name)
      return {UINT32_MAX, atom(parts)};
    size_t name = size_t(parts.name);
    return {name < order_.size() ? order_[name] : uint32_t(name), ""};
  }

  std::vector<Key> keysOf(const Term& term) {
    std::vector<Key> keys;
    for (Atom factor : term.factors)
      keys.push_back(keyOf(factor));
    std::ranges::sort(keys);
    return keys;
  }

  bool isSimple(Form form) {
    const Sum sum = table_.sumOf(form);
    if (sum.terms.empty())
      return sum.constant >= 0;
    return sum.constant == 0 && sum.terms.size() == 1 && sum.terms[0].coefficient == 1 &&
           sum.terms[0].factors.size() == 1 &&
           table_.partsOf(sum.terms[0].factors[0]).kind != AtomKind::Quotient;
  }

  std::string simple(Form form) { return operand(text(form), isSimple(form)); }

  std::string product(const Term& term) {
    std::string text;
    std::vector<Atom> factors(term.factors.begin(), term.factors.end());
    std::ranges::sort(factors, {}, [&](Atom factor) { return keyOf(factor); });
    for (Atom factor : factors) {
      const AtomParts parts = table_.partsOf(factor);
      bool isQuotient = parts.kind == AtomKind::Quotient;
      bool isAlone = term.factors.size() == 1 && magnitude(term.coefficient) == "1";
      text += (text.empty() ? "" : "*") + operand(atom(parts), !isQuotient || isAlone);
    }
    std::string number = magnitude(term.coefficient);
    return number == "1" ? text : text + "*" + number;
  }

  std::string atom(const AtomParts& parts) {
    switch (parts.kind) {
    case AtomKind::Name:
      return table_.textOf(parts.name);
    case AtomKind::Quotient:
      return simple(parts.left) + "/" + simple(parts.right);
    case AtomKind::Least:
      return "min" + sides(parts);
    default:
      return "max" + sides(parts);
    }
  }

  std::string sides(const AtomParts& parts) {
    std::string left = text(parts.left), right = text(parts.right);
    if (right < left)
      std::swap(left, right);
    return fmt::format("({}, {})", left, right);
  }

  /// Takes k*(x - d*(x/d)) out of a sum wherever that leaves less of it.
  void takeRests(Rest& sum, std::vector<Item>& items) {
    for (size_t i = 0; i < sum.terms.size(); ++i)
      if (auto rest = restAt(sum, sum.terms[i])) {
        items.push_back(*std::move(rest));
        i = size_t(-1);
      }
  }

  std::optional<Item> restAt(Rest& sum, const Term& term) {
    for (Atom factor : term.factors) {
      const AtomParts parts = table_.partsOf(factor);
      if (parts.kind != AtomKind::Quotient)
        continue;
      if (auto times = timesOf(term, factor, parts.right)) {
        Rest left = sum;
        std::erase(left.terms, term);
        if (take(left, table_.sumOf(parts.left), *times) &&
            left.terms.size() + 1 < sum.terms.size()) {
          sum = std::move(left);
          return item(*times, simple(parts.left) + " % " + simple(parts.right));
        }
      }
      if (auto rest = restOfQuotient(sum, term, parts))
        return rest;
    }
    return std::nullopt;
  }

  /// (x/c) % d, which stands there as x/c - d*(x/(c*d)).
  std::optional<Item> restOfQuotient(Rest& sum, const Term& term, const AtomParts& parts) {
    auto by = table_.constantOf(parts.right);
    if (!by || term.factors.size() != 1)
      return std::nullopt;
    for (const Term& other : sum.terms) {
      const AtomParts inner = table_.partsOf(other.factors[0]);
      auto part = inner.kind == AtomKind::Quotient ? table_.constantOf(inner.right) : std::nullopt;
      if (other.factors.size() != 1 || !part || inner.left != parts.left || *by % *part != 0 ||
          *by == *part || term.coefficient % (*by / *part) != 0 ||
          other.coefficient != -(term.coefficient / (*by / *part)))
        continue;
      int64_t times = other.coefficient;
      std::string text = fmt::format("{}/{} % {}", simple(parts.left), *part, *by / *part);
      std::erase_if(sum.terms, [taken = std::array{term, other}](const Term& each) {
        return each == taken[0] || each == taken[1];
      });
      return item(times, std::move(text));
    }
    return std::nullopt;
  }

  static Item item(int64_t times, std::string text) {
    if (times != 1 && times != -1)
      text = "(" + text + ")*" + magnitude(times);
    return {times < 0, std::move(text)};
  }

  /// k where the term is -k * divisor * quotient.
  std::optional<int64_t> timesOf(const Term& term, Atom quotient, Form divisor) {
    const Sum by = table_.sumOf(divisor);
    std::vector<Atom> expected{quotient};
    int64_t scale = by.constant;
    if (by.terms.size() == 1 && by.constant == 0) {
      expected.insert(expected.end(), by.terms[0].factors.begin(), by.terms[0].factors.end());
      scale = by.terms[0].coefficient;
    } else if (!by.terms.empty()) {
      return std::nullopt;
    }
    std::ranges::sort(expected);
    if (!std::ranges::equal(expected, term.factors) || scale == 0 || term.coefficient % scale != 0)
      return std::nullopt;
    return -(term.coefficient / scale);
  }

  /// Takes `times` of `part` from a sum; false where that would make a term of its own.
  static bool take(Rest& sum, const Sum& part, int64_t times) {
    for (const Term& term : part.terms) {
      auto found = std::ranges::find(sum.terms, term.factors, &Term::factors);
      if (found == sum.terms.end() || found->coefficient != term.coefficient * times)
        return false;
      sum.terms.erase(found);
    }
    sum.constant -= part.constant * times;
    return true;
  }

  const Table& table_;
  std::span<const uint32_t> order_;
  std::map<Form, std::string> texts_;
};

} // namespace

std::string Table::text(Form form, std::span<const uint32_t> order) const {
  return Writer(*this, order).text(form);
}

} // namespace sizes
