// Files that hold tensors by keys, .npz and .safetensors, open for as many of them as are wanted:
// what says where they lie is read once.
#pragma once

#include "runtime/result.h"
#include "runtime/tensor.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace formats {

class KeyedFile {
public:
  virtual ~KeyedFile() = default;

  /// In the order of the file.
  const std::vector<std::string>& keys() const { return keys_; }
  /// The tensor of a key; the error lists the keys there are.
  virtual runtime::Result<runtime::Tensor> read(std::string_view key) const = 0;

protected:
  std::vector<std::string> keys_;
};

using OpenedFile = runtime::Result<std::unique_ptr<KeyedFile>>;

/// The keys of a file, or why it could not be opened.
inline runtime::Result<std::vector<std::string>> keysOf(const OpenedFile& file) {
  if (!file)
    return file.failure();
  return (*file)->keys();
}

/// A tensor of a file, or why it could not be opened or read.
inline runtime::Result<runtime::Tensor> tensorOf(const OpenedFile& file, std::string_view key) {
  if (!file)
    return file.failure();
  return (*file)->read(key);
}

} // namespace formats
