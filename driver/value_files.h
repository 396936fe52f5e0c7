// Results in files: .npz and .safetensors hold tensors and tuples of them, .json also data types.
#pragma once

#include "lang/type.h"
#include "runtime/result.h"
#include "runtime/value.h"

#include <string>
#include <vector>

namespace driver {

/// An error when the suffix of `path` is none that can be written, or when that kind of file cannot
/// hold values of the type; to be asked before a long run.
runtime::Result<runtime::Done> checkOutput(const std::string& path, const lang::Type* type);

/// What a run gives: a value, and the gradients of inputs by their names, if it was to compute
/// them.
struct RunResult {
  runtime::Value value;
  std::vector<std::pair<std::string, runtime::Value>> gradients = {};
};

/// Writes an object with `out` and, by the names of inputs, `grad`; or the tensors `out`, `out.0`,
/// `out.1.0`, `grad.NAME` and so on. Reals are rounded to their element types.
runtime::Result<runtime::Done> writeOutput(const std::string& path, const RunResult& result);

} // namespace driver
