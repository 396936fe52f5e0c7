// Tensors out of .safetensors and into it. The header is checked in safetensors_header.cpp, so that
// here every range lies within the data.
#include "runtime/formats/safetensors.h"

#include "runtime/formats/file.h"
#include "runtime/formats/quote.h"
#include "runtime/formats/safetensors_types.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace formats {

using runtime::Done;
using runtime::Error;
using runtime::guarded;
using runtime::Result;

namespace {

constexpr uint64_t lengthBytes = 8;
constexpr uint64_t longestHeader = 100'000'000;

/// A file in memory or on disk. `read` takes an offset and a length that lie within `size`.
struct ByteSource {
  uint64_t size;
  std::function<Result<std::string>(uint64_t, uint64_t)> read;
};

struct Contents {
  std::map<std::string, SafetensorsEntry> entries;
  uint64_t dataStart;
};

Result<ByteSource> sourceOfBytes(std::string_view bytes) {
  return ByteSource{bytes.size(), [bytes](uint64_t offset, uint64_t length) {
                      return Result<std::string>(std::string(bytes.substr(offset, length)));
                    }};
}

Result<ByteSource> sourceOfPath(const std::string& path) {
  auto size = fileSize(path);
  if (!size)
    return size.failure();
  return ByteSource{*size, [path](uint64_t offset, uint64_t length) {
                      return readFileRange(path, offset, length);
                    }};
}

Result<Contents> readContents(const ByteSource& source) {
  if (source.size < lengthBytes)
    return Error{fmt::format("the .safetensors has {} bytes, too few for the length of its header",
                             source.size)};
  auto lengthField = source.read(0, lengthBytes);
  if (!lengthField)
    return lengthField.failure();
  uint64_t length = 0;
  std::memcpy(&length, lengthField->data(), lengthBytes);
  if (length > longestHeader || length > source.size - lengthBytes)
    return Error{fmt::format("the header of the .safetensors takes {} bytes, but {} follow and at "
                             "most {} are allowed",
                             length, source.size - lengthBytes, longestHeader)};
  auto json = source.read(lengthBytes, length);
  if (!json)
    return json.failure();
  uint64_t dataStart = lengthBytes + length;
  auto entries = parseSafetensorsHeader(*json, source.size - dataStart);
  if (!entries)
    return entries.failure();
  return Contents{std::move(*entries), dataStart};
}

class SafetensorsFile : public KeyedFile {
public:
  SafetensorsFile(ByteSource source, Contents contents)
      : source_(std::move(source)), contents_(std::move(contents)) {
    for (const auto& [name, entry] : contents_.entries)
      keys_.push_back(name);
  }

  Result<runtime::Tensor> read(std::string_view key) const override {
    return guarded([&]() -> Result<runtime::Tensor> {
      auto found = contents_.entries.find(std::string(key));
      if (found == contents_.entries.end())
        return Error{fmt::format("there is no key {}; {}", backquoted(key), listedKeys(keys_))};
      const SafetensorsEntry& entry = found->second;
      auto dtype = findSafetensorsType(entry.dtypeName);
      if (!dtype)
        return Error{fmt::format("key {}: the element type {} is not supported", backquoted(key),
                                 backquoted(entry.dtypeName))};
      auto data = source_.read(contents_.dataStart + entry.begin, entry.end - entry.begin);
      auto tensor = data ? tensorFromBytes(*dtype, entry.shape, *data) : data.failure();
      if (!tensor)
        return Error{fmt::format("key {}: {}", backquoted(key), tensor.failure().message)};
      return tensor;
    });
  }

private:
  ByteSource source_;
  Contents contents_;
};

OpenedFile openSource(Result<ByteSource> source) {
  if (!source)
    return source.failure();
  auto contents = readContents(*source);
  if (!contents)
    return contents.failure();
  return std::unique_ptr<KeyedFile>(new SafetensorsFile(*std::move(source), *std::move(contents)));
}

/// A name as a JSON string; throws nlohmann's error when it is not UTF-8.
std::string jsonString(const std::string& text) {
  return nlohmann::json(text).dump();
}

using NamedTensor = const TensorMap::value_type*;

/// Wide elements first, so that every tensor is aligned to its elements.
std::vector<NamedTensor> writingOrder(const TensorMap& tensors) {
  std::vector<NamedTensor> order;
  for (const auto& named : tensors)
    order.push_back(&named);
  std::stable_sort(order.begin(), order.end(), [](NamedTensor left, NamedTensor right) {
    return left->second.dtype().bytes() > right->second.dtype().bytes();
  });
  return order;
}

Result<std::string> makeHeader(const std::vector<NamedTensor>& order) {
  std::string json = "{";
  uint64_t position = 0;
  for (NamedTensor named : order) {
    const std::string& name = named->first;
    const runtime::Tensor& tensor = named->second;
    auto type = std::find_if(safetensorsTypes.begin(), safetensorsTypes.end(),
                             [&](const auto& row) { return row.dtype == tensor.dtype(); });
    if (type == safetensorsTypes.end() || name == safetensorsMetadata ||
        tensor.rank() > largestRank)
      return Error{fmt::format("key {}: .safetensors has no place for this name, element type {} "
                               "or rank {}",
                               backquoted(name), runtime::dtypeName(tensor.dtype()),
                               tensor.rank())};
    uint64_t end = position + tensor.byteSize();
    json += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        json.size() > 1 ? "," : "", jsonString(name), type->name,
                        fmt::join(tensor.shape(), ","), position, end);
    position = end;
  }
  json += '}';
  json.resize((json.size() + 7) / 8 * 8, ' ');
  if (json.size() > longestHeader)
    return Error{fmt::format("the header takes {} bytes, but at most {} are allowed", json.size(),
                             longestHeader)};
  return json;
}

} // namespace

OpenedFile openSafetensorsBytes(std::string_view bytes) {
  return guarded([&] { return openSource(sourceOfBytes(bytes)); });
}

Result<std::vector<std::string>> parseSafetensorsKeys(std::string_view bytes) {
  return keysOf(openSafetensorsBytes(bytes));
}

Result<runtime::Tensor> parseSafetensors(std::string_view bytes, std::string_view key) {
  return tensorOf(openSafetensorsBytes(bytes), key);
}

OpenedFile openSafetensors(const std::string& path) {
  return guarded([&] { return openSource(sourceOfPath(path)); });
}

bool safetensorsHolds(runtime::DType dtype) {
  return std::ranges::find(safetensorsTypes, dtype, &SafetensorsType::dtype) !=
         safetensorsTypes.end();
}

Result<std::string> safetensorsBytes(const TensorMap& tensors) {
  return guarded([&]() -> Result<std::string> {
    auto order = writingOrder(tensors);
    auto header = makeHeader(order);
    if (!header)
      return header.failure();
    uint64_t length = header->size();
    std::string bytes(reinterpret_cast<const char*>(&length), lengthBytes);
    bytes += *header;
    for (NamedTensor named : order)
      bytes += bytesOf(named->second);
    return bytes;
  });
}

Result<Done> writeSafetensors(const std::string& path, const TensorMap& tensors) {
  auto bytes = safetensorsBytes(tensors);
  if (!bytes)
    return bytes.failure();
  return writeFile(path, *bytes);
}

} // namespace formats
