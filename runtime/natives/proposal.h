// Region proposals of two-stage detectors, and detections of one-stage ones.
//
// Both are computed in the float type of the data, as in Relay, since what is chosen hangs on how
// numbers are rounded.
#pragma once

#include "runtime/natives/parameters.h"

namespace natives {

constexpr size_t mostAnchors = 64;
constexpr int64_t mostStride = 1 << 20;

struct ProposalParameters {
  std::vector<double> scales, ratios;
  int64_t stride, before, after, leastSize;
  double threshold;
  bool addsDeltas;

  void list(auto& each) {
    each(scales, ratios, stride, before, after, leastSize, threshold, addsDeltas);
  }
};

struct RegularParameters {
  int64_t perClass, most, classes;
  float overlap, score;

  void list(auto& each) { each(perClass, most, classes, overlap, score); }
};

extern const NativeOf<ProposalParameters> proposeBoxes;
extern const NativeOf<RegularParameters> detectBoxes;

} // namespace natives
