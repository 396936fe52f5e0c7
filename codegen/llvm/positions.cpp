// Recurs as deep as forms are nested, which their table bounds.
#include "codegen/llvm/positions.h"

#include <algorithm>
#include <array>
#include <bit>

namespace codegen {

namespace {

constexpr IrType wholeType{Element::Int64};

} // namespace

IrValue Positions::value(Form form, const sizes::Facts& facts) {
  return written(known(form), nullptr, facts);
}

IrValue Positions::laneValues(Form form, const Lanes& lanes, const sizes::Facts& facts) {
  // The variable itself is fixed where its first value is a number.
  std::map<Name, Form> others = fixed_;
  others.erase(lanes.variable);
  return written(table_.replaced(form, others), &lanes, facts);
}

IrValue Positions::combined(std::string_view instruction, IrValue a, IrValue b) {
  uint32_t lanes = std::max(a.type.lanes, b.type.lanes);
  return text_.binary(instruction, text_.splat(a, lanes), text_.splat(b, lanes));
}

IrValue Positions::written(Form form, const Lanes* lanes, const sizes::Facts& facts) {
  if (auto number = table_.constantOf(form))
    return FunctionText::whole(wholeType, *number);
  const sizes::Sum sum = table_.sumOf(form);
  // What all lanes have is added first.
  Parts parts;
  if (sum.constant != 0)
    parts.scalar = FunctionText::whole(wholeType, sum.constant);
  for (const sizes::Term& term : sum.terms) {
    IrValue value = product(term, lanes, facts);
    auto& part = value.type.lanes == 1 ? parts.scalar : parts.vector;
    part = part ? text_.binary("add nsw", *part, value) : value;
  }
  if (!parts.vector)
    return *parts.scalar;
  return parts.scalar ? combined("add nsw", *parts.vector, *parts.scalar) : *parts.vector;
}

IrValue Positions::product(const sizes::Term& term, const Lanes* lanes,
                           const sizes::Facts& facts) {
  std::optional<IrValue> value;
  for (sizes::Atom factor : term.factors) {
    IrValue next = atom(table_.partsOf(factor), lanes, facts);
    value = value ? combined("mul nsw", *value, next) : next;
  }
  if (term.coefficient == 1)
    return *value;
  return combined("mul nsw", *value, FunctionText::whole(wholeType, term.coefficient));
}

IrValue Positions::atom(const sizes::AtomParts& of, const Lanes* lanes, const sizes::Facts& facts) {
  // Writing makes forms, which may move the table's.
  const sizes::AtomParts parts = of;
  switch (parts.kind) {
  case sizes::AtomKind::Name:
    return lanes && parts.name == lanes->variable ? index(*lanes) : values_.at(parts.name);
  case sizes::AtomKind::Quotient:
    return quotient(parts.left, parts.right, lanes, facts);
  case sizes::AtomKind::Least:
  case sizes::AtomKind::Greatest:
    break;
  }
  IrValue left = written(parts.left, lanes, facts), right = written(parts.right, lanes, facts);
  uint32_t count = std::max(left.type.lanes, right.type.lanes);
  std::array both{text_.splat(left, count), text_.splat(right, count)};
  return text_.intrinsic(parts.kind == sizes::AtomKind::Least ? "llvm.smin" : "llvm.smax", both);
}

IrValue Positions::quotient(Form left, Form right, const Lanes* lanes, const sizes::Facts& facts) {
  IrValue dividend = written(left, lanes, facts), divisor = written(right, lanes, facts);
  auto number = table_.constantOf(right);
  if (number && std::has_single_bit(uint64_t(*number)))
    return combined("ashr", dividend,
                    FunctionText::whole(wholeType, std::countr_zero(uint64_t(*number))));
  if (!facts.proves(right, table_.number(1))) {
    // Nothing is computed for a divisor of 0, but nothing may trap either.
    std::array both{divisor, FunctionText::whole(divisor.type, 1)};
    divisor = text_.intrinsic("llvm.smax", both);
  }
  if (facts.proves(left, table_.number(0)))
    return combined("udiv", dividend, divisor);
  IrValue whole = combined("sdiv", dividend, divisor);
  IrValue rest = combined("sub nsw", dividend, combined("mul nsw", whole, divisor));
  IrValue isBelow = text_.compare("icmp slt", rest, FunctionText::whole(rest.type, 0));
  return combined("add nsw", whole, text_.convert("sext", isBelow, Element::Int64));
}

IrValue Positions::index(const Lanes& lanes) {
  auto number = fixed_.find(lanes.variable);
  IrValue first = number != fixed_.end()
                      ? FunctionText::whole(wholeType, *table_.constantOf(number->second))
                      : values_.at(lanes.variable);
  return text_.binary("add nsw", text_.splat(first, lanes.count),
                      FunctionText::counted(lanes.count));
}

} // namespace codegen
