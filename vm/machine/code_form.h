// The form of the code of one function, before anybody asks what its registers hold: where
// instructions begin, that their numbers are within tables, and that jumps lead on: loops are
// calls, which take fuel, so that limits hold.
#pragma once

#include "runtime/list.h"
#include "vm/machine/operands.h"

namespace vm {

class CodeForm {
public:
  /// Both must outlive this.
  CodeForm(const Program& program, const Function& function)
      : program_(program), function_(function) {}

  /// Looks at all instructions; `at` is where it is. Throws Refused.
  void find(size_t& at);

  /// Whether an instruction of the function begins there.
  bool isStart(size_t place) const { return place < starts_.size() && starts_[place] != 0; }

  /// Calls `visit(int64_t)` for the places in the function, or outside of it, to which an
  /// instruction may jump; `next` is the place behind it.
  template <typename Visit>
  static void forEachTarget(const Word& word, size_t next, Visit&& visit) {
    const InstructionRow& row = instructionRow(Op(word.op));
    if (row.b == OperandKind::LongTarget)
      visit(int64_t(next) + int32_t(wide(word)));
    if (row.c == OperandKind::Target)
      visit(int64_t(next) + int16_t(word.c));
    for (size_t i = 0; row.tail == OperandKind::Arms && i < word.b; ++i)
      visit(int64_t(next) + arm(&word, i));
  }

private:
  void checkNumbers(const Word& word) const;
  void checkNumber(OperandKind kind, uint16_t operand, const Word& word) const;

  const Program& program_;
  const Function& function_;
  runtime::List<uint8_t> starts_;
};

} // namespace vm
