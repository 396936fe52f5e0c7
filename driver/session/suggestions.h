// Suggestions are tried before they are shown: whoever finds a mistake guesses what may mend it,
// and here the program with that change is read and checked.
//
// A suggestion helps when the finding is gone and each error of the changed program was one
// before: the same message in the same words at the same place. So other mistakes may stay, and
// none is made. One that comes to light only now, such as a wrong type once all names are known,
// may be in another definition, when it would be there whatever this one's body were. How much is
// tried is bounded, and what could not be tried is not shown.
#pragma once

#include "driver/session/session.h"

namespace driver {

/// `withTests` as the program was read. Takes from the findings of a program the suggestions that
/// do not help. The edits of those that stay are in the order of the text and copy nothing.
void keepWhatHelps(Program& program, const lang::OperatorTable& operators,
                   const lang::SourceMap& sources, bool withTests);

} // namespace driver
