// Shape functions: the shape of a call's result as arithmetic on numbers.
//
// They are made of relations (lang/op/shape_function.h), which answer about names; names can stand
// for any size, so a shape function knows when it does not apply: where sizes that must be equal
// are not, or a bound is broken. Then the relation has to be asked about the numbers; it has the
// words for what is wrong, or another answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tensor {

/// The extents of a result from those of the operands. Extents stand in one row: those of the first
/// tensor, of the second and so on, the fields of a tuple in their order.
struct ShapeFunction {
  enum class Step : uint8_t {
    Number,
    AddNumber,
    Scale,
    FloorDivide,
    Add,
    Multiply,
    /// The other one of two of which one is 1, or what both are; of others there is none.
    Broadcast,
    Lesser,
    Greater,
    NeedsEqual,
    NeedsNumber,
    NeedsAtLeast,
    NeedsMultiple
  };
  /// Takes the values `left` and `right`, or `left` and `number`. A step that is no need gives the
  /// next value; the extents of the operands are the first ones.
  struct Instruction {
    Step step;
    uint16_t left = 0;
    uint16_t right = 0;
    int64_t number = 0;
  };
  static constexpr size_t mostValues = 192;

  size_t operandExtents = 0;
  std::vector<Instruction> instructions = {};
  /// The values that are the extents of the results.
  std::vector<uint16_t> results = {};

  /// Fills in the extents of the result; false when the relation must be asked. Allocates nothing.
  bool apply(std::span<const int64_t> operands, std::span<int64_t> found) const;
};

/// What is wrong with a function that somebody may have made up, for operands and results with so
/// many extents; null when nothing is.
const char* problemOf(const ShapeFunction& function, size_t operands, size_t results);

/// What is known of one extent in a row of them: a number, or that it is the same as an earlier
/// one.
struct KnownExtent {
  static constexpr uint32_t none = UINT32_MAX;

  uint32_t place;
  uint32_t same = none;
  int64_t number = 0;
};

/// Whether a row is as is known; what is known of extents behind its end is left out.
bool holds(std::span<const KnownExtent> known, std::span<const int64_t> extents);

} // namespace tensor
