// An object file that LLVM wrote, as an image: sections one behind the other, references among them
// resolved, and calls of the few functions of codegen/image/helpers.h by way of jumps.
//
// All that is asked of an object is known when it is made, so nothing that runs code needs to know
// of files of this form.
#pragma once

#include "codegen/image/image.h"
#include "runtime/result.h"

#include <span>
#include <string>
#include <string_view>

namespace codegen {

/// An object for x86-64 or aarch64 whose references are all relative, with functions of these names
/// as entries, in this order; or what is wrong with it.
runtime::Result<Image> imageOfObject(std::string_view object,
                                     std::span<const std::string> functions);

} // namespace codegen
