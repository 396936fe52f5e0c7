// What simplification rules share: terms that are one number everywhere, and shapes that are
// surely the same. The notation is that of gradient rules (gradient.h).
//
// A rule answers at most once: each of the functions below that says what a call `becomes` is true
// when it did.
#pragma once

#include "lang/op/op.h"
#include "lang/rules/simplify.h"
#include "stdlib/ops/gradient.h"

namespace stdlib {

using lang::SimplifyCall;
using lang::SimplifyExample;
using lang::SimplifyRule;
using lang::TermCall;

/// Whether all elements of a tensor are this number.
bool isFilledWith(SimplifyCall& s, Term term, double value);
/// Whether two tensors surely have the same shape.
bool haveOneShape(const SimplifyCall& s, const Term& a, const Term& b);
/// Whether what `x` gives when it is broadcast with `other` surely has the shape of `x`.
bool keepsShape(const SimplifyCall& s, const Term& x, const Term& other);
bool isStatic(lang::Dims shape);
/// The extents of a shape that is made of numbers.
std::vector<int64_t> extentsOf(lang::Dims shape);
/// The elements in a shape that is made of numbers.
Term reshapedTo(const Term& a, lang::Dims shape);
std::vector<lang::Setting> settingsOf(const lang::Attributes& attributes);

/// Becomes operand 0 where the shape of the result is its own: for operators that do nothing but
/// change the shape, or nothing at all.
bool becomesSameShape(SimplifyCall& s);
/// For operators that make nothing but zeros of zeros.
bool becomesZeros(SimplifyCall& s);
/// For operators of which this operand undoes the call of an operator of that name.
bool becomesUndone(SimplifyCall& s, std::string_view op);
/// For operators that give an operand back where the other one is this number.
bool becomesBeside(SimplifyCall& s, size_t operand, double neutral);
/// What a term was before it was repeated, or before dimensions of extent 1 were put in front of
/// it, as broadcasting does by itself.
std::optional<Term> unbroadcast(const SimplifyCall& s, const Term& term);
/// As `unbroadcast`, as often as it goes; the term itself where it does not.
Term broadcastSource(const SimplifyCall& s, Term term);
/// For operators that broadcast two operands, where one was broadcast before.
bool becomesUnbroadcast(SimplifyCall& s);
/// For operators that give the elements of operand 0 another shape, and so may operand 0.
void simplifyView(SimplifyCall& s);

/// A row with a rule.
constexpr lang::OperatorRow simplifiedBy(lang::OperatorRow row, SimplifyRule rule) {
  row.simplify = rule;
  return row;
}

} // namespace stdlib
