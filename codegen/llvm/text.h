// Instructions of LLVM as text: typed values, and one function in the making.
//
// codegen/llvm/ writes loop nests as textual IR with explicit vectors, and has LLVM make machine
// code of it, through its C interface, which is opened when it is first wanted (library.h). Nothing
// here needs LLVM to build. Start with module.h.
#pragma once

#include "runtime/dtype.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace codegen {

using runtime::DType;

enum class Element : uint8_t { Bit, Int8, Int16, Int32, Int64, Float16, Float32, Float64 };

/// An element, or as many side by side as there are lanes. One lane is no vector.
struct IrType {
  Element element = Element::Int64;
  uint32_t lanes = 1;

  friend bool operator==(IrType, IrType) = default;
  bool isFloat() const { return element >= Element::Float16; }
  IrType withElement(Element other) const { return {other, lanes}; }
  IrType withLanes(uint32_t count) const { return {element, count}; }
};

uint32_t bitsOf(Element element);
std::string textOf(IrType type);
/// As part of the names of intrinsics: `v16f32`.
std::string suffixOf(IrType type);

/// What computes with values of a type: of bool a bit, of floats of 16 bits float32.
Element computedAs(DType dtype);
/// What lies in memory: of bool a byte, of bfloat16 its bits.
Element storedAs(DType dtype);

/// A value by its name, or a constant.
struct IrValue {
  std::string text;
  IrType type;
};

/// The blocks of one function. Instructions go to the end of the block that is open.
class FunctionText {
public:
  explicit FunctionText(bool hasAvx512 = false) : hasAvx512_(hasAvx512) {}

  /// An instruction that gives the same whenever it runs: one that the block has is not written
  /// again.
  IrValue add(IrType type, std::string_view instruction);
  /// One that hangs on what was stored before, or on the way here.
  IrValue addOnce(IrType type, std::string_view instruction);
  void addLine(std::string_view line);
  /// Room on the stack, made once however often the place runs.
  std::string addStack(uint64_t bytes, uint32_t alignment);

  std::string newLabel() { return "b" + std::to_string(++labels_); }
  void open(const std::string& label);
  void jump(const std::string& label);
  void branch(const IrValue& condition, const std::string& yes, const std::string& no);
  const std::string& block() const { return block_; }

  // Constants.

  static IrValue whole(IrType type, int64_t value);
  static IrValue real(IrType type, double value);
  static IrValue bit(bool value, uint32_t lanes = 1);
  /// An int64 for each lane: 0, the step, twice the step and so on.
  static IrValue counted(uint32_t lanes, int64_t step = 1);

  // Instructions. Operands are of the same type unless it says so.

  /// `add`, `fmul nsz`, `icmp slt`: whatever has two operands of one type.
  IrValue binary(std::string_view instruction, const IrValue& a, const IrValue& b);
  /// `icmp slt`, `fcmp olt`: gives bits.
  IrValue compare(std::string_view condition, const IrValue& a, const IrValue& b);
  /// The condition has as many lanes, or one.
  IrValue select(const IrValue& condition, const IrValue& yes, const IrValue& no);
  /// `zext`, `fptrunc`, `bitcast`.
  IrValue convert(std::string_view instruction, const IrValue& value, Element to);
  /// An intrinsic of operands of its own type: `llvm.sqrt`.
  IrValue intrinsic(std::string_view name, std::span<const IrValue> operands);
  /// Whether values of a type fill registers of AVX-512.
  bool isOfAvx512(IrType type) const;
  /// Its `vscalef`: a value times a power of two.
  IrValue scalef(const IrValue& value, const IrValue& exponent);
  /// Its `vrange`: the greater of two values, or the lesser one, where -0 is less than 0; of a
  /// number and NaN the number.
  IrValue range(const IrValue& a, const IrValue& b, bool isGreater);
  /// The same value in all lanes.
  IrValue splat(const IrValue& value, uint32_t lanes);
  /// All in as many lanes as the widest.
  std::vector<IrValue> together(std::vector<IrValue> values);
  /// The same as `binary`, of operands in as many lanes as the wider one.
  IrValue both(std::string_view instruction, const IrValue& a, const IrValue& b);
  IrValue lane(const IrValue& vector, uint32_t lane);
  IrValue withLane(const IrValue& vector, const IrValue& value, uint32_t lane);
  /// The first half of the lanes, or the other one.
  IrValue half(const IrValue& vector, bool isSecond);
  /// Whether any lane is set.
  IrValue any(const IrValue& bits);
  IrValue logicalAnd(const IrValue& a, const IrValue& b) { return binary("and", a, b); }

  const std::string& body() const { return body_; }
  const std::string& stack() const { return stack_; }

private:
  IrValue avx512(std::string_view name, const IrValue& a, const IrValue& b,
                 std::string_view immediate);

  bool hasAvx512_;
  std::string body_, stack_, block_ = "entry";
  /// What the open block has.
  std::unordered_map<std::string, IrValue> known_;
  uint64_t values_ = 0, labels_ = 0;
};

/// `<16 x float> %12`.
std::string typed(const IrValue& value);

} // namespace codegen
