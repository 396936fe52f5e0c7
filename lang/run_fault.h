// Why a program could not go on, with its places in the text: what a machine gives in place of a
// value. What an engine gives, which knows no text, is the runtime::Fault in it.
#pragma once

#include "lang/diagnostic.h"
#include "lang/op.h"
#include "runtime/fault.h"

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

} // namespace lang
