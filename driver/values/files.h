// Values of any type in files: .npz and .safetensors by arrays.h, .json by json.h, and
// .txt as the text format writes them. What is written here is read here.
#pragma once

#include "driver/values/builder.h"
#include "lang/types/type.h"

#include <memory>
#include <string>
#include <vector>

namespace driver {

/// An error when the suffix of `path` is none that can be written, or when that kind of file cannot
/// hold values of the type, or as many as a run gives; to be asked before a long run. It speaks
/// `notation`.
runtime::Result<runtime::Done> checkOutput(const std::string& path, const lang::Type* type,
                                           bool hasGradients,
                                           lang::Notation notation = lang::Notation::Relay);

/// What a run gives: a value, and the gradients of inputs by their names, if it was to compute
/// them.
struct RunResult {
  runtime::Value value;
  std::vector<std::pair<std::string, runtime::Value>> gradients = {};
  /// Whether names in files begin with `out`, as they need not where the value is all there is.
  bool isNamed = true;
};

/// Writes the value as `out` and gradients as `grad.NAME`; a text has the value alone. Reals are
/// rounded to their element types.
runtime::Result<runtime::Done> writeOutput(const std::string& path, const RunResult& result);

/// Writes a value by the names of its parts alone, `layers.0.w`; one without parts is `out`.
runtime::Result<runtime::Done> writePart(const std::string& path, const runtime::Value& value);

/// True for the names of all files that hold values.
bool isValueFile(std::string_view path);

/// A file that values are read from.
class ValueFile {
public:
  virtual ~ValueFile() = default;

  /// The keys at the top, or of all tensors.
  virtual std::vector<std::string> keys() const { return {}; }
  /// The key of what the builder wants, which has a name, when none is said: its name, `out`, or
  /// that of the only tensor; empty for the whole file.
  virtual std::string keyFor(std::string_view name, const ValueBuilder& builder) = 0;
  /// Reads what the builder wants, at a key. Errors do not name the path of the file.
  virtual runtime::Result<runtime::Done> read(const std::string& key, ValueBuilder& builder,
                                              const AcceptTensor& accept) = 0;
  /// The keys of tensors at a key that were not read.
  virtual std::vector<std::string> unread(const std::string& key) const {
    static_cast<void>(key);
    return {};
  }
};

/// Opens a file by its suffix; the error names the path.
runtime::Result<std::unique_ptr<ValueFile>> openValueFile(const std::string& path);

} // namespace driver
