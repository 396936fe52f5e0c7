// Statements from text.
#pragma once

#include "lower/loops/names.h"
#include "lower/loops/tokens.h"

#include <map>
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

private:
  uint32_t value(Cursor& line, int strength, size_t depth);
  uint32_t operand(Cursor& line, size_t depth);
  uint32_t inParentheses(Cursor& line, size_t depth);
  uint32_t named(Cursor& line, size_t depth);
  uint32_t ofType(Cursor& line, DType dtype, size_t depth);
  uint32_t applied(Cursor& line, const Token& word, size_t depth);
  uint32_t load(Cursor& line, const Token& word, size_t depth);
  uint32_t apply(const Token& at, ScalarFunction function, std::vector<uint32_t> operands,
                 std::optional<DType> dtype);
  Place place(Cursor& line, size_t depth);
  Store target(Cursor& line);
  Reduced reduced(Cursor& line);
  uint32_t bufferAt(const Token& word) const;
  uint32_t add(Operation operation);
  uint32_t reference(Cursor& line);

  Nest& nest_;
  std::span<const Name> scope_;
  std::span<const uint32_t> visible_;
  std::vector<Operation> operations_;
  std::map<int64_t, uint32_t> names_;
};

} // namespace loops
