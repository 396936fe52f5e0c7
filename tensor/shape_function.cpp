// Steps in order over one row of values.
#include "tensor/shape_function.h"

#include <algorithm>

namespace tensor {

namespace {

using Step = ShapeFunction::Step;
using Instruction = ShapeFunction::Instruction;

bool holds(const Instruction& need, const int64_t* values) {
  int64_t value = values[need.left];
  switch (need.step) {
  case Step::NeedsEqual:
    return value == values[need.right];
  case Step::NeedsNumber:
    return value == need.number;
  case Step::NeedsAtLeast:
    return value >= need.number;
  default:
    return value % need.number == 0;
  }
}

/// False when the result passes 64 bits.
bool compute(const Instruction& instruction, const int64_t* values, int64_t& result) {
  int64_t left = values[instruction.left], number = instruction.number;
  switch (instruction.step) {
  case Step::Number:
    result = number;
    return true;
  case Step::Add:
    return !__builtin_add_overflow(left, values[instruction.right], &result);
  case Step::AddNumber:
    return !__builtin_add_overflow(left, number, &result);
  case Step::Multiply:
    return !__builtin_mul_overflow(left, values[instruction.right], &result);
  case Step::Scale:
    return !__builtin_mul_overflow(left, number, &result);
  default:
    result = left / number - (left % number < 0 ? 1 : 0);
    return true;
  }
}

} // namespace

bool ShapeFunction::apply(std::span<const int64_t> operands, std::span<int64_t> found) const {
  if (operands.size() != operandExtents || found.size() != results.size())
    return false;
  int64_t values[mostValues];
  std::ranges::copy(operands, values);
  size_t next = operandExtents;
  for (const Instruction& instruction : instructions) {
    if (instruction.step >= Step::NeedsEqual ? !holds(instruction, values)
                                             : !compute(instruction, values, values[next++]))
      return false;
  }
  for (size_t i = 0; i < found.size(); ++i)
    found[i] = values[results[i]];
  return true;
}

const char* problemOf(const ShapeFunction& function, size_t operands, size_t results) {
  size_t values = function.operandExtents;
  if (values != operands || function.results.size() != results ||
      values > ShapeFunction::mostValues)
    return "a shape function is for other operands or results";
  for (const Instruction& each : function.instructions) {
    bool isNeed = each.step >= Step::NeedsEqual;
    bool takesLeft = each.step != Step::Number;
    bool takesRight =
        each.step == Step::Add || each.step == Step::Multiply || each.step == Step::NeedsEqual;
    bool divides = each.step == Step::FloorDivide || each.step == Step::NeedsMultiple;
    // A left value is looked at even where it does not count.
    bool isGood = each.left < (takesLeft ? values : ShapeFunction::mostValues) &&
                  (!takesRight || each.right < values) && (!divides || each.number > 0);
    if (!isGood || (!isNeed && ++values > ShapeFunction::mostValues))
      return "a shape function takes what it has not";
  }
  for (uint16_t result : function.results)
    if (result >= values)
      return "a shape function gives what it has not";
  return nullptr;
}

bool holds(std::span<const KnownExtent> known, std::span<const int64_t> extents) {
  return std::ranges::all_of(known, [&](const KnownExtent& each) {
    return each.place >= extents.size() ||
           extents[each.place] ==
               (each.same == KnownExtent::none ? each.number : extents[each.same]);
  });
}

} // namespace tensor
