// A compiled program as an executable, and what the language has to keep of it.
#pragma once

#include "lang/op/declared.h"
#include "vm/bytecode/compile.h"
#include "vm/executable/executable.h"

namespace bytecode {

/// What functions in the module of an executable are called, with numbers: what an entry takes, and
/// behind it what it gives; the operators that only the language applies, by site; a use of each
/// data type.
inline constexpr std::string_view signatureName = "signature", siteName = "site", useName = "use";
std::string numberedName(std::string_view name, size_t number);

struct Exported {
  /// Without the text of `language`, and with places in the texts of the session.
  executable::Executable executable;
  std::unique_ptr<lang::Module> language;
};

/// Compiles what the entries need. What it points into must outlive it; the module's metadata goes
/// with `language`. Throws TooLarge for programs beyond the machine's bounds.
Exported exportProgram(lang::Module& module, const lang::Typing& typing,
                       const lang::OperatorTable& operators,
                       std::span<const lang::Global* const> entries);

} // namespace bytecode
