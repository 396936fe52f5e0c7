// Instructions as text: one description of how operands follow each other, for writing and reading.
//
//   tail.move              f2, r1 = r3          add.i32.short          r3, r1, -1
//   unpack.2               r1, #4, _, [r2, r3]  switch                 r0, 2, [@4, @9]
//
// `#4` is a number of the table that the operand is of, `_` no register, and `@9` a place in the
// function.
#pragma once

#include "vm/assembly/tokens.h"
#include "vm/machine/operands.h"

#include <unordered_map>

namespace assembly {

/// How a value is held: its element type, `owned` or `borrowed`.
std::string repText(vm::Rep rep);
std::string repsText(const std::vector<vm::Rep>& reps);

/// The instruction at `at`, which is at `place` in its function.
std::string instructionText(const vm::Program& program, const vm::Word* at, size_t place);

/// What the numbers in it mean, for people, or empty.
std::string remark(const vm::Program& program, const vm::Word* at);

/// The instruction of this name, if there is one.
std::optional<vm::Op> findInstruction(std::string_view name);

/// Reads the code of one function.
class CodeReader {
public:
  CodeReader(Tokens& tokens, std::vector<vm::Word>& code) : tokens_(tokens), code_(code) {}

  /// Reads an instruction with its place in front, if it has one.
  void read();
  /// Makes the jumps right. Then each place that was named is known.
  void finish();

private:
  struct Port;
  enum class Reach : uint8_t { Short, Long, Arm };
  struct Jump {
    size_t word;
    Reach reach;
    size_t arm, from;
    Token target;
  };
  void patch(const Jump& jump, int64_t distance);

  Tokens& tokens_;
  std::vector<vm::Word>& code_;
  size_t start_ = code_.size();
  std::unordered_map<uint32_t, size_t> places_;
  std::vector<Jump> jumps_;
};

} // namespace assembly
