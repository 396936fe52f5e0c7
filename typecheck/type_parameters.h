// Type parameters of a group: those that leave their function, and those that it gets.
#pragma once

#include "typecheck/group.h"

namespace typecheck {

/// The type parameters in a type, and those that its sizes are, that no function type inside of it
/// declares.
std::vector<const lang::TypeParameter*> freeParameters(const Type* root);

/// Reports a type parameter that leaves the function that declares it: outside, nothing says what
/// it stands for. One report is enough, what follows from it would only repeat it.
void checkTypeParameters(Group& group);

/// What nothing says of the parameters of a group may be anything: it becomes a type parameter of
/// all of them (Milner's rule).
void generalise(Group& group);

} // namespace typecheck
