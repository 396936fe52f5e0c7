// What choosers know of a machine, as data.
#pragma once

#include "lower/loops/choices.h"

#include <cstddef>
#include <cstdint>

namespace loops {

/// What an extent that is open counts as, where it is asked how much work there is.
inline constexpr int64_t openExtent = 1000;

/// Which products of whole numbers one instruction multiplies and adds to a sum of 32 bits: two of
/// int16 (Pairs), or also four of uint8 and int8 (Quads).
enum class WholeProducts : uint8_t { None, Pairs, Quads };

struct MachineModel {
  /// Bytes that one instruction computes on at once.
  int64_t vectorBytes = 32;
  /// Registers of so many bytes.
  int64_t registers = 16;
  WholeProducts wholeProducts = WholeProducts::None;
  /// Whether loops are cut into lanes and tiles; a back end that does so by itself wants them
  /// whole.
  bool cutsLoops = true;
  /// Threads that are worth while.
  int64_t threads = 1;
  /// Points of a nest that are worth a thread of their own.
  int64_t pointsOfThread = 1 << 15;
  Choices choices = {};
};

} // namespace loops
