// Rows by opcode.
#include "vm/operands.h"

#include <algorithm>
#include <array>

namespace vm {

namespace {

constexpr bool hasWord(Op op) {
  return op == Op::Apply || op == Op::Convert || op == Op::Choose || isFusedCall(op);
}

constexpr auto rows = [] {
  using enum OperandKind;
  constexpr std::array table{
#define INSTRUCTION(name, text, handler, a, b, c, tail, doc)                                       \
  InstructionRow{text, a, b, c, tail, doc, hasWord(Op::name)},
#include "vm/instructions.def"
#undef INSTRUCTION
  };
  return table;
}();

} // namespace

const InstructionRow& instructionRow(Op op) {
  return rows[size_t(op)];
}

bool isRegister(OperandKind kind) {
  return (kind >= OperandKind::Out && kind <= OperandKind::Token) || kind == OperandKind::Window;
}

bool isWide(OperandKind kind) {
  using Kind = OperandKind;
  constexpr std::array wide{Kind::Function, Kind::Site, Kind::Static,
                            Kind::Number,   Kind::Long, Kind::LongTarget};
  return std::ranges::find(wide, kind) != wide.end();
}

size_t tailCount(const Program& program, const Word* at) {
  using Kind = OperandKind;
  switch (rows[at->op].tail) {
  case Kind::Fields:
    return program.layouts[at->b].fields.size();
  case Kind::Operands:
    return program.sites[wide(*at)].operands.size();
  case Kind::Arms:
    return at->b;
  default:
    return 0;
  }
}

size_t wordCount(const Program& program, const Word* at) {
  const InstructionRow& row = rows[at->op];
  size_t perWord = row.tail == OperandKind::Arms ? 2 : 4;
  return 1 + size_t(row.hasWord) + (tailCount(program, at) + perWord - 1) / perWord;
}

} // namespace vm
