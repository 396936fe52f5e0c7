// Which parameters of a definition are sizes in it: counts in shapes, bounds of slices, attributes.
#pragma once

#include "lang/ir/module.h"
#include "lang/op/op.h"

#include <functional>
#include <vector>

namespace typecheck {

/// For each parameter whether it is a size or a list of sizes, by itself or computed with, there or
/// in what `counted` tells of other definitions. None are where the definition is recursive and
/// calls itself with something else than the parameter, or is used as a value.
std::vector<bool>
countedParameters(const lang::Global& global, const lang::OperatorTable& operators,
                  const std::function<const std::vector<bool>&(const lang::Global&)>& counted);

} // namespace typecheck
