// The gradients of the normalisations, as texts of the language.
//
// Each is a GradientBuilder's function. The texts need ranks but no extents, so that they serve
// dynamic shapes; vectors along the axis are reshaped to broadcast.
#pragma once

#include "lang/relation.h"

namespace stdlib {

/// The cotangents of data, gamma, beta, mean and variance.
std::string batchNormGradient(const lang::RelationCall& call);
/// The cotangents of data, gamma and beta.
std::string layerNormGradient(const lang::RelationCall& call);
std::string instanceNormGradient(const lang::RelationCall& call);
std::string groupNormGradient(const lang::RelationCall& call);
/// The cotangent of data.
std::string l2NormalizeGradient(const lang::RelationCall& call);
std::string lrnGradient(const lang::RelationCall& call);

} // namespace stdlib
