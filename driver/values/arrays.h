// Values of any type as arrays by keys, for files that hold nothing else.
//
// A tensor is an array whose key is its path: `out`, `out.1.0`. Tuples and values of data types
// with one constructor are their fields, `KEY.0`, `KEY.1` and so on. Of other data types, such as
// lists, `KEY.structure` is a text as `run` shows values, where a number N stands for a tensor of
// the array `KEY.N`. One that stands once is the array; a number that stands several times is an
// array with a row for each, in that order.
#pragma once

#include "driver/values/builder.h"
#include "runtime/formats/keyed_file.h"
#include "runtime/formats/tensor_bytes.h"

#include <set>

namespace driver {

/// The key of a part of what has a key, or nothing at the top of a file.
std::string partKey(const std::string& key, std::string_view part);
std::string partKey(const std::string& key, size_t part);
/// The key of the structure.
std::string structureKey(const std::string& key);

/// Adds the arrays of a value under a key.
runtime::Result<runtime::Done> addArrays(formats::TensorMap& arrays, const std::string& key,
                                         const runtime::Value& value);

/// The keys of a file, and which of them were read.
class ArrayKeys {
public:
  explicit ArrayKeys(const formats::KeyedFile& file);

  const std::vector<std::string>& all() const { return file_.keys(); }
  /// Whether something has the key, or a path that goes on from it.
  bool has(const std::string& key) const;
  bool hasArray(const std::string& key) const { return keys_.contains(key); }
  runtime::Result<runtime::Tensor> read(const std::string& key);
  /// The keys at a path, or of the whole file for an empty one, that were not read.
  std::vector<std::string> unread(const std::string& key) const;

private:
  const formats::KeyedFile& file_;
  std::set<std::string, std::less<>> keys_, read_;
};

/// Reads what the builder wants from the arrays under a key, or from the whole file for an empty
/// one. A list without structure is what has the numbers from 0 on, or the rows of the array that
/// has its key.
runtime::Result<runtime::Done> readArrays(ArrayKeys& keys, const std::string& key,
                                          ValueBuilder& builder, const AcceptTensor& accept);

} // namespace driver
