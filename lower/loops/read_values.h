// Statements from text.
#pragma once

#include "lower/loops/names.h"
#include "lower/loops/read_form.h"

#include <map>
#include <optional>
#include <span>

namespace loops {

/// Reads one statement, with the lines that name its operations.
class ValueReader {
public:
  /// `visible` is the scratch that may be used here.
  ValueReader(Nest& nest, std::span<const Name> scope, std::span<const uint32_t> visible)
      : nest_(nest), scope_(scope), visible_(visible) {}

  /// `let %0 = ...`
  void readName(Cursor& line);
  /// The statement itself; called once, at the end.
  Statement readStatement(Cursor& line);

  // What tensor::readValue() asks of who makes values.

  using Value = uint32_t;
  DType typeOf(uint32_t value) const { return operations_[value].dtype; }
  uint32_t number(DType dtype, tensor::NumberText number);
  uint32_t cast(DType dtype, uint32_t value);
  uint32_t apply(DType dtype, ScalarFunction function, std::vector<uint32_t> operands);
  const uint32_t* named(int64_t name) const;
  /// A position, or an element of a buffer.
  std::optional<uint32_t> own(Cursor& line, size_t depth);

private:
  uint32_t load(Cursor& line, size_t depth);
  Place place(Cursor& line, size_t depth);
  Store target(Cursor& line);
  Reduced reduced(Cursor& line);
  uint32_t bufferAt(const Token& word) const;
  uint32_t add(Operation operation);

  Nest& nest_;
  std::span<const Name> scope_;
  std::span<const uint32_t> visible_;
  std::vector<Operation> operations_;
  std::map<int64_t, uint32_t> names_;
};

} // namespace loops
