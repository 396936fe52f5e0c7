// Statements as instructions: what is read, computed, checked and stored, for one place or for as
// many lanes as the loop around runs in.
#pragma once

#include "codegen/llvm/functions.h"
#include "codegen/llvm/positions.h"
#include "lower/loops/nest.h"

#include <optional>
#include <vector>

namespace codegen {

/// Where the elements of a buffer are.
struct BufferPlace {
  std::string pointer = {};
  /// Each lane has elements of its own, side by side.
  bool isPerLane = false;
  /// The last dimension is long enough for whole vectors.
  bool isPadded = false;
};

/// What the code around a statement gives it.
struct Surroundings {
  FunctionText& text;
  loops::Nest& nest;
  Positions& positions;
  const sizes::Facts& facts;
  const std::vector<BufferPlace>& buffers;
  std::optional<Lanes> lanes;
  uint32_t vectorBytes;
  /// Where code goes that finds a fault.
  const std::string& faultLabel;
  /// Elements of no matter, for reads that do not count.
  const std::string& harmless;
};

/// Throws Unsupported.
void writeStatement(const Surroundings& around, const loops::Statement& statement);
/// What a statement stores that joins nothing and cannot fail, as it lies in memory. Throws
/// Unsupported.
IrValue storedValue(const Surroundings& around, const loops::Statement& statement);

} // namespace codegen
