// The types of derivatives, from that of a function whose arguments and result were looked at.
#pragma once

#include "stdlib/ops/derivatives/derivative_question.h"

namespace stdlib::derivatives {

const Type* gradType(Question& question);
const Type* valueAndGradType(Question& question);
const Type* vjpType(Question& question);
const Type* jvpType(Question& question);
const Type* hvpType(Question& question);
const Type* transposeType(Question& question);
/// Null while it is not known, and when it can't be.
const Type* jacobianType(Question& question);
/// As above.
const Type* hessianType(Question& question);

/// The function from the arguments and a tangent of each that was asked for.
const Type* withTangents(const Question& question, const Type* result);

} // namespace stdlib::derivatives
