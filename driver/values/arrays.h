// Values of any type as arrays by keys, for files that hold nothing else.
//
// A tensor is an array whose key is its path (part_names.h): `out`, `out.1.w`. A list of tensors of
// one type and shape is one array with a row for each. A constructor without fields is an array
// without elements. What has more parts than anybody wants to name, or too deep ones, is written
// in another way: `KEY.structure` is a text as `run` shows values, where a number N stands for a
// tensor of the array `KEY.N`. One that stands once is the array; a number that stands several
// times is an array with a row for each, in that order.
#pragma once

#include "driver/values/builder.h"
#include "runtime/formats/keyed_file.h"
#include "runtime/formats/tensor_bytes.h"

#include <set>

namespace driver {

/// The key of the structure.
std::string structureKey(const std::string& key);

/// Adds the arrays of a value under a key, or those of its parts by their names alone where the key
/// is empty; an array that has no name then is called `unnamed`.
runtime::Result<runtime::Done> addArrays(formats::TensorMap& arrays, const std::string& key,
                                         const runtime::Value& value,
                                         const std::string& unnamed = {});

/// The keys of a file, and which of them were read.
class ArrayKeys {
public:
  explicit ArrayKeys(const formats::KeyedFile& file);

  const std::vector<std::string>& all() const { return file_.keys(); }
  /// Whether something has the key, or a path that goes on from it.
  bool has(const std::string& key) const;
  bool hasArray(const std::string& key) const { return keys_.contains(key); }
  /// How many numbers from 0 on have something at a key; and the least number beyond these that
  /// has something too.
  struct Items {
    size_t count = 0;
    std::optional<size_t> beyond = {};
  };
  Items items(const std::string& key) const;
  /// Says that an array has its place.
  void use(const std::string& key) { used_.insert(key); }
  runtime::Result<runtime::Tensor> read(const std::string& key);
  using Keys = std::set<std::string, std::less<>>;
  /// The keys at a path, or of the whole file for an empty one, without those that are used.
  std::vector<std::string> without(const std::string& key, const Keys& used) const;
  std::vector<std::string> unused(const std::string& key) const { return without(key, used_); }

private:
  const formats::KeyedFile& file_;
  Keys keys_, used_;
};

/// A part of a value that a file has no array for.
struct MissingPart {
  std::string key;
  /// Behind a comma, `which is `float32``.
  std::string what;
};

/// What a value finds in a file: the parts that are missing, of very many the first, and the keys
/// that have a place.
struct Survey {
  std::vector<MissingPart> missing;
  ArrayKeys::Keys used;
};

/// Looks for what the builder wants at a key, or in the whole file for an empty one.
runtime::Result<Survey> survey(ArrayKeys& keys, const std::string& key, ValueBuilder builder);

/// Reads what the builder wants from the arrays under a key, or from the whole file for an empty
/// one. The error lists all that is missing, and what has no place.
runtime::Result<runtime::Done> readArrays(ArrayKeys& keys, const std::string& key,
                                          ValueBuilder& builder, const AcceptTensor& accept);

} // namespace driver
