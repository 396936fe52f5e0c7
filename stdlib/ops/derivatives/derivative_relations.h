// The type relations of derivatives: from the type of a function to that of its derivative.
//
// A derivative with respect to a value has the type of the value, so that it can be added to it,
// and integers inside it have zeros. What is only integers has no derivative, and neither has what
// holds functions or references. Operand 0 is the function, and the attribute `wrt` tells the
// arguments.
#pragma once

#include "lang/op/relation.h"

namespace stdlib {

lang::RelationResult gradRelation(const lang::RelationCall& call);
lang::RelationResult valueAndGradRelation(const lang::RelationCall& call);
lang::RelationResult vjpRelation(const lang::RelationCall& call);
lang::RelationResult jvpRelation(const lang::RelationCall& call);
lang::RelationResult hvpRelation(const lang::RelationCall& call);
lang::RelationResult transposeRelation(const lang::RelationCall& call);
lang::RelationResult jacobianRelation(const lang::RelationCall& call);
lang::RelationResult hessianRelation(const lang::RelationCall& call);

/// The gradient at operand 1. What types must be is asked when they are known.
lang::RelationResult gradientAtRelation(const lang::RelationCall& call);

/// Gives the function itself.
lang::RelationResult sameAsFunction(const lang::RelationCall& call);
/// As above; operand 1 is its pull-back.
lang::RelationResult customRelation(const lang::RelationCall& call);
/// As above; operand 1 is its forward rule.
lang::RelationResult customTangentRelation(const lang::RelationCall& call);

} // namespace stdlib
