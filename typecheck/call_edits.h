// Fixes of operator calls as edits of the text that the calls stand in.
#pragma once

#include "lang/ir/expr.h"
#include "lang/op/declared.h"
#include "lang/op/relation.h"
#include "lang/source/diagnostic.h"
#include "typecheck/shape_report.h"

namespace typecheck {

/// A call with its places in the text.
struct CallPlaces {
  lang::SourceRange range;
  const lang::Attributes& attributes;
  std::span<const lang::Operand* const> operands;
  Definitions definitions;
};

/// Adds to a report what a fix suggests of a call of `row`, as far as the text has a place for it,
/// or the fact that it states.
void addFix(lang::Diagnostic& report, const lang::CallFix& fix, const lang::OperatorRow& row,
            const CallPlaces& call);

/// Suggests to name the arguments of a call of `row` that are no operands.
void suggestNames(lang::Diagnostic& report, const lang::OperatorRow& row, const lang::Call& call,
                  Definitions definitions);

/// Suggests to give what an operator on functions makes, such as a gradient, the arguments of a
/// call that it was given itself.
void suggestSecondCall(lang::Diagnostic& report, const lang::Call& call);

/// Suggests to hand an operator on functions a function instead of a call of it.
void suggestFunctionItself(lang::Diagnostic& report, const CallPlaces& call);

/// Suggests to exchange two arguments of a call.
void suggestSwap(lang::Diagnostic& report, const lang::Call& call, size_t first, size_t second);

/// Suggests to write a number, which `operand` may be, as one of the type of a tensor.
void suggestNumber(lang::Diagnostic& report, const lang::Operand& operand,
                   const lang::Type* wanted);

/// Suggests a function that calls the operator which an operand is, where a function is wanted.
/// Relay's text has no other way to say it.
void suggestFunctionOf(lang::Diagnostic& report, lang::SourceRange operand,
                       const lang::Type& wanted, const lang::Type& given);

} // namespace typecheck
