// All tensors in many values, for an .npz file.
#pragma once

#include "runtime/formats/npz.h"
#include "runtime/value.h"

#include <unordered_map>

namespace driver {

/// Tensors by keys. Of a tuple or a constructor each field is added as `KEY.0`, `KEY.1` and so on,
/// of a reference what it holds as `KEY.ref`. A key that is there already becomes `KEY#2`.
/// Functions are no tensors and are left out, as are element types that numpy has not, what lies
/// very deep in a value and what comes after very many tensors.
class TensorDump {
public:
  void add(const std::string& key, const runtime::Value& value);
  /// Writes the file; a sentence that says what is in it.
  runtime::Result<std::string> write(const std::string& path) const;

private:
  void keep(const std::string& key, const runtime::Tensor& tensor);

  formats::TensorMap tensors_;
  /// How often each key came again.
  std::unordered_map<std::string, uint64_t> repeats_;
  size_t bytes_ = 0;
  uint64_t leftOut_ = 0;
};

} // namespace driver
