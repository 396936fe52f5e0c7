// Forms: sizes and positions as arithmetic over names, each form once.
//
// lower/sizes/ is where sizes are reasoned about: a form is a constant and a sum of products of
// atoms, which are names, floor quotients, and the lesser or the greater of two forms. A name
// stands for an extent of a tensor or for the variable of a loop, so none is ever negative. Equal
// forms are one number of their table, and a form that is left of a division, `a % b`, is kept as
// `a - b * (a / b)`, so that quotient and rest of one dividend find each other again.
//
// Forms are integers without end as far as this table reasons. Whatever passes 64 bits in its
// coefficients sets isTooLarge(); what the values of a run do is asked of valueOf().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sizes {

/// A form, by its place in its table.
enum class Form : uint32_t {};
/// A name, by the order in which names came to the table.
enum class Name : uint32_t {};
/// A factor of a summand: a name, a quotient, the lesser or the greater of two forms.
enum class Atom : uint32_t {};

enum class AtomKind : uint8_t { Name, Quotient, Least, Greatest };

/// What an atom is made of: a name, or two forms. The divisor of a quotient is positive.
struct AtomParts {
  AtomKind kind;
  Name name = {};
  Form left = {}, right = {};
  friend auto operator<=>(const AtomParts&, const AtomParts&) = default;
};

/// A summand: a product of atoms, in their order, times a coefficient that is not 0.
struct Term {
  std::vector<Atom> factors;
  int64_t coefficient;
  friend auto operator<=>(const Term&, const Term&) = default;
};

/// A form written out; terms are sorted by their factors, each product once.
struct Sum {
  std::vector<Term> terms = {};
  int64_t constant = 0;
  friend auto operator<=>(const Sum&, const Sum&) = default;
};

class Table {
public:
  Table();

  Form number(int64_t value);
  Form name(std::string_view text);
  Form atom(Atom atom);

  /// a + b * scale.
  Form sum(Form a, Form b, int64_t scale = 1);
  Form product(Form a, Form b);
  /// Rounded down; the divisor is known to be positive.
  Form quotient(Form a, Form divisor);
  /// a - divisor * quotient(a, divisor).
  Form rest(Form a, Form divisor);
  /// How many pieces of this size cover `a`: quotient(a + piece - 1, piece).
  Form pieces(Form a, Form piece);
  Form least(Form a, Form b);
  Form greatest(Form a, Form b);

  std::optional<int64_t> constantOf(Form form) const;
  const Sum& sumOf(Form form) const { return sums_[size_t(form)]; }
  const AtomParts& partsOf(Atom atom) const { return atoms_[size_t(atom)]; }
  const std::string& textOf(Name name) const { return names_[size_t(name)]; }
  std::optional<Name> find(std::string_view text) const;
  size_t nameCount() const { return names_.size(); }

  /// The name that a form is, if it is one alone.
  std::optional<Name> nameOf(Form form) const;
  bool mentions(Form form, Name name) const;
  /// The names in a form, in their order.
  std::vector<Name> namesIn(Form form) const;

  /// The form with others in place of names.
  Form replaced(Form form, const std::map<Name, Form>& names);
  /// The form with another in place of an atom that stands in its summands.
  Form replaced(Form form, Atom atom, Form by);

  /// The value for these values of all names; nothing where it, or a part, passes 64 bits.
  std::optional<int64_t> valueOf(Form form, std::span<const int64_t> names) const;

  /// As a text that reads back: `i*6 + j`, `(n + 5)/6`, `k % 4`, `min(n - i*6, 6)`.
  /// `order` has the place of each name; without it names stand in the order of the table. It alone
  /// decides how the text goes, so a table that was read from it writes the same one.
  std::string text(Form form, std::span<const uint32_t> order = {}) const;

  /// Whether some form was made whose coefficients pass 64 bits, or whose parts are nested beyond
  /// all use. What the table says then counts for nothing.
  bool isTooLarge() const { return isTooLarge_; }
  /// Tries something that may be too large, without a trace; gives whether it was.
  template <typename Attempt>
  bool attempt(Attempt&& make) {
    bool before = isTooLarge_;
    isTooLarge_ = false;
    make();
    bool wasTooLarge = isTooLarge_;
    isTooLarge_ = before;
    return !wasTooLarge;
  }

private:
  Form intern(Sum sum);
  Atom intern(const AtomParts& parts);
  Form made(std::map<std::vector<Atom>, int64_t> terms, int64_t constant);
  int64_t plus(int64_t a, int64_t b);
  int64_t times(int64_t a, int64_t b);
  bool divide(Form a, Form divisor, Form& whole, Form& left);
  Form quotientByNumber(Form a, int64_t divisor);
  Form replaced(Form form, const std::map<Name, Form>& names, std::map<Form, Form>& known);
  std::optional<int64_t> valueOf(Atom atom, std::span<const int64_t> names) const;

  std::vector<Sum> sums_;
  std::map<Sum, Form> formOfSum_;
  std::vector<AtomParts> atoms_;
  /// How deep the parts of an atom are nested.
  std::vector<uint32_t> depths_;
  std::map<AtomParts, Atom> atomOfParts_;
  std::vector<std::string> names_;
  std::map<std::string, Name, std::less<>> nameOfText_;
  bool isTooLarge_ = false;
};

} // namespace sizes
