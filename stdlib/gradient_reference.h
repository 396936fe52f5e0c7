// How gradient rules look: each run on an example of its row and printed.
#pragma once

#include "lang/rules/gradient.h"

#include <string>

namespace stdlib {

/// A call of an operator whose operands are written out in a text, and its types.
struct WrittenCall {
  std::vector<const lang::Type*> operands = {};
  const lang::Type* result = nullptr;
  lang::Attributes attributes = {};
  /// The operands; fields of tuples are theirs.
  std::vector<lang::Atom> atoms = {};
};

/// The first call of `row` in a text that was resolved; nothing when operands are computed.
std::optional<WrittenCall> writtenCall(const lang::Module& module, const lang::OperatorRow& row);

/// The rule of a row as a function of the language, for the first of its examples over floats;
/// empty when there is none, or when it is too long to be read.
std::string gradientProgram(const lang::OperatorTable& table, const lang::OperatorRow& row);

} // namespace stdlib
