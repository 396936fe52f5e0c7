// Schedules that a nest is given when nobody writes one.
#pragma once

#include "lower/loops/machine_model.h"
#include "lower/loops/rewrite.h"

namespace loops {

/// A nest with the steps that made it.
struct Scheduled {
  Nest nest;
  std::vector<Step> steps = {};
};

/// A schedule for a nest that verifies: loops that follow each other over the same rows become one,
/// and keep what one row needs; innermost loops run as lanes, sums in them as several partial ones;
/// outermost ones run by threads. Every step is one that the verifier takes.
Scheduled scheduled(Nest nest, const MachineModel& machine);

} // namespace loops
