// A tensor from a file named on the command line, by the suffix of the file.
//
// The suffix decides, not the content: a renamed file is reported as malformed.
#pragma once

#include "runtime/formats/keyed_file.h"

#include <optional>
#include <string>
#include <string_view>

namespace formats {

/// `PATH[:KEY]` taken apart.
struct TensorLocation {
  std::string path;
  std::optional<std::string> key;
};

/// Splits at the last `:` that has a path before it: one of a file that holds values by key, or
/// an existing file. So `c:d.npy` is a path and `w.npz:dense/kernel:0` has the key
/// `dense/kernel:0`.
TensorLocation splitKey(std::string_view text);

/// The tensor `key` of a .npy (without key), .npz or .safetensors. The key may be left out when the
/// file has exactly one tensor. Errors name the path.
runtime::Result<runtime::Tensor> loadTensor(const std::string& path,
                                            const std::optional<std::string>& key);

/// A .npz or .safetensors for several of its tensors. The error names the path; those of what is
/// read then do not.
OpenedFile openKeyed(const std::string& path);

/// True for the names of files that hold values by key: .npz, .safetensors and .json.
bool isKeyedFile(std::string_view path);

} // namespace formats
