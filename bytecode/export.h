// A compiled program as an executable, and what the language has to keep of it.
#pragma once

#include "bytecode/compile.h"
#include "executable/executable.h"

namespace bytecode {

/// The names of functions in the module of an executable: what the entry takes, and behind it what
/// it gives; the operators that only the language applies, by site; a use of each data type.
inline constexpr std::string_view signatureName = "signature", siteName = "site", useName = "use";

struct Exported {
  /// Without the text of `language`, and with places in the texts of the session.
  executable::Executable executable;
  std::unique_ptr<lang::Module> language;
};

/// Compiles what the entry needs. What it points into must outlive it; the module's metadata goes
/// with `language`. Throws TooLarge for programs beyond the machine's bounds.
Exported exportProgram(lang::Module& module, const lang::Typing& typing,
                       const lang::OperatorTable& operators, const lang::Global& entry);

} // namespace bytecode
