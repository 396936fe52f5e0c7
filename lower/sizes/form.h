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

#include "lower/sizes/knowledge.h"
#include "lower/sizes/terms.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sizes {

enum class AtomKind : uint8_t { Name, Quotient, Least, Greatest };

/// What an atom is made of: a name, or two forms. The divisor of a quotient is positive.
struct AtomParts {
  AtomKind kind;
  Name name = {};
  Form left = {}, right = {};
  friend auto operator<=>(const AtomParts&, const AtomParts&) = default;
};

class Table {
public:
  Table();

  Form number(int64_t value);
  Form name(std::string_view text);
  Form name(Name name) { return atom(names_[size_t(name)].atom); }
  Form atom(Atom atom);
  Form term(const Term& term);
  /// A term with an atom taken out of its factors once.
  std::optional<Form> without(const Term& term, Atom atom);

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
  /// a - b, where that is a number.
  std::optional<int64_t> apart(Form a, Form b) const;
  /// What it views stays as long as the table or a copy of it.
  Sum sumOf(Form form) const { return sums_[size_t(form)].sum; }
  AtomParts partsOf(Atom atom) const { return atoms_[size_t(atom)].parts; }
  const std::string& textOf(Name name) const { return names_[size_t(name)].text; }
  std::optional<Name> find(std::string_view text) const;
  size_t nameCount() const { return names_.size(); }

  /// The name that a form is, if it is one alone.
  std::optional<Name> nameOf(Form form) const;
  bool mentions(Form form, Name name) const;
  /// Whether a form has factors that are no names.
  bool hasParts(Form form) const { return sums_[size_t(form)].hasParts; }
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

  /// What was found out about forms, by who asked (facts.h).
  Knowledge& knowledge() { return knowledge_; }

private:
  /// Names by the low bits of their numbers: of tables with few names the very names.
  using NameSet = uint64_t;

  struct Written {
    Sum sum;
    NameSet names;
    bool hasParts;
  };
  struct AtomRow {
    AtomParts parts;
    NameSet names;
    /// How deep its parts are nested.
    uint32_t depth;
    /// It alone, once somebody asked.
    Form form = {};
  };
  struct NameRow {
    std::string text;
    Atom atom;
  };
  class Draft;

  /// The form of sorted terms; `isOwn` where their factors are those of this table.
  Form intern(std::span<const Term> terms, int64_t constant, bool isOwn);
  Atom intern(const AtomParts& parts);
  static NameSet setOf(Name name) { return NameSet(1) << size_t(name) % 64; }
  int64_t plus(int64_t a, int64_t b);
  int64_t times(int64_t a, int64_t b);
  bool divide(Form a, Form divisor, Form& whole, Form& left);
  Form quotientByNumber(Form a, int64_t divisor);
  Form replaced(Form form, const std::map<Name, Form>& names, NameSet set,
                std::map<Form, Form>& known);
  std::optional<int64_t> valueOf(Atom atom, std::span<const int64_t> names) const;

  Shelf<Term> terms_;
  Shelf<Atom> factors_;
  std::vector<Written> sums_;
  HashIndex formOfSum_;
  std::vector<AtomRow> atoms_;
  HashIndex atomOfParts_;
  std::vector<NameRow> names_;
  HashIndex nameOfText_;
  Knowledge knowledge_;
  bool isTooLarge_ = false;
};

} // namespace sizes
