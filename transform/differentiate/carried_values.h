// Functions in the two forms that they have where functions carry their derivatives: as the program
// has them, and with the derivative.
//
// A derivative that is not of the round at hand stays a call of its operator, over functions as the
// program had them, and is written out in a later round: of the function of the new code the value
// alone is taken. What it gives is a function of the program again, and gets a derivative that
// nobody asks for.
#pragma once

#include "transform/differentiate/translation.h"

namespace transform {

/// Reports what a closure captures by which derivatives that functions carry would be wrong:
/// references to floats, as what one evaluation gathers for them another one would find.
void checkCapturedCells(Translation& code, const lang::Binding& closure);

/// Why a derivative of an unknown function cannot be had, behind its name.
inline constexpr std::string_view insideOfOthers =
    ", in a function that may be differentiated itself,";
inline constexpr std::string_view overFunctions = ", which takes functions or references,";

/// Whether a global takes and gives no functions and no references, and has no type parameters.
bool isFreeOfFunctions(const lang::Typing& typing, const lang::Global& global);

/// A value of the program, in the form of code where functions carry derivatives of that mode;
/// those that it is given are zero, and never asked for. Functions in it take no functions.
lang::Atom withIdleDerivatives(Translation& code, Mode mode, lang::Atom value,
                               const lang::Type* type, lang::BlockBuilder& out);

/// A pull-back that gives zeros for arguments of these types of a function with that result.
lang::Atom idleBack(Translation& code, const std::vector<lang::Atom>& arguments, lang::Types types,
                    const lang::Type* result, lang::BlockBuilder& out);

/// A function that carries its derivative, without it; its type is that of the program, over no
/// functions.
lang::Atom valueAlone(Translation& code, Mode mode, lang::Atom carrying, const lang::Type& type,
                      lang::BlockBuilder& out);

/// What stands for a derivative that a later round writes out. What is in the way is reported.
lang::Atom leftForLater(Translation& code, Mode mode, const lang::Binding& binding,
                        lang::BlockBuilder& out);

} // namespace transform
