// What the operands of instructions are: the columns of instructions.def as data.
#pragma once

#include "vm/machine/program.h"

#include <string_view>

namespace vm {

enum class OperandKind : uint8_t {
  __,
  Out,
  In,
  OwnedOut,
  Ref,
  LentOut,
  Taken,
  Token,
  Result,
  Layout,
  Tag,
  Count,
  Signature,
  Function,
  Site,
  Static,
  Number,
  Window,
  Short,
  Long,
  Target,
  LongTarget,
  Fields,
  Operands,
  Arms
};

struct InstructionRow {
  OperandKind a, b, c, tail;
  /// Whether a word with more operands follows.
  bool hasWord = false;
};

const InstructionRow& instructionRow(Op op);

/// What people read of an instruction; no run needs it.
struct InstructionText {
  std::string_view text;
  std::string_view doc;
};

const InstructionText& instructionText(Op op);

/// Tells tables of instructions apart: a sum over names and operands of all.
uint64_t instructionSum();

/// Of an instruction for some number of fields the one for any number, behind which the others
/// follow in order; of any other instruction it itself.
Op familyOf(Op op);

/// Whether a register is meant.
bool isRegister(OperandKind kind);
/// Whether operands b and c are one number.
bool isWide(OperandKind kind);

/// How many registers or targets an instruction's tail has.
size_t tailCount(const Program& program, const Word* at);
/// How many words an instruction takes with its tail.
size_t wordCount(const Program& program, const Word* at);

} // namespace vm
