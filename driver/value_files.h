// Results in files: .npz and .safetensors hold tensors and tuples of them, .json also data types.
#pragma once

#include "lang/type.h"
#include "runtime/result.h"
#include "runtime/value.h"

#include <string>

namespace driver {

/// An error when the suffix of `path` is none that can be written, or when that kind of file cannot
/// hold values of the type; to be asked before a long run.
runtime::Result<runtime::Done> checkOutput(const std::string& path, const lang::Type* type);

/// Writes `{"out": value}` or the tensors `out`, `out.0`, `out.1.0` and so on. Reals are rounded to
/// their element types.
runtime::Result<runtime::Done> writeOutput(const std::string& path, const runtime::Value& value);

} // namespace driver
