// Writing elements at positions that are data. Positions may repeat: updates are applied one after
// the other in row-major order, so that the last one wins. Negative positions count from the back,
// once.
#pragma once

#include "runtime/natives/parameters.h"

namespace natives {

/// How an update and what stands at its place become one.
enum class Joining : uint8_t { Update, Add, Mul, Mean, Min, Max };

struct ScatterParameters {
  /// Where each element has an index of its own.
  size_t axis;
  Joining joining;

  void list(auto& each) { each(axis, joining); }
};

extern const NativeOf<ScatterParameters> scatterElements, scatterSlices;

} // namespace natives
