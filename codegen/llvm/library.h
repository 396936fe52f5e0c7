// LLVM, through its C interface, opened when it is first wanted: to link it costs every start of a
// process 13 ms. Where it is not installed, whoever asks is told so and does without.
#pragma once

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
  /// How many of these there are.
  uint32_t registers() const;
};

enum class Output : uint8_t { Assembly, Object };

/// The one that this process runs on.
runtime::Result<Processor> hostProcessor();

/// Machine code of a module, for a processor. Fails where there is no LLVM, and where the module is
/// no good one, which is our fault.
runtime::Result<std::string> compiled(std::string_view module, const Processor& processor,
                                      Output output);

} // namespace codegen
