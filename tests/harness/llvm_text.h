// Instructions of LLVM as text, for numbers that are converted and combined as C does it.
//
// The types are those of C: Int32 is `int`, Bool what a test gives. The text has neither memory nor
// pointers, so it does not hang on how a version of LLVM writes those. Signed overflow, which is
// undefined in C, wraps.
#pragma once

#include "runtime/dtype.h"

#include <set>
#include <vector>

namespace harness {

/// A number of a type of C: the name of a value, or a constant.
struct LlvmValue {
  runtime::DType type;
  std::string text;
};

/// An operator of two operands in C: how tightly it binds, and its instructions on floats and on
/// whole numbers with and without a sign. There are none of `&&` and `||`, which choose.
struct LlvmOperator {
  std::string_view text;
  int level;
  std::string_view onFloats, onSigned, onUnsigned;
};
/// Null where the text is none.
const LlvmOperator* llvmOperator(std::string_view text);

/// The type in which C computes with operands of two types.
runtime::DType commonType(runtime::DType a, runtime::DType b);

std::string llvmType(runtime::DType type);

/// The blocks of one function in the making. Instructions go to the end of `text`, into the block
/// that is open; none is after a `ret`.
class LlvmText {
public:
  std::string text;
  std::string block;
  /// Of functions that are called.
  std::set<std::string> declarations;

  std::string newName() { return "v" + std::to_string(++names_); }
  void open(const std::string& name);
  void jump(const std::string& to);
  void branch(const LlvmValue& condition, const std::string& yes, const std::string& no);
  void giveBack(const LlvmValue& value);

  LlvmValue add(runtime::DType type, const std::string& instruction);
  LlvmValue convert(const LlvmValue& value, runtime::DType type);
  /// The lower bits of a whole number.
  LlvmValue cut(const LlvmValue& value, runtime::DType type);
  LlvmValue negate(const LlvmValue& value);
  LlvmValue apply(const LlvmOperator& op, const LlvmValue& a, const LlvmValue& b);
  /// A function of the C library, of floats of one type.
  LlvmValue call(std::string_view name, const std::vector<LlvmValue>& operands);

  /// A value that comes from a block. All of one phi are of one type.
  struct Way {
    LlvmValue value;
    std::string block;
  };
  static std::string phi(const Way& a, const Way& b);

private:
  size_t names_ = 0;
};

} // namespace harness
