// The table of rewrites. A new one is one file, its function among those here, and one row.
#include "lower/loops/rewrite.h"

#include <array>

namespace loops {

namespace rewrites {

RewriteFunction assume, bias, cache, distribute, expand, fission, flatten, group, inlineScratch,
    interleave, join, keep, lift, lineUp, merge, narrow, pack, parallel, partial, peel, privatise,
    reorder, roundUp, serial, split, stage, transpose, unroll, vector;

namespace {

constexpr std::array table{
    Rewrite{"assume", "SIZE LEAST [MULTIPLE]",
            "takes for granted that a size is so large, and a multiple", assume},
    Rewrite{"bias", "SCRATCH BUFFER",
            "adds up products with bytes of the other sign, 128 apart, from another start on",
            bias},
    Rewrite{"cache", "BUFFER LOOP",
            "copies what an iteration of a loop reads of a buffer to scratch first", cache},
    Rewrite{"distribute", "SCRATCH",
            "adds up products of elements alone, and starts with what is taken off them",
            distribute},
    Rewrite{"expand", "SCRATCH LOOP",
            "moves scratch in front of the loop that it is allocated in, an element an iteration",
            expand},
    Rewrite{"fission", "LOOP NUMBER", "cuts the body of a loop behind so many nodes into two loops",
            fission},
    Rewrite{"flatten", "BUFFER NUMBER",
            "makes one dimension of a buffer of this and the next, whose elements lie as they lay",
            flatten},
    Rewrite{"group", "LOOP",
            "runs the iterations of a loop at once, side by side in each lane around", group},
    Rewrite{"inline", "SCRATCH", "computes elements where they are read, and makes no scratch",
            inlineScratch},
    Rewrite{"interleave", "SCRATCH NUMBER NUMBER",
            "lays so many elements of a dimension side by side", interleave},
    Rewrite{"join", "LOOP LOOP", "makes one loop of two that follow each other", join},
    Rewrite{"keep", "SCRATCH TYPE", "keeps what readers make of elements, as such numbers", keep},
    Rewrite{"lift", "LOOP LOOP",
            "moves the second loop in front of the first, which stands before it", lift},
    Rewrite{
        "line-up", "BUFFER LOOP",
        "copies what a loop reads of a buffer to scratch in front of it, in the order of reading",
        lineUp},
    Rewrite{"merge", "LOOP LOOP", "makes one loop of two, the second alone in the first", merge},
    Rewrite{"narrow", "SCRATCH", "adds up in 32 bits what was added up in 64", narrow},
    Rewrite{"pack", "BUFFER LOOP", "copies what a loop reads of a buffer to scratch in front of it",
            pack},
    Rewrite{"parallel", "LOOP", "runs the iterations of a loop at once, by threads", parallel},
    Rewrite{"partial", "SCRATCH LOOP",
            "joins each iteration of a loop for itself, then what they gave", partial},
    Rewrite{"peel", "LOOP FORM", "cuts a loop behind so many iterations into two", peel},
    Rewrite{"privatise", "SCRATCH LOOP",
            "moves scratch into a loop, with what one iteration needs of it", privatise},
    Rewrite{"reorder", "LOOP LOOP", "puts the second loop, alone in the first, around it", reorder},
    Rewrite{"round-up", "LOOP NUMBER",
            "adds products of 0 until iterations are a multiple of a number", roundUp},
    Rewrite{"serial", "LOOP", "runs the iterations of a loop one after the other", serial},
    Rewrite{"split", "LOOP NUMBER",
            "makes pieces of so many iterations, under a condition where that leaves a rest",
            split},
    Rewrite{"stage", "BUFFER LOOP",
            "stores what a loop stores of a buffer in scratch, and copies it from there behind",
            stage},
    Rewrite{"transpose", "SCRATCH NUMBER NUMBER", "exchanges two dimensions of scratch", transpose},
    Rewrite{"unroll", "LOOP", "writes out the iterations of a loop", unroll},
    Rewrite{"vector", "LOOP", "runs the iterations of a loop at once, as lanes", vector},
};

} // namespace

} // namespace rewrites

std::span<const Rewrite> rewriteTable() {
  return rewrites::table;
}

} // namespace loops
