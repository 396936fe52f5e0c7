// Objects to shared objects, by the compiler of C++ that the system has, and the static library of
// what runs executables.
#pragma once

#include "runtime/result.h"

#include <string>
#include <vector>

namespace driver {

/// Links an object with `libbaton_rt.a` for a family of processors into a shared object that shows
/// these symbols. The library is looked for in `$BATON_RT`, and where this program lies; the linker
/// is `$BATON_CXX`, or the system's compiler for the family. Fails where one of them is missing,
/// and with what the linker says.
runtime::Result<bool> linkShared(const std::string& object, const std::string& output,
                                 const std::string& triple,
                                 const std::vector<std::string>& symbols);

} // namespace driver
