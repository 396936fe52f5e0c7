// Rows by opcode.
#include "vm/machine/operands.h"

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
  InstructionRow{a, b, c, tail, hasWord(Op::name)},
#include "vm/machine/instructions.def"
#undef INSTRUCTION
  };
  return table;
}();

constexpr std::array texts{
#define INSTRUCTION(name, text, handler, a, b, c, tail, doc) InstructionText{text, doc},
#include "vm/machine/instructions.def"
#undef INSTRUCTION
};

/// Fowler, Noll and Vo's, with the multiplier for 64 bits.
constexpr uint64_t sumOfRows() {
  uint64_t sum = 0xcbf29ce484222325;
  auto add = [&](uint8_t byte) { sum = (sum ^ byte) * 0x100000001b3; };
  for (size_t op = 0; op < rows.size(); ++op) {
    for (char letter : texts[op].text)
      add(uint8_t(letter));
    for (OperandKind kind : {rows[op].a, rows[op].b, rows[op].c, rows[op].tail})
      add(uint8_t(kind));
  }
  return sum;
}

} // namespace

uint64_t instructionSum() {
  constexpr uint64_t sum = sumOfRows();
  return sum;
}

const InstructionText& instructionText(Op op) {
  return texts[size_t(op)];
}

const InstructionRow& instructionRow(Op op) {
  return rows[size_t(op)];
}

Op familyOf(Op op) {
  constexpr size_t forms = 4;
  constexpr std::array families{
#define INSTRUCTION(...)
#define SIZED(name, ...) Op::name,
#include "vm/machine/instructions.def"
#undef INSTRUCTION
  };
  auto isOf = [op](Op family) { return op >= family && size_t(op) < size_t(family) + forms; };
  auto found = std::ranges::find_if(families, isOf);
  return found == families.end() ? op : *found;
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
