// The other way of arrays.cpp, and a little more: files that other programs wrote may do
// without structures.
#include "driver/values/arrays.h"

#include "driver/values/literal.h"
#include "runtime/formats/quote.h"

#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <unordered_map>

namespace driver {

using formats::backquoted;
using lang::Type;
using runtime::Done;
using runtime::Error;
using runtime::Result;
using runtime::Tensor;

namespace {

Tensor rowOf(const Tensor& rows, size_t row) {
  Tensor tensor =
      Tensor::unwritten(rows.dtype(), runtime::Shape(rows.shape().begin() + 1, rows.shape().end()));
  std::memcpy(tensor.bytes(), rows.bytes() + row * tensor.byteSize(), tensor.byteSize());
  return tensor;
}

/// The arrays that a structure mentions: how often each, and what comes next of those that were
/// read.
class StructureArrays {
public:
  StructureArrays(ArrayKeys& keys, std::string key, std::string_view text)
      : keys_(keys), key_(std::move(key)) {
    for (size_t at = 0; at < text.size();) {
      size_t end = std::min(text.find_first_of("(), \t\r\n", at), text.size());
      if (auto number = numberOf(text.substr(at, end - at)))
        ++arrays_[*number].uses;
      at = end + 1;
    }
  }

  /// The tensor that a number in the structure stands for.
  Result<Tensor> next(std::string_view text) {
    text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    auto number = numberOf(text);
    if (!number)
      return Error{fmt::format("{} has {} where the number of an array is expected",
                               backquoted(structureKey(key_)), backquoted(text))};
    Array& array = arrays_[*number];
    if (!array.rows) {
      auto read = keys_.read(partKey(key_, *number));
      if (!read)
        return read;
      array.rows = *std::move(read);
    }
    return array.uses == 1 ? *array.rows : row(array, *number);
  }

private:
  struct Array {
    size_t uses = 0;
    size_t taken = 0;
    std::optional<Tensor> rows = {};
  };

  static std::optional<size_t> numberOf(std::string_view text) {
    size_t number = 0;
    auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    bool isNumber = end.ec == std::errc() && end.ptr == text.data() + text.size();
    return isNumber ? std::optional(number) : std::nullopt;
  }

  Result<Tensor> row(Array& array, size_t number) {
    const Tensor& rows = *array.rows;
    if (rows.rank() == 0 || rows.shape()[0] != int64_t(array.uses))
      return Error{
          fmt::format("{} stands for {} tensors in {}, but the array has {}",
                      backquoted(partKey(key_, number)), array.uses, backquoted(structureKey(key_)),
                      rows.rank() == 0 ? "no rows" : fmt::format("{} rows", rows.shape()[0]))};
    return rowOf(rows, array.taken++);
  }

  ArrayKeys& keys_;
  const std::string key_;
  std::unordered_map<size_t, Array> arrays_;
};

class ArrayReader {
public:
  ArrayReader(ArrayKeys& keys, ValueBuilder& builder, const AcceptTensor& accept)
      : keys_(keys), builder_(builder), accept_(accept) {}

  Result<Done> read(const std::string& key) {
    auto good = begin(key);
    while (good && !open_.empty()) {
      Open& top = open_.back();
      if (top.next == top.count)
        end();
      else if (top.list)
        good = beginItem(top);
      else
        good = begin(partKey(top.key, top.next++));
    }
    return good;
  }

private:
  /// A value whose parts are being read.
  struct Open {
    std::string key;
    size_t count;
    std::optional<ListConstructors> list = {};
    size_t next = 0;
  };

  Result<Done> begin(const std::string& key) {
    const Type& type = *builder_.wanted();
    if (auto problem = unreadable(builder_))
      return *problem;
    if (type.isTensor())
      return tensor(key);
    if (type.isTuple()) {
      builder_.openTuple();
      open_.push_back({key, type.parts.size()});
      return Done{};
    }
    if (isRecord(*type.definition)) {
      const lang::Constructor& constructor = *type.definition->constructors[0];
      builder_.open(constructor);
      open_.push_back({key, constructor.fields.size()});
      return Done{};
    }
    if (keys_.hasArray(structureKey(key)))
      return structure(key);
    return list(key);
  }

  Result<Done> tensor(const std::string& key) {
    if (builder_.depth() > 0 && !keys_.hasArray(key))
      return Error{fmt::format("there is no key {} for `{}`, which is `{}`; {}", backquoted(key),
                               builder_.path(), lang::typeText(builder_.wanted()),
                               formats::listedKeys(keys_.all()))};
    auto read = keys_.read(key);
    auto tensor = read ? accept_(builder_, *std::move(read)) : read;
    if (!tensor)
      return tensor.failure();
    builder_.put(runtime::tensorValue(*std::move(tensor)));
    return Done{};
  }

  Result<Done> structure(const std::string& key) {
    auto array = keys_.read(structureKey(key));
    if (!array)
      return array.failure();
    if (array->dtype() != runtime::UInt8 || array->rank() != 1)
      return Error{
          fmt::format("{} is to be a text, one row of `uint8`", backquoted(structureKey(key)))};
    const std::string_view text = formats::bytesOf(*array);
    StructureArrays arrays(keys_, key, text);
    auto good = readValueText(text, builder_, [&](std::string_view leaf) -> Result<Tensor> {
      auto tensor = arrays.next(leaf);
      return tensor ? accept_(builder_, *std::move(tensor)) : tensor;
    });
    return good ? good : inStructure(key, good.failure());
  }

  static Error inStructure(const std::string& key, const Error& error) {
    std::string where = backquoted(structureKey(key));
    bool isSaid = error.message.find(where) != std::string::npos;
    return isSaid ? error : Error{fmt::format("{}: {}", where, error.message)};
  }

  /// A list that somebody else wrote.
  Result<Done> list(const std::string& key) {
    const Type& type = *builder_.wanted();
    auto list = listConstructors(*type.definition);
    if (list && keys_.hasArray(key))
      return rows(key, *list);
    size_t count = 0;
    while (list && keys_.has(partKey(key, count)))
      ++count;
    if (count == 0)
      return Error{fmt::format("there is no {}, which says of what constructors a `{}` is",
                               backquoted(structureKey(key)), lang::typeText(&type))};
    open_.push_back({key, count, list});
    return Done{};
  }

  /// A list of tensors as the rows of one.
  Result<Done> rows(const std::string& key, const ListConstructors& list) {
    auto array = keys_.read(key);
    if (!array)
      return array.failure();
    if (array->rank() == 0)
      return Error{fmt::format("{} has no rows, of which a list is wanted", backquoted(key))};
    const size_t count = size_t(array->shape()[0]);
    for (size_t i = 0; i < count; ++i) {
      builder_.open(*list.link);
      if (!builder_.wanted()->isTensor())
        return Error{fmt::format("{} is an array, and what is wanted is a list of `{}`",
                                 backquoted(key), lang::typeText(builder_.wanted()))};
      auto tensor = accept_(builder_, rowOf(*array, i));
      if (!tensor)
        return tensor.failure();
      builder_.put(runtime::tensorValue(*std::move(tensor)));
    }
    endList(list, count);
    return Done{};
  }

  void endList(const ListConstructors& list, size_t count) {
    builder_.open(*list.empty);
    for (size_t i = 0; i <= count; ++i)
      builder_.close();
  }

  Result<Done> beginItem(Open& top) {
    builder_.open(*top.list->link);
    return begin(partKey(top.key, top.next++));
  }

  /// Ends what has all its parts.
  void end() {
    const Open& top = open_.back();
    if (top.list)
      endList(*top.list, top.count);
    else
      builder_.close();
    open_.pop_back();
  }

  ArrayKeys& keys_;
  ValueBuilder& builder_;
  const AcceptTensor& accept_;
  std::vector<Open> open_;
};

} // namespace

ArrayKeys::ArrayKeys(const formats::KeyedFile& file)
    : file_(file), keys_(file.keys().begin(), file.keys().end()) {}

bool ArrayKeys::has(const std::string& key) const {
  const std::string inner = key + '.';
  auto found = keys_.lower_bound(inner);
  return keys_.contains(key) || (found != keys_.end() && found->starts_with(inner));
}

Result<Tensor> ArrayKeys::read(const std::string& key) {
  read_.insert(key);
  return file_.read(key);
}

std::vector<std::string> ArrayKeys::unread(const std::string& key) const {
  std::vector<std::string> keys;
  const std::string inner = key + '.';
  for (const std::string& each : keys_)
    if ((key.empty() || each == key || each.starts_with(inner)) && !read_.contains(each))
      keys.push_back(each);
  return keys;
}

Result<Done> readArrays(ArrayKeys& keys, const std::string& key, ValueBuilder& builder,
                        const AcceptTensor& accept) {
  return ArrayReader(keys, builder, accept).read(key);
}

} // namespace driver
