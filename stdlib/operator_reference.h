// The reference of operators as text, made from the table: docs/operators.md is this, and a test
// keeps it so.
#pragma once

#include "lang/op/op.h"
#include "parser/surface/surface.h"

#include <string>

namespace stdlib {

/// What an attribute of this kind is: `integer`, `list of numbers`.
std::string_view kindName(lang::AttributeKind kind);

/// The call with operand names and defaults, what must be given left out: `f(data, units=,
/// axis=1)`.
std::string callText(const lang::OperatorRow& row);

/// The same in Baton's notation, by the name that programs call it: `f(data, units, axis = 1)`.
std::string callText(const lang::OperatorRow& row, std::string_view name);

/// What it does, its operands and attributes, in Markdown. Defaults are those of a notation.
std::string operatorBody(const lang::OperatorRow& row, parser::surface::Notation notation);

/// One operator in Markdown: its call, what it does, operands, attributes, gradient, examples.
std::string operatorReference(const lang::OperatorTable& table, const lang::OperatorRow& row);

/// All operators of a table in Markdown, by name; behind them those of Relay that Baton leaves out,
/// and the prelude.
std::string operatorReference(const lang::OperatorTable& table);

} // namespace stdlib
