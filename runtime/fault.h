// Why a computation could not go on.
#pragma once

#include "runtime/tensor.h"
#include "runtime/words.h"

namespace runtime {

/// What a fault is about. Data: a value that no type rules out, such as a zero divisor, a position
/// outside, a value that decides a shape. Sizes: those that do not go together. Type: a value of
/// another type than was promised. Unmatched: a value that no arm is for. Depth: calls nested too
/// deep. Steps: more calls than were allowed. Memory: there may be some on another day. Time: it
/// took longer than was allowed. Interrupted: somebody wanted the run to end. Internal: ours, an
/// expression that is not well formed.
enum class FaultKind : uint8_t {
  Data,
  Sizes,
  Type,
  Unmatched,
  Depth,
  Steps,
  Memory,
  Time,
  Interrupted,
  Internal
};

struct Fault {
  FaultKind kind;
  Words problem;
};

/// Memory ran out for a tensor of this type.
Fault memoryFault(DType dtype, std::span<const int64_t> shape);

/// `shape (2, 3) and type float32`
std::string shapeText(DType dtype, std::span<const int64_t> shape);

} // namespace runtime
