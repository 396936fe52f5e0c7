// Running a program: the strips of plan.h, stage by stage.
//
// A program may run in several threads at once.
#pragma once

#include "lower/plan.h"
#include "runtime/fault.h"
#include "runtime/value.h"

namespace lower {

/// Runs a program; `outputs` becomes the results, in order. The inputs are of the types that it was
/// made for. A fault is a division by zero, a position outside a tensor, no memory, or a function
/// that is not well formed (which the program remembers).
std::optional<runtime::Fault> run(const Program& program, std::span<const runtime::Value> inputs,
                                  std::vector<runtime::Value>& outputs);

} // namespace lower
