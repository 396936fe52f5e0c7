// Sizes: numbers that know how they come from the extents of a call, so that a plan made for some
// extents can be given others.
//
// A Size is a number together with a form over parameters, the extents that a plan leaves open.
// Arithmetic gives forms as well as numbers. Whoever decides anything by a Size asks Sizes, which
// answers from the number and notes what the answer takes for granted, as bounds of forms. All
// extents that fulfil these conditions are of one class: planning would ask them the same and get
// the same answers, so they have one plan, with other numbers. What is read off `number` without a
// question must be right for all numbers, as costs are, or be derived again for each of them.
#pragma once

#include "runtime/list.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
namespace lower {

using runtime::List;

struct Size {
  Size() = default;
  Size(int64_t constant) : number(constant) {}
  Size(int64_t value, uint32_t of) : number(value), form(of) {}

  bool isConstant() const { return form == 0; }

  int64_t number = 0;
  /// Of whose forms this is the value; 0 is that of all constants.
  uint32_t form = 0;
};

/// The forms of one plan and the conditions of its class. A form is a constant and a sum of
/// products of atoms: parameters and floor quotients.
class Sizes {
public:
  /// No parameters: all sizes are constants.
  Sizes() : Sizes(std::span<const int64_t>{}) {}
  /// Parameters with these numbers, none of them negative.
  explicit Sizes(std::span<const int64_t> parameters);

  size_t parameters() const { return parameters_; }
  Size parameter(size_t i);

  /// a + b * factor. Nothing where the number passes 64 bits; whoever goes on then must be right
  /// for all numbers.
  std::optional<Size> sum(Size a, Size b, int64_t factor = 1);
  std::optional<Size> product(Size a, Size b);
  /// Rounded down; the divisor is known to be positive.
  Size quotient(Size a, Size divisor);
  /// What is left of `a` behind quotient().
  Size rest(Size a, Size divisor);

  // Questions. The ends of int64 stand for what is not known: comparing with them notes nothing.
  bool isAtLeast(Size a, Size b);
  bool isLess(Size a, Size b) { return !isAtLeast(a, b); }
  bool isSame(Size a, Size b);
  /// The number, which all of the class have.
  int64_t exact(Size size);
  /// About how large it is: a constant's number, of others what tells few from many.
  double magnitude(Size size);

  /// What all of the class answer; false when that is not known. Notes nothing.
  bool isKnownAtLeast(Size a, Size b);

  /// Notes that the plan is for these numbers alone.
  void setAlone() { isAlone_ = true; }
  /// Notes that the plan needs this form.
  void use(uint32_t form) { forms_[form].isUsed = true; }
  /// Ends planning: what renew() needs is found once.
  void close();
  /// Takes other numbers for the parameters; false when they are not of the class, or 64 bits do
  /// not hold what becomes of them.
  bool renew(std::span<const int64_t> parameters);
  /// The value of a form that is used, after renew().
  int64_t valueOf(uint32_t form) const { return forms_[form].value; }

  /// About how much memory it takes.
  size_t bytes() const;
  /// Of how many forms the class bounds the values.
  size_t conditions() const;

private:
  /// Both ends included; the ends of int64 mean none.
  struct Interval {
    int64_t low = INT64_MIN, high = INT64_MAX;

    bool isBounded() const { return low != INT64_MIN || high != INT64_MAX; }
  };
  enum class AtomKind : uint8_t { Parameter, Product, Quotient };
  /// A product is of two atoms, the second of which is none itself; a quotient is of two forms.
  struct Atom {
    AtomKind kind;
    bool isNeeded = false;
    /// Whether the interval is more than what follows from the operands.
    bool isCondition = false;
    uint32_t left = 0, right = 0;
    Interval interval = {};
    int64_t value = 0;
  };
  struct Term {
    uint32_t atom;
    int64_t coefficient;
  };
  using Terms = List<Term>;
  /// Of forms of several terms that differ in constant and sign one is the base, which has the
  /// bounds.
  struct Form {
    uint32_t first = 0, count = 0;
    uint32_t hash = 0;
    uint32_t base = 0;
    bool isNegated = false;
    bool isUsed = false;
    int64_t constant = 0;
    Interval interval = {};
    int64_t value = 0;
  };
  static constexpr uint32_t none = UINT32_MAX;

  std::span<const Term> termsOf(Size size) const;
  int64_t constantOf(Size size) const;
  uint32_t formOf(std::span<const Term> terms, int64_t constant);
  uint32_t operandOf(Size size);
  uint32_t atomOf(AtomKind kind, uint32_t left, uint32_t right, Interval interval);
  uint32_t productOf(const List<uint32_t>& factors);
  static bool add(Terms& terms, uint32_t atom, int64_t first, int64_t second);
  void factorsOf(uint32_t atom, List<uint32_t>& factors) const;
  uint32_t quotientOf(uint32_t product, uint32_t divisor);
  bool splitTerms(Size a, Size divisor, Size& whole, Size& left);
  Size made(int64_t number, const Terms& terms, int64_t constant, bool fits);
  Interval boundsOf(uint32_t atom) const;
  Interval boundsOf(Size size) const;
  void note(Size difference, bool isAtLeastZero);
  bool evaluate(const Form& form, int64_t& value) const;
  bool evaluate(Atom& atom) const;
  void need(const Form& form);

  size_t parameters_ = 0;
  List<Atom> atoms_;
  Terms terms_;
  List<Form> forms_;
  /// Something has no form, so the class has these numbers alone.
  bool isAlone_ = false;
  /// What renew() computes, after close(): atoms, and forms that are used or bounded.
  List<uint32_t> neededAtoms_, neededForms_;
};

} // namespace lower
