// The reference of operators as text, made from the table: docs/operators.md is this, and a test
// keeps it so.
#pragma once

#include "lang/op/op.h"

#include <string>

namespace stdlib {

/// What an attribute of this kind is: `integer`, `list of numbers`.
std::string_view kindName(lang::AttributeKind kind);

/// The call with operand names and defaults, what must be given left out: `f(data, units=,
/// axis=1)`.
std::string callText(const lang::OperatorRow& row);

/// One operator in Markdown: its call, what it does, operands, attributes, gradient, examples.
std::string operatorReference(const lang::OperatorTable& table, const lang::OperatorRow& row);

/// All operators of a table in Markdown, by name; behind them those of Relay that Baton leaves out,
/// and the prelude.
std::string operatorReference(const lang::OperatorTable& table);

} // namespace stdlib
