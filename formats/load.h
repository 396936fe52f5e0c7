// A tensor from a file named on the command line, by the suffix of the file.
//
// The suffix decides, not the content: a renamed file is reported as malformed.
#pragma once

#include "runtime/result.h"
#include "runtime/tensor.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace formats {

/// `PATH[:KEY]` taken apart.
struct TensorLocation {
  std::string path;
  std::optional<std::string> key;
};

/// Splits at the last `:` that has a path before it: one that ends in `.npz` or `.safetensors`, or
/// an existing file. So `c:d.npy` is a path and `w.npz:dense/kernel:0` has the key
/// `dense/kernel:0`.
TensorLocation splitKey(std::string_view text);

/// The tensor `key` of a .npy (without key), .npz or .safetensors. The key may be left out when the
/// file has exactly one tensor. Errors name the path.
runtime::Result<runtime::Tensor> loadTensor(const std::string& path,
                                            const std::optional<std::string>& key);

/// The keys of a .npz or .safetensors. Errors name the path.
runtime::Result<std::vector<std::string>> loadKeys(const std::string& path);

/// True for the names of files that hold tensors by key.
bool isKeyedFile(std::string_view path);
/// True for the names of all files that hold tensors.
bool isTensorFile(std::string_view path);

} // namespace formats
