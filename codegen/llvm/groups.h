// Groups: a few iterations at once in each lane, whose elements lie side by side. Sums of products
// are instructions of the processor where it has such; copies put elements beside each other.
#pragma once

#include "codegen/llvm/statement.h"
#include "lower/loops/machine_model.h"

namespace codegen {

/// Writes a loop that runs as a group, in the lanes of a loop around. False where it is nothing
/// that is written so; then its iterations come one after the other.
bool writeGroup(const Surroundings& around, const loops::Node& group,
                loops::WholeProducts products);

} // namespace codegen
