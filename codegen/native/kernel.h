// Kernels in machine code: nests of tensor functions, scheduled for the processor at hand and
// compiled by LLVM, once for all processes that come.
//
// codegen/native/ is where engines get native code. Strips stand beside it: they say what results
// look like, run what has no nest or is not compiled, and find the words where native code finds
// that something is a fault.
#pragma once

#include "codegen/native/tuner.h"
#include "lower/loops/nest.h"
#include "lower/tensor/engine.h"
#include "runtime/result.h"

#include <functional>

namespace codegen {

/// Which kernels run natively: all, or those whose calls take long enough for that to pay, from the
/// call on with which they do.
enum class When : uint8_t { Always, ItPays };

/// How native code is made and used.
struct NativeOptions {
  /// The name of a processor; empty for the one at hand.
  std::string processor = {};
  When when = When::Always;
  loops::Numbers numbers = loops::Numbers::Reordered;
  /// Seconds that a search for faster schedules takes, before the first call; 0 for none.
  double tuneSeconds = 0;
  /// Whether it ends before.
  std::function<bool()> isEnough = [] { return false; };
  /// Who is told what it found, where there is one.
  std::function<void(const Tuned&)> tuned = {};
};

/// An engine whose kernels run natively where that can be; it keeps what it compiles on disk. Fails
/// where there is no such processor; where there is no LLVM, strips serve, and the engine has a
/// note that says so.
runtime::Result<tensor::TensorEngine> nativeEngine(const NativeOptions& options);

/// How many nests there is code of for classes of extents, how many of these the cache had, and how
/// many such classes are left to strips because the function has no nest there, or its nest is not
/// compiled.
struct NativeCounts {
  size_t compiled = 0, found = 0, refused = 0;
};
NativeCounts nativeCounts();

} // namespace codegen
