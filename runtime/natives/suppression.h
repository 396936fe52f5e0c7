// Choosing detection boxes: counting the valid ones, and suppressing those that overlap better
// ones.
//
// Boxes may name any two opposite corners. Equal scores keep their order. Rows that hold no box are
// filled with -1 (with 0 where all classes compete).
#pragma once

#include "runtime/natives/parameters.h"

namespace natives {

/// The columns of score and class in the rows of the data; a negative class is nowhere.
struct ColumnParameters {
  int64_t scoreAt, idAt;

  void list(auto& each) { each(scoreAt, idAt); }
};

struct SuppressionParameters {
  int64_t scoreAt, idAt, boxAt, topCount;
  bool isAnyClass, wantsIndices, isDense;

  void list(auto& each) { each(scoreAt, idAt, boxAt, topCount, isAnyClass, wantsIndices, isDense); }
};

struct FormatParameters {
  bool isOnnx;

  void list(auto& each) { each(isOnnx); }
};

extern const NativeOf<ColumnParameters> validBoxes;
extern const NativeOf<SuppressionParameters> suppressBoxes;
extern const NativeOf<FormatParameters> suppressClasses;

} // namespace natives
