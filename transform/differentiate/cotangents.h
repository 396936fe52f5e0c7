// Cotangents on the way back through a block: for each variable what it has gathered so far.
//
// Nothing gathered is zero, and no zero is ever written down unless a value of that type has to be
// handed on. A tuple gathers field by field, so that a projection costs nothing, and so does a data
// type of one constructor, once more comes than one value.
#pragma once

#include "transform/differentiate/derivative_types.h"

namespace transform {

/// A cotangent in parts: the fields of a tuple or a record, or one atom for anything else, also for
/// a record; zero when empty.
struct Cotangent {
  lang::Atom sum = nullptr;
  std::vector<Cotangent> fields = {};

  bool isZero() const;
};

/// The parts of a cotangent that came as one value.
Cotangent split(lang::BlockBuilder& out, lang::Atom whole, const lang::Type* type);
/// The cotangents of the fields of a record.
std::vector<Cotangent> fieldsOf(DerivativeTypes& types, lang::BlockBuilder& out,
                                const Cotangent& record, const lang::Type* type);
/// Adds to a cotangent of a value of that type.
void accumulate(DerivativeTypes& types, lang::BlockBuilder& out, Cotangent& into,
                const lang::Type* type, const Cotangent& more);
/// The cotangent as one atom, also in the form that programs are given; `value` is what it belongs
/// to, for the zeros that are needed.
lang::Atom whole(DerivativeTypes& types, lang::BlockBuilder& out, const Cotangent& parts,
                 lang::Atom value, const lang::Type* type, Form form = Form::Cotangent);

/// The cotangent of each tensor of a result or operand, null for zero; and the other way.
std::vector<lang::Atom> leavesOf(const Cotangent& parts, const lang::Type* type);
Cotangent gathered(const std::vector<lang::Atom>& leaves, const lang::Type* type);

/// By variable, in the order of their numbers.
using Cotangents = std::map<uint32_t, std::pair<const lang::Var*, Cotangent>>;

} // namespace transform
