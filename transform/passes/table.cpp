// The table of passes. A new pass is one file, its function among those here, and one row.
#include "transform/passes.h"

#include <algorithm>

namespace transform {

PassFunction aNormalForm, batchSteps, commonSubexpressions, constantFolding, constantParameters,
    deadCode, deforest, derivatives, equalValues, flattenTuples, foldScales, fuse, graphForm,
    inlineQuiet, inlining, keepExtents, keepLogarithms, lambdaLifting, layOutWeights, letSinking,
    operatorCalls, shapesAtHand, simplify, specialise, specialiseBoxed, unusedDefinitions;

namespace {

constexpr Property placed[] = {Property::Placed};
constexpr Property normal[] = {Property::ANormal, Property::Placed};
constexpr Property graph[] = {Property::Graph, Property::Placed};
constexpr Property live[] = {Property::Live, Property::Placed};

constexpr PassRow rows[] = {
    {"a-normal-form",
     "Makes every value a let of the block around it, in the order of evaluation.",
     {},
     normal,
     aNormalForm},
    {"batch-steps",
     "Makes products of several elements of a list at once, where a function goes over it step by "
     "step.",
     {},
     placed,
     batchSteps,
     /*rounds=*/true},
    {"common-subexpressions",
     "Computes once what is computed twice from the same values, also inside of nested blocks.",
     placed, placed, commonSubexpressions},
    {"constant-folding", "Computes what follows from constants alone.", placed, placed,
     constantFolding},
    {"constant-parameters",
     "Uses the tensor itself where all calls of a function give it the same.",
     {},
     placed,
     constantParameters},
    {"dead-code",
     "Leaves out bindings that nothing uses and that do nothing else.",
     {},
     live,
     deadCode},
    {"deforest",
     "Fuses chains of functions over data, so that the data between them is not made.",
     {},
     placed,
     deforest},
    {"derivatives",
     "Writes out the functions that `grad` and its kin stand for.",
     {},
     placed,
     derivatives},
    {"equal-values",
     "Uses one of those parameters and parts of results of a function that are always equal.",
     placed, placed, equalValues},
    {"flatten-tuples",
     "Gives functions the fields of tuples and records that they only take apart.",
     {},
     placed,
     flattenTuples},
    {"fold-scales",
     "Puts constant factors around convolutions and their kin into constant weights.", placed,
     placed, foldScales, /*rounds=*/true},
    {"fuse", "Makes functions, marked `Primitive=1`, of operator calls that are computed together.",
     placed, placed, fuse},
    {"graph-form",
     "Makes temporaries of lets that do nothing but give a value, as Relay's graph form has them.",
     {},
     graph,
     graphForm},
    {"inline-quiet",
     "Puts small bodies that have no effects and no faults in the places of their calls, also of "
     "functions that call each other.",
     {},
     placed,
     inlineQuiet},
    {"inlining",
     "Puts the bodies of known functions in the places of their calls.",
     {},
     placed,
     inlining},
    {"keep-extents",
     "Finds the extents of tensors that functions capture for nothing else where these are made.",
     {},
     placed,
     keepExtents},
    {"keep-logarithms",
     "Says logarithms of probabilities so that their derivatives keep digits.",
     {},
     placed,
     keepLogarithms},
    {"lambda-lifting",
     "Makes globals of local functions that are only called.",
     {},
     placed,
     lambdaLifting},
    {"lay-out-weights", "Puts constant weights of sums into the order in which kernels read them.",
     placed, placed, layOutWeights},
    {"let-sinking",
     "Puts lets of functions that are differentiated into the only branch that needs them.",
     {},
     placed,
     letSinking},
    {"operator-calls",
     "Calls operators by their own names, where variables stand for them.",
     {},
     placed,
     operatorCalls},
    {"shapes-at-hand",
     "Gives operators that need the shape of an operand alone a tensor of that shape that is there "
     "anyway.",
     {},
     placed,
     shapesAtHand},
    {"simplify",
     "Says calls more simply by the rules of their operators, and opens tuples, branches and "
     "matches "
     "whose values are in sight.",
     placed, placed, simplify},
    {"specialise",
     "Makes a copy of a generic or higher-order definition for each way that it is called.",
     {},
     placed,
     specialise},
    {"specialise-boxed",
     "Makes copies of generic definitions where the machine would box numbers without.",
     {},
     placed,
     specialiseBoxed},
    {"unused-definitions",
     "Leaves out definitions that the entry, `@main`, does not reach.",
     {},
     {},
     unusedDefinitions},
};

} // namespace

std::span<const PassRow> passRows() {
  return rows;
}

std::vector<const lang::Global*> entriesOf(const lang::Module& module, Entries names) {
  std::vector<const lang::Global*> entries;
  for (std::string_view name : names)
    if (const lang::Global* global = module.find(name))
      entries.push_back(global);
  return entries;
}

const PassRow* findPass(std::string_view name) {
  const auto* found = std::ranges::find(rows, name, &PassRow::name);
  return found == std::end(rows) ? nullptr : found;
}

} // namespace transform
