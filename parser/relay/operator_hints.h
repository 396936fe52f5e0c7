// What other languages write with marks, such as `%x[0]`, `%a ** %b` and `%x.sum()`, as calls of
// operators. The hints look at the text as plain text; all are guesses, which are tried before they
// are shown.
#pragma once

#include "parser/relay/lexer.h"

namespace parser {

/// How far the text around a mistake is looked at, and what stands between words there.
inline constexpr size_t farthestHint = 2000;
inline constexpr std::string_view blanks = " \t\r\n";

/// `%x[0]`, where the bracket does not fit: a field of a tuple, an element of a tensor or a slice.
void suggestIndexing(lang::Diagnostic& report, const Lexer& lexer, uint32_t bracket);

/// `%a ** %b`: an operator between its operands.
void suggestInfixCall(lang::Diagnostic& report, const Lexer& lexer, lang::SourceRange mark);

/// `-%a`, `!%a`: an operator before its operand, which other libraries call `name`.
void suggestPrefixCall(lang::Diagnostic& report, const Lexer& lexer, lang::SourceRange mark,
                       std::string_view name);

/// `%a.sum()`, `%a.shape`: an operator that is called like a member.
void suggestMemberCall(lang::Diagnostic& report, const Lexer& lexer, uint32_t dot);

} // namespace parser
