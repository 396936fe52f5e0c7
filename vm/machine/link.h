// From the code of a program to what the loop runs.
#pragma once

#include "vm/machine/program.h"

#include <span>

namespace vm {

/// Which operand of an instruction in a chain (linked.def) is what the one before it gave: b, c, or
/// a of a test.
enum class Use : uint8_t { Left, Right, Tested };

/// What linked code has as `op`: where the loop has the code of the instruction, or numbers as
/// before for a loop that lets every instruction be seen.
struct LinkedOps {
  /// By number, those of linked.def behind a program's.
  std::span<const uint16_t> places = {};

  bool areNumbers() const { return places.empty(); }
  uint16_t of(size_t number) const { return areNumbers() ? uint16_t(number) : places[number]; }
  uint16_t of(Op op) const { return of(size_t(op)); }

  /// What calls look for that end at once.
  uint16_t returns = of(Op::Return);
  uint16_t returnsLong = of(Op::ReturnLong);
  uint16_t returnsField = of(Op::ReturnField);
};

/// The program's code, in which calls say how far away the function is, and switches count from
/// their own place. Unless ops are numbers, calls that go with the first instruction of the
/// function are made one with it; they say how far away what is behind its first word is, which
/// most of them go on with.
std::vector<Word> linkedCode(const Program& program, const LinkedOps& ops);

} // namespace vm
