// Processors that code is written for, and the one at hand, as far as that can be told without
// LLVM.
#pragma once

#include "lower/loops/machine_model.h"
#include "runtime/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace codegen {

/// A processor as LLVM knows it.
struct Processor {
  std::string triple, name, features;

  /// `+avx512f` and the like.
  bool has(std::string_view feature) const;
  /// Bytes of the widest registers with arithmetic on floats.
  uint32_t vectorBytes() const;
  /// How many of these there are, less those that hold what other processors read from memory while
  /// they compute.
  uint32_t registers() const;
  loops::WholeProducts wholeProducts() const;
};

/// What tells this processor from others for which the same code would not do: its model, and what
/// it has that the system lets programs use.
std::string hostIdentity();

/// The processor of a name, for code that need not run here: one of the levels `x86-64`,
/// `x86-64-v2`, `x86-64-v3` and `x86-64-v4`, or `aarch64`. Fails where there is no such name.
runtime::Result<Processor> targetNamed(std::string_view name);
/// The same for code that is to run here; fails where this machine lacks something of it.
runtime::Result<Processor> processorNamed(std::string_view name);

} // namespace codegen
