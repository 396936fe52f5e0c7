// One function of a program in the making, as a function of LLVM.
//
// Registers are variables on the stack, each once for every kind of value, so that LLVM finds what
// flows where and keeps floats in the registers of floats; what is written as one kind can be read
// as any. Code of a function only jumps on, so it is written in its order.
//
// A function takes its arguments, the fuel and the place of the next frame, and gives its result
// with both, in the registers of the processor in which they came. Who calls puts down where it
// goes on in the frame. Loops are calls in place of others, so they need no stack.
#pragma once

#include "codegen/llvm/functions.h"
#include "vm/machine/program.h"
#include "vm/native/context.h"

#include <set>
#include <span>
#include <stdexcept>

namespace vm::native {

using codegen::Element;
using codegen::IrType;
using codegen::IrValue;
using runtime::ScalarFunction;

/// Thrown where a program is not compiled; the loop runs it then.
struct NotCompiled : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr IrType wordType{Element::Int64};

/// How values of a representation are passed: as a float, or as a word.
IrType passedAs(Rep rep);
std::string nameOf(uint32_t function);
/// Asks for fuel and leaves all registers as they are, so that nobody keeps them for its sake.
inline constexpr std::string_view refuelName = "refuel";
/// `{ i64, i64, ptr }`.
std::string resultType(Rep result);

/// What a function is called with, or defined for: its arguments with fuel and frame among them, as
/// third and fourth of those that are no floats, which are the registers in which they come back.
/// `filler` is a word for a place that has no argument.
std::string argumentList(std::span<const IrValue> arguments, const std::string& fuel,
                         const std::string& top, std::string_view filler);

class FunctionWriter {
public:
  /// `jumps` says of each function whether it is called in place of others, or calls them in its
  /// own: those give back the stack that their arguments take, which costs something.
  FunctionWriter(const Program& program, const std::vector<bool>& jumps, uint32_t number,
                 bool hasFloats);

  /// The text of the function.
  std::string write();
  /// Whether it has floats that are not in memory; known when it is written.
  bool usesFloats() const { return usesFloats_; }

  // For the instructions.

  codegen::FunctionText text;
  const Program& program() const { return program_; }
  const Function& function() const { return program_.functions[number_]; }
  uint32_t number() const { return number_; }
  std::string_view conventionOf(uint32_t number) const { return jumps_[number] ? "tailcc" : "ccc"; }
  uint64_t positionOf(const Word* at) const { return uint64_t(at - program_.code.data()); }
  /// Where an instruction that jumps leads, by words behind it.
  std::string targetOf(const Word* at, int64_t words) const;
  std::string labelOf(uint64_t position) const { return "p" + std::to_string(position); }

  // Registers.

  IrValue word(uint16_t reg) { return read(reg, wordType); }
  IrValue read(uint16_t reg, IrType type);
  void write(uint16_t reg, const IrValue& value);
  void copy(uint16_t to, uint16_t from);
  IrValue asType(const IrValue& value, IrType type);
  /// A variable of a word beside the registers, which begins with zero.
  std::string variable(std::string_view name);
  IrValue get(const std::string& variable);
  void set(const std::string& variable, const IrValue& value);

  // Ways.

  bool isEnded() const { return isEnded_; }
  void jump(const std::string& label);
  void branch(const IrValue& condition, const std::string& yes, const std::string& no);
  /// To `yes` hardly ever.
  void branchRarely(const IrValue& condition, const std::string& yes, const std::string& no);
  void open(const std::string& label);
  /// Nothing comes behind.
  void end(std::string_view line);

  // Calls.

  IrValue fuel() { return get("%fuel"); }
  std::string top();
  void setTop(const std::string& pointer);
  /// Ends the call with the result.
  void ret(const IrValue& value);
  /// Whether the result is to be a field of an object.
  bool hasWraps() const { return hasWraps_; }

private:
  void findTargets();
  std::string variableOf(uint16_t reg, IrType type);
  std::vector<IrValue> parameters() const;
  void beginRegisters(std::string& head);
  void retPlain(const IrValue& value);

  const Program& program_;
  const std::vector<bool>& jumps_;
  const uint32_t number_;
  const bool hasFloats_;
  bool usesFloats_ = false, hasWraps_ = false, isEnded_ = false;
  std::set<uint64_t> targets_;
  /// Registers that there are variables of.
  std::set<uint16_t> registers_;
  std::set<std::string> variables_;
};

/// The function that all instructions of the table are written by.
void writeInstruction(FunctionWriter& writer, const Word* at);

} // namespace vm::native
