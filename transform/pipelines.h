// Pipelines: the orders in which programs go through passes, as data.
//
// One runner takes programs through them (run_passes.h), so each can be shown, stopped after a pass
// and searched for the pass that is wrong.
#pragma once

#include <span>
#include <string_view>

namespace transform {

struct Step {
  /// A pass by its name.
  std::string_view pass;
  /// How often it is run again on what it made, at most, while it finds something to do.
  unsigned times = 1;
};

struct Pipeline {
  std::string_view name;
  /// One sentence.
  std::string_view doc;
  std::span<const Step> steps;
  /// As in PassContext.
  bool keepsSteps = false;
};

extern const Pipeline toFixPipeline, fixedPipeline, derivativePipeline, followedPipeline, followedCopiesPipeline,
    betweenOrdersPipeline, gradientPipeline, machinePipeline, countedPipeline;

/// All of them, in the order in which a program meets them.
std::span<const Pipeline* const> pipelines();

/// Whether programs run without the pass: those before the machine only make them faster.
bool isOptional(std::string_view pass);

} // namespace transform
