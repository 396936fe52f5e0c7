// What a library for other programs knows beyond the machine. `libbaton_rt` knows nothing
// (without_language.cpp); `libbaton` has the language with its operators
// (driver/libbaton/language.cpp).
#pragma once

#include "vm/executable/call.h"

namespace rt {

/// An executable that can be called, from several threads at once, and what its sites are left to.
struct Callable {
  std::shared_ptr<const executable::Executable> executable;
  vm::Language language;
};

/// An error that says which operator cannot be applied, where there is one.
runtime::Result<Callable> callableOf(std::unique_ptr<executable::Executable> made);

} // namespace rt
