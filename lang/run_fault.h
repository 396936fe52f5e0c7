// Why a program could not go on, with its places in the text: what a machine gives in place of a
// value. What an engine gives, which knows no text, is the runtime::Fault in it.
#pragma once

#include "lang/diagnostic.h"
#include "lang/op.h"
#include "runtime/fault.h"
#include "runtime/holdings.h"
#include "runtime/value.h"

#include <optional>

namespace lang {

struct RunFault : runtime::Fault {
  SourceRange range;
  /// The calls through which the program got there, innermost first.
  std::vector<SourceRange> calls = {};
  /// The operator that could not be applied, or null.
  const OperatorRow* row = nullptr;
  std::vector<Label> labels = {};
  std::vector<std::string> notes = {};
  ShapeTable shapes = {};
};

// What every machine that runs programs says in the same words.

/// No arm is for a value of this constructor, or, of an empty name, for another one.
std::string unmatchedText(std::string_view constructor);
/// What tensors hold, and what a run may hold if that was too little, for a fault of memory.
std::string heldText(runtime::Holdings held = runtime::held());
/// Writes a value, or the fields of a tuple, into tensors that the program allocated.
std::optional<runtime::Fault> writeResults(const runtime::Value& value,
                                           const runtime::Value& destinations);

} // namespace lang
