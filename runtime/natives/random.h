// Random numbers from a counter and a key: Threefry with 4 words of 64 bits, and what is drawn from
// it.
//
// The streams are bit for bit those of Relay, whose function differs from the published Threefry in
// two ways: a mix adds the second word twice before the exclusive or, and nothing is added to the
// words after the last round. A state has ten words: four of a key, two of a path of splits, two of
// a counter (the first is unused) and two that mark the place of the next split in the path.
#pragma once

#include "runtime/natives/parameters.h"

namespace natives {

constexpr size_t stateWords = 10;

/// The shape of the result, and whether its numbers are float64.
struct ShapeParameters {
  Shape shape;
  bool isDouble;

  void list(auto& each) { each(shape, isDouble); }
};

/// The same, of a rank whose shape is an operand behind the others.
struct DrawnParameters {
  int64_t rank;
  bool isDouble;

  void list(auto& each) { each(rank, isDouble); }
};

struct SampleParameters {
  int64_t count;

  void list(auto& each) { each(count); }
};

extern const NativeOf<ShapeParameters> randomWords, uniformNumbers, normalNumbers;
extern const NativeOf<DrawnParameters> uniformByOperand, normalByOperand;
extern const NativeOf<NoParameters> splitKey;
extern const NativeOf<SampleParameters> drawOutcomes;

/// A fresh state, the one that Relay makes of the seed.
Tensor randomKey(uint64_t seed);

} // namespace natives
