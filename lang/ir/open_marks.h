// How a call of an operator says, in a module that is not completed, what types are to decide: by
// attributes beside its own. `dtype` alone: its result is an open number, whose element type its
// use decides. `count`: it makes an int64 of a number that counts something. `computed`: its shape
// is computed from numbers that are sizes. `sized`: and it is bound by a let that is there for the
// type to be declared, which is no more needed where the sizes turn out to be numbers. `attribute`:
// each argument behind the operands gives the attribute that such a mark names, which has to turn
// out to be numbers. `quotient`: it is written `/`, which rounds quotients of integers down.
// `brackets`: its positions stand in brackets, where truth values pick. Of a call of a value
// `argument` names one of the last arguments each, which may be one of the function that a record
// means.
#pragma once

#include "lang/ir/expr.h"

#include <algorithm>
#include <vector>

namespace lang {

inline constexpr std::string_view numberMark = "dtype", countMark = "count",
                                  computedMark = "computed", sizedMark = "sized",
                                  attributeMark = "attribute", quotientMark = "quotient",
                                  bracketsMark = "brackets", argumentMark = "argument";

inline bool isMarked(const Call& call, std::string_view mark) {
  return call.callee.value->as<OperatorRef>() &&
         std::ranges::count(call.named, mark, &NamedAttribute::name) > 0;
}
inline bool isNumberMark(const Call& call) {
  return isMarked(call, numberMark);
}
inline bool isCountMark(const Call& call) {
  return isMarked(call, countMark);
}
/// The attributes that the last arguments give, behind the operands.
inline std::vector<std::string_view> attributeMarksOf(const Call& call) {
  std::vector<std::string_view> names;
  for (const NamedAttribute& mark : call.named)
    if (mark.name == attributeMark && call.callee.value->as<OperatorRef>())
      names.push_back(mark.value.text);
  return names;
}
/// The names of the last arguments of a call of a value.
inline std::vector<std::string_view> argumentNamesOf(const Call& call) {
  std::vector<std::string_view> names;
  for (const NamedAttribute& mark : call.named)
    if (mark.name == argumentMark)
      names.push_back(mark.value.text);
  return names;
}
inline bool isQuotientMark(const Call& call) {
  return isMarked(call, quotientMark);
}
inline bool isBracketsMark(const Call& call) {
  return isMarked(call, bracketsMark);
}
inline bool isComputedMark(const Call& call) {
  return isMarked(call, computedMark);
}
inline bool isSizedMark(const Call& call) {
  return isMarked(call, sizedMark);
}

/// Attributes with an element type in place of one that is left out.
const Attributes* withElement(Arena& arena, const Attributes& attributes, runtime::DType dtype);

} // namespace lang
