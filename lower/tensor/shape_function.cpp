// Steps in order over one row of values.
#include "lower/tensor/shape_function.h"

#include <algorithm>

namespace tensor {

namespace {

using Step = ShapeFunction::Step;
using Instruction = ShapeFunction::Instruction;

/// False when a need is not met, the result passes 64 bits, or there is none.
bool compute(const Instruction& instruction, const int64_t* values, int64_t& result) {
  int64_t left = values[instruction.left], right = values[instruction.right];
  int64_t number = instruction.number;
  switch (instruction.step) {
  case Step::Number:
    result = number;
    return true;
  case Step::AddNumber:
    return !__builtin_add_overflow(left, number, &result);
  case Step::Scale:
    return !__builtin_mul_overflow(left, number, &result);
  case Step::FloorDivide:
    result = left / number - (left % number < 0 ? 1 : 0);
    return true;
  case Step::Add:
    return !__builtin_add_overflow(left, right, &result);
  case Step::Multiply:
    return !__builtin_mul_overflow(left, right, &result);
  case Step::Broadcast:
    result = left == 1 ? right : left;
    return left == 1 || right == 1 || left == right;
  case Step::Lesser:
    result = std::min(left, right);
    return true;
  case Step::Greater:
    result = std::max(left, right);
    return true;
  case Step::NeedsEqual:
    return left == right;
  case Step::NeedsNumber:
    return left == number;
  case Step::NeedsAtLeast:
    return left >= number;
  case Step::NeedsMultiple:
    break;
  }
  return left % number == 0;
}

} // namespace

bool ShapeFunction::apply(std::span<const int64_t> operands, std::span<int64_t> found) const {
  if (operands.size() != operandExtents || found.size() != results.size())
    return false;
  int64_t values[mostValues];
  std::ranges::copy(operands, values);
  size_t next = operandExtents;
  for (const Instruction& instruction : instructions) {
    int64_t result;
    if (!compute(instruction, values, result))
      return false;
    if (instruction.step < Step::NeedsEqual)
      values[next++] = result;
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
    bool takesTwo = each.step >= Step::Add && each.step <= Step::NeedsEqual;
    bool divides = each.step == Step::FloorDivide || each.step == Step::NeedsMultiple;
    // Values are looked at even where they do not count.
    bool isGood = each.left < (takesLeft ? values : ShapeFunction::mostValues) &&
                  each.right < (takesTwo ? values : ShapeFunction::mostValues) &&
                  (!divides || each.number > 0);
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
