// Every list of passes that a program goes through, with what the order is for.
#include "transform/pipelines.h"

#include <algorithm>

namespace transform {

namespace {

/// Fields of tuples may be tuples themselves.
constexpr unsigned deepestTuple = 4;

constexpr Step toFixSteps[] = {
    // Bodies in the places of calls show what is taken apart.
    {"inlining"},
};

constexpr Step fixedSteps[] = {
    {"constant-parameters"},
    {"constant-folding"},
    {"dead-code"},
};

constexpr Step derivativeSteps[] = {
    // Passes look for calls of operators, so those come first.
    {"operator-calls"},
    // Derivatives need known types and functions: lifted ones can be copied for their uses, and
    // copies have local functions of their own.
    {"lambda-lifting"},
    {"specialise"},
    {"lambda-lifting"},
    // What the copies replaced would be differentiated too.
    {"unused-definitions"},
    // While functions are known: derivatives add to parts of a tuple in place where it is apart.
    {"flatten-tuples", deepestTuple},
    // Straight code has lean derivatives; bodies in the places of calls show types and functions.
    {"inlining"},
    {"specialise"},
    {"unused-definitions"},
    // Puts values where they are needed, so that no branch differentiates those of another one.
    {"graph-form"},
    // Looks for the operators that all this brought together; their numbers change a little, so
    // nothing but derivatives is to follow.
    {"keep-logarithms"},
    {"derivatives"},
    // Derivatives call functions of their own, and say much that follows from constants.
    {"inlining"},
    {"simplify"},
    {"constant-folding"},
    // Two extents may be of one tensor then, and what was for a shape alone is dead.
    {"shapes-at-hand"},
    {"common-subexpressions"},
    {"dead-code"},
    // Once all that pull-backs use is known.
    {"keep-extents"},
};

constexpr Step followedSteps[] = {
    {"operator-calls"},
    // Instead of `graph-form`, which would change the steps.
    {"let-sinking"},
    {"derivatives"},
};

constexpr Step followedCopiesSteps[] = {
    {"operator-calls"}, {"lambda-lifting"}, {"specialise"},
    {"lambda-lifting"}, {"let-sinking"},    {"derivatives"},
};

constexpr Step betweenOrdersSteps[] = {
    {"inlining"},
    {"simplify"},
    // Of what functions give, most was found for the order before.
    {"equal-values"},
    {"common-subexpressions"},
    {"dead-code"},
};

constexpr Step gradientSteps[] = {
    {"inlining"},
    {"simplify"},
    // As between orders: those of the entry come one by one.
    {"equal-values"},
    {"common-subexpressions"},
    {"constant-folding"},
    // Constants and shared values show more that is simple.
    {"simplify"},
    {"shapes-at-hand"},
    {"common-subexpressions"},
    {"dead-code"},
    {"unused-definitions"},
    {"keep-extents"},
};

constexpr Step machineSteps[] = {
    // First, as all others go into the copies.
    {"specialise-boxed"},
    // Finds chains of calls, before those are opened.
    {"deforest"},
    {"inline-quiet"},
    // Last, as the passes before see tuples where they are made.
    {"flatten-tuples", deepestTuple},
    // Before kernels are made, which read weights that they know faster.
    {"constant-parameters"},
    // Before products are parts of groups.
    {"batch-steps"},
    // Before factors are parts of groups.
    {"fold-scales"},
    // Once weights are what they stay.
    {"lay-out-weights"},
    // What is left is what runs.
    {"fuse"},
};

constexpr Step countedSteps[] = {
    {"specialise-boxed"}, {"deforest"},        {"flatten-tuples", deepestTuple},
    {"fold-scales"},      {"lay-out-weights"}, {"fuse"},
};

} // namespace

const Pipeline toFixPipeline{"to-fix", "Shows what is done with inputs before they are constants.",
                             toFixSteps};
const Pipeline fixedPipeline{"fixed", "Computes what follows from inputs that became constants.",
                             fixedSteps};
const Pipeline derivativePipeline{
    "derivatives", "Writes out the derivatives that a program asks for.", derivativeSteps};
const Pipeline followedPipeline{"followed",
                                "Writes out derivatives where somebody follows the steps of a run.",
                                followedSteps, /*keepsSteps=*/true};
const Pipeline followedCopiesPipeline{"followed-copies",
                                      "The same, for what only copies of functions can tell.",
                                      followedCopiesSteps, /*keepsSteps=*/true};
const Pipeline betweenOrdersPipeline{
    "between-orders", "Says derivatives simply before derivatives of them are written out.",
    betweenOrdersSteps};
const Pipeline gradientPipeline{
    "gradient", "Says simply what `grad` and `run --grad` add to a program.", gradientSteps};
const Pipeline machinePipeline{"machine", "Goes before a program is compiled for the machine.",
                               machineSteps};
const Pipeline countedPipeline{"counted", "The same, where a profile counts the calls of the text.",
                               countedSteps};

bool isOptional(std::string_view pass) {
  return std::ranges::find(machineSteps, pass, &Step::pass) != std::end(machineSteps);
}

std::span<const Pipeline* const> pipelines() {
  static constexpr const Pipeline* all[] = {
      &toFixPipeline,    &fixedPipeline,          &derivativePipeline,
      &followedPipeline, &followedCopiesPipeline, &betweenOrdersPipeline,
      &gradientPipeline, &machinePipeline,        &countedPipeline};
  return all;
}

} // namespace transform
