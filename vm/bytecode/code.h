// Code in the making: words, labels that stand for places still to come, registers.
#pragma once

#include "vm/bytecode/representation.h"

#include <span>
#include <unordered_map>

namespace bytecode {

using vm::Op;
using vm::SiteKind;

/// A place in the code that jumps may name before it is reached.
using Label = uint32_t;

/// The words that are too wide for their instructions, each once in a program.
class Literals {
public:
  explicit Literals(vm::Program& program) : program_(program) {}

  uint32_t numberOf(uint64_t bits);

private:
  vm::Program& program_;
  std::unordered_map<uint64_t, uint32_t> numbers_;
};

/// Writes the code of one function. In one that is far too long for short jumps, `isFar`, these go
/// by way of long ones.
class Code {
public:
  explicit Code(bool isFar) : isFar_(isFar) {}

  void emit(Op op, uint16_t a = 0, uint16_t b = 0, uint16_t c = 0);
  void emitWide(Op op, uint16_t a, uint32_t number);
  /// An instruction with a list of registers behind it.
  void emitList(Op op, uint16_t a, uint16_t b, uint16_t c, std::span<const uint16_t> tail);
  /// The same with the registers of an object's fields.
  void emitFields(Op op, uint16_t a, uint16_t layout, uint16_t token,
                  std::span<const uint16_t> fields);
  /// Puts bits into a register.
  void emitLoad(uint16_t reg, uint64_t bits, Literals& literals);
  /// Ends the call with what is in a register, at once with what computed it if that came last.
  void emitReturn(uint16_t reg);
  /// `call` or `tail`, at once with what puts an argument into its place if that came last.
  void emitCall(Op op, uint16_t window, uint32_t function);
  /// The word behind `apply` and its like.
  void operands(uint16_t first, uint16_t second = 0, uint16_t third = 0);

  Label newLabel();
  void place(Label label);
  void jump(Label to);
  /// Goes on elsewhere unless the condition is as it should be.
  void jumpUnless(uint16_t condition, bool holds, Label to);
  /// A comparing jump; its third operand is the target.
  void compareAndJump(Op op, uint16_t a, uint16_t b, Label to);
  void switchTag(uint16_t object, std::span<const Label> arms);

  /// Makes `open` of what `fields` or `match` has just loaded one instruction, if that is the last
  /// one. Fields that are loaded and not kept need no loading.
  bool fuseOpen(uint16_t object, uint16_t layout, uint16_t token, std::span<const vm::Rep> fields,
                std::span<const uint16_t> kept);

  /// From here on the code comes from this origin.
  void comesFrom(uint32_t origin);
  /// Puts in the labels and appends all to the program.
  void finish(vm::Program& program);

private:
  struct Patch {
    size_t at;
    Label label;
    /// Where the jump is counted from.
    size_t from;
    enum Kind : uint8_t { Short, Wide, Arm } kind;
    size_t arm = 0;
  };

  void appendList(std::span<const uint16_t> tail);
  bool fuseReturn(uint16_t reg);
  void shorten(size_t size);
  bool fuseMatch(uint16_t object, uint16_t layout, size_t known);
  bool mayFuse() const { return last_ != SIZE_MAX; }

  bool isFar_;
  std::vector<vm::Word> words_;
  std::vector<size_t> labels_;
  std::vector<Patch> patches_;
  std::vector<vm::Place> places_;
  /// Where the last instruction starts, unless a jump may lead behind it.
  size_t last_ = SIZE_MAX;
};

/// The registers of one function: which are in use.
class Registers {
public:
  /// The lowest free one.
  uint16_t take();
  /// The lowest free one from `start` on.
  uint16_t takeFrom(size_t start);
  /// The first one above all that are in use.
  uint16_t takeTop();
  uint16_t top();
  /// Takes a given one, which must be free.
  void take(uint16_t index);
  void free(uint16_t index);
  /// Makes sure that the function has registers up to `end`.
  void reserve(size_t end);
  /// How many the function needs.
  size_t most() const { return most_; }

  std::vector<bool> used = {};
  /// None below is free.
  size_t firstFree = 0;

private:
  size_t most_ = 0;
};

} // namespace bytecode
