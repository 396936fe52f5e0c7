// Shape functions: the relation of one call site as arithmetic on numbers.
//
// A relation answers with types, which are interned; a machine that meets a new shape at every call
// has no use for types. So the relation is asked once about names in place of the sizes, and its
// answer, forms over these names, becomes a few steps of arithmetic. That a relation says the same
// of names as of numbers is what tests/unit/operator_symbolic_test.cpp holds every row to.
//
// Names can stand for any size, so a shape function knows when it does not apply: where sizes that
// must be equal are not, or a bound is broken. Then the relation has to be asked about the numbers;
// it has the words for what is wrong, or another answer, as for a dimension that broadcasts.
#pragma once

#include "lang/leaves.h"
#include "lang/op.h"

#include <cstdint>

namespace lang {

/// The extents of a result from those of the operands. Extents stand in one row: those of the first
/// tensor, of the second and so on, the fields of a tuple in their order.
class ShapeFunction {
public:
  /// Fills in the extents of the result; false when the relation must be asked. Allocates nothing.
  bool apply(std::span<const int64_t> operands, std::span<int64_t> results) const;

  size_t operandExtents() const { return inputCount_; }
  size_t resultExtents() const { return results_.size(); }

private:
  friend class ShapeCompiler;

  enum class Step : uint8_t {
    Number,
    Add,
    AddNumber,
    Multiply,
    Scale,
    FloorDivide,
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

  static bool holds(const Instruction& need, const int64_t* values);
  static bool compute(const Instruction& instruction, const int64_t* values, int64_t& result);

  size_t inputCount_ = 0;
  std::vector<Instruction> instructions_;
  std::vector<uint16_t> results_;
};

/// The shape function of calls with operands of these types: each name, form or unknown size stands
/// for any number, equal ones for equal numbers, and each `?` for one of its own. Nothing when the
/// relation cannot tell without numbers or needs values.
std::optional<ShapeFunction> shapeFunction(const OperatorRow& row, Types operands,
                                           const Attributes& attributes);

/// The type with `change` applied to the dimensions of its tensors in order, made in `types`, which
/// may be another context.
const Type* withDims(TypeContext& types, const Type* type,
                     const std::function<const Dim*(const Dim*)>& change);

} // namespace lang
