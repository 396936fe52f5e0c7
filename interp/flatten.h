// A stage of a tensor function as flat code for evaluate.h.
//
// The expression is a graph: a node may have many users, under different conditions and in
// different loops. Code is made of blocks, each of which leaves the value of one node in that
// node's register. A node with one user stands in its user's block. A node with several, or one
// that does not change in its user's innermost loop, has a block of its own, which runs when the
// value is first needed and then again only after the innermost loop among those that it depends on
// has moved. So each value is computed at most once, and only where it counts: a fault in the side
// of a selection that is not chosen is none.
#pragma once

#include "lower/tensor/expression.h"

#include <string>
#include <vector>

namespace interp {

using runtime::DType;

enum class Action : uint8_t {
  /// out = function(operands)
  Apply,
  /// out = operand, as another type
  Cast,
  /// out = the bits of the operand as another type
  Reinterpret,
  /// Runs block `detail`, unless its value is there already.
  Need,
  /// Runs block `detail` if the operand holds, else the next one.
  Branch,
  /// out = the second operand if the first holds, else the third
  Choose,
  /// out = an element, by load `detail`. Outside of the tensor runs the load's block, and then the
  /// next instruction, which is otherwise skipped.
  Load,
  /// out = operand
  Copy,
  /// Starts reduction `detail` and runs its block for each position.
  Reduce,
  /// Ends the block of reduction `detail`.
  Next,
  /// Ends a block of its own, whose value is there from now on.
  Done,
  /// Ends another block.
  Return
};

struct Instruction {
  Action action;
  tensor::ScalarFunction function = {};
  /// Of the first operand and of the value.
  runtime::DType from = {}, type = {};
  uint32_t out = 0;
  uint32_t operands[3] = {0, 0, 0};
  uint32_t detail = 0;
};

inline constexpr uint32_t noBlock = UINT32_MAX;

/// A loop: the registers of its position and extent, and the blocks of their own whose values end
/// when it moves.
struct FlatLoop {
  uint32_t position;
  uint32_t extent;
  uint32_t firstBlock = 0, endBlock = 0;
};

struct FlatLoad {
  uint32_t tensor;
  std::vector<uint32_t> position;
  /// Makes the value outside; noBlock when that is a fault.
  uint32_t outside = noBlock;
};

struct FlatReduce {
  tensor::Combiner combiner;
  runtime::DType from, type;
  std::vector<FlatLoop> loops;
  uint32_t block;
  uint32_t value;
  uint32_t out;
};

/// A register that holds a number from the start.
struct FlatNumber {
  uint32_t out;
  const tensor::ScalarNumber* node;
};

struct FlatStage {
  /// Not empty when the stage cannot run; then nothing else counts.
  std::string problem;
  std::vector<Instruction> code;
  /// Per block its first instruction; blocks of their own come first.
  std::vector<uint32_t> blocks;
  uint32_t ownBlocks = 0;
  std::vector<FlatLoad> loads;
  std::vector<FlatReduce> reduces;
  std::vector<FlatNumber> numbers;
  uint32_t registers = 0;
  /// The registers of the extents of the tensor that the stage defines, which `prologue` fills.
  std::vector<uint32_t> extents;
  uint32_t prologue = noBlock;
  /// Of a Map: its loops, and the block and register of its body.
  std::vector<FlatLoop> loops;
  uint32_t body = noBlock;
  uint32_t value = 0;
};

FlatStage flatten(const tensor::Stage& stage, const tensor::TensorInfo& result);

} // namespace interp
