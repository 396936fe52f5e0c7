// What a run of a strip program takes.
#pragma once

#include "codegen/strips/run.h"

namespace strips {

/// About how many nanoseconds a run takes; of loops inside of others the first time counts for all.
double costOf(const Program& program, const Prepared& prepared);

} // namespace strips
