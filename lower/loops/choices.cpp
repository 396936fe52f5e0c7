// The table of knobs; those that change most stand first. A new one is a field and a row.
#include "lower/loops/choices.h"

namespace loops {

namespace {

constexpr int64_t tileVectorValues[] = {1, 2, 3, 4};
constexpr int64_t tileRowValues[] = {14, 12, 10, 8, 7, 6, 5, 4, 3, 2};
constexpr int64_t zeroAlone[] = {0};
constexpr int64_t nearByteValues[] = {8 << 10, 16 << 10, 64 << 10, 256 << 10};
constexpr int64_t blockByteValues[] = {64 << 10, 256 << 10, 512 << 10, 4 << 20};
constexpr int64_t windowByteValues[] = {48 << 10, 96 << 10, 320 << 10, 640 << 10};
constexpr int64_t sumVectorValues[] = {1, 2, 8};

constexpr Knob knobTable[] = {
    {"kernels-in-lanes", &Choices::kernelsInLanes, zeroAlone},
    {"tile-vectors", &Choices::tileVectors, tileVectorValues},
    {"tile-rows", &Choices::tileRows, tileRowValues},
    {"flattens-rows", &Choices::flattensRows, zeroAlone},
    {"joins-bands", &Choices::joinsBands, zeroAlone},
    {"sum-vectors", &Choices::sumVectors, sumVectorValues},
    {"block-bytes", &Choices::blockBytes, blockByteValues},
    {"window-bytes", &Choices::windowBytes, windowByteValues},
    {"near-bytes", &Choices::nearBytes, nearByteValues},
};

} // namespace

std::span<const Knob> knobs() {
  return knobTable;
}

} // namespace loops
