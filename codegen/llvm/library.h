// LLVM, through its C interface, opened when it is first wanted: to link it costs every start of a
// process 13 ms. Where it is not installed, whoever asks is told so and does without. `$BATON_LLVM`
// names another library than those of the system.
#pragma once

#include "codegen/llvm/processor.h"

namespace codegen {

enum class Output : uint8_t { Assembly, Object };

/// The one that this process runs on.
runtime::Result<Processor> hostProcessor();

/// Machine code of a module, for a processor. Fails where there is no LLVM, and where the module is
/// no good one, which is our fault.
runtime::Result<std::string> compiled(std::string_view module, const Processor& processor,
                                      Output output);

} // namespace codegen
