// What is known of names, and what follows from it for forms.
//
// A question has three answers. `Open` is no error: whoever asks then leaves a condition in the
// code, or does without. Facts are explicit: what a kernel assumes of its sizes, the loops around a
// place, and the conditions that it stands under. Nothing is read off example numbers.
//
// The way of a proof that f >= 0 (the rules are in the notes on loop nests): quotients give way to
// what bounds them, the variables of loops to the end that makes f least, innermost first; sizes
// are at least what is assumed of them. A fact that is at hand may be taken off f on the way.
#pragma once

#include "lower/sizes/form.h"

namespace sizes {

enum class Answer : uint8_t { No, Yes, Open };

class Facts {
public:
  explicit Facts(Table& table) : table_(&table) {}

  /// A size is at least so large, and a multiple of this.
  void assume(Name size, int64_t least, int64_t multiple);
  /// Inside of a loop whose variable takes 0 .. end - 1; loops are told outermost first.
  void enter(Name variable, Form end);
  /// The variables of the loops around, outermost first.
  std::vector<Name> loops() const;
  /// form >= 0.
  void hold(Form form);
  /// All that, as one number of the table.
  Scope scope() const { return scope_; }

  Answer isAtLeast(Form a, Form b) const;
  Answer isLess(Form a, Form b) const { return isAtLeast(b, table_->sum(a, table_->number(1))); }
  bool proves(Form a, Form isAtLeast) const { return this->isAtLeast(a, isAtLeast) == Answer::Yes; }
  /// Whether two forms are one number.
  bool areSame(Form a, Form b) const;
  /// Whether 0 <= position < extent.
  bool isInside(Form position, Form extent) const;

  /// The form with quotients, lesser and greater parts gone that these facts decide.
  Form simplified(Form form) const;

private:
  /// An atom and the term that it stands in.
  struct Part {
    Term term;
    Atom atom;
  };

  void know(const Known& known) { scope_ = table_->knowledge().inside(known); }
  /// The innermost thing that is known, or one around it, for which `is` holds.
  template <typename Is>
  std::optional<Known> findKnown(Is&& is) const;
  std::optional<Known> sizeOf(Name name) const;
  bool isProven(Form larger, Form smaller) const;
  bool isNeverNegative(Form form, int& steps, int facts) const;
  bool hasParts(const Term& term) const;
  std::optional<Form> withoutOthers(Form form) const;
  std::optional<Part> nextPart(Form form) const;
  bool byBoundedPart(Form form, const Part& part, int& steps, int facts) const;
  bool byChoice(Form form, const Part& part, int& steps, int facts) const;
  Form byDividend(Form form, const Term& term, const AtomParts& parts) const;
  std::optional<Known> innermost(Form form) const;
  bool isInPart(Form form, Name variable) const;
  bool byLoop(Form form, const Known& loop, int& steps, int facts) const;
  Form lessened(Form form) const;
  bool isFact(Form form) const;
  bool byFact(Form form, int& steps, int facts) const;
  bool bySizes(Form form) const;
  std::optional<Known> sizeBehind(Name name) const;
  bool isProductAtLeastZero(Form product, int& steps) const;
  Form withMultiples(Form form) const;
  Form simplifiedTerm(const Term& term) const;
  Form simplified(const AtomParts& parts) const;
  std::optional<Form> withoutSmall(Form left, int64_t divisor) const;
  Form simplifiedQuotient(Form left, Form right) const;

  Table* table_;
  Scope scope_ = {};
  bool hasMultiples_ = false;
};

} // namespace sizes
