// Why a program could not go on, with its places in the text: what a machine gives in place of a
// value. What an engine gives, which knows no text, is the Fault in it.
#pragma once

#include "runtime/fault.h"
#include "runtime/holdings.h"
#include "runtime/source_range.h"
#include "runtime/value.h"

#include <optional>
#include <string>
#include <vector>

namespace runtime {

/// A second place that belongs to a message.
struct Label {
  SourceRange range;
  Words text;
};

/// One line of the shapes under a message: an operand with its type and where that came from.
struct ShapeRow {
  /// The operand as people know it: `%x`, or its name in the operator's documentation.
  Words name;
  std::vector<std::string> dims;
  Words dtype;
  /// The dimensions that clash.
  std::vector<size_t> marks;
  /// Such as `parameter %x` or `nn.dense`, and its place.
  Words origin;
  SourceRange originRange;
};

/// Shapes that are shown one below the other. `fromBack` aligns their last dimensions, as
/// broadcasting does.
struct ShapeTable {
  std::vector<ShapeRow> rows;
  bool fromBack = false;
};

struct RunFault : Fault {
  SourceRange range;
  /// The calls through which the program got there, innermost first; of many only those at both
  /// ends.
  std::vector<SourceRange> calls = {};
  /// How many there are.
  size_t openCalls = 0;
  /// The name of the operator that could not be applied, or empty.
  std::string op = {};
  std::vector<Label> labels = {};
  std::vector<Words> notes = {};
  ShapeTable shapes = {};
};

// What every machine that runs programs says in the same words.

/// No arm is for a value of this constructor, or, of an empty name, for another one.
std::string unmatchedText(std::string_view constructor);
/// What is held, and what a run may hold if that was too little, for a fault of memory.
std::string heldText(Holdings held = runtime::held());
/// Writes a value, or the fields of a tuple, into tensors that the program allocated.
std::optional<Fault> writeResults(const Value& value, const Value& destinations);

} // namespace runtime
