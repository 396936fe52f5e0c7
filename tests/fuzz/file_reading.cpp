// Each reader with the writer of its format: what one gives, the other must take.
#include "tests/fuzz/file_reading.h"

#include "parser/metadata/metadata.h"
#include "parser/metadata/tensor_blob.h"
#include "runtime/formats/npy.h"
#include "runtime/formats/npz.h"
#include "runtime/formats/safetensors.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace testing {

namespace {

using runtime::Result;
using runtime::Tensor;

bool isSame(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.bytes(), b.bytes(), a.byteSize()) == 0;
}

/// The broken promise of a reader's answer; `write` makes a file of the tensor, if there can be
/// one, and `read` reads it.
std::string brokenTensor(const Result<Tensor>& tensor,
                         const std::function<Result<std::string>(const Tensor&)>& write,
                         const std::function<Result<Tensor>(const std::string&)>& read) {
  if (!tensor)
    return tensor.failure().message.empty() ? "refused without words" : "";
  auto count = runtime::elementCount(tensor->shape());
  if (!count || *count != tensor->size())
    return "a tensor of another size than its shape";
  auto file = write(*tensor);
  if (!file)
    return "";
  auto again = read(*file);
  if (!again)
    return "what was written is refused: " + again.failure().message;
  return isSame(*tensor, *again) ? "" : "what was written reads back as another tensor";
}

Result<std::string> npyBytes(const Tensor& tensor) {
  auto header = formats::npyHeader(tensor.dtype(), tensor.shape());
  if (!header)
    return header.failure();
  return *header + std::string(formats::bytesOf(tensor));
}

std::string brokenNpy(std::string_view bytes) {
  return brokenTensor(formats::parseNpy(bytes), npyBytes,
                      [](const std::string& file) { return formats::parseNpy(file); });
}

/// An archive: the tensor of each key.
std::string
brokenArchive(std::string_view bytes, const Result<std::vector<std::string>>& keys,
              const std::function<Result<Tensor>(std::string_view, std::string_view)>& read,
              const std::function<Result<std::string>(const formats::TensorMap&)>& write) {
  if (!keys)
    return keys.failure().message.empty() ? "refused without words" : "";
  for (const std::string& key : *keys) {
    std::string broken = brokenTensor(
        read(bytes, key),
        [&](const Tensor& tensor) {
          return write({{key, tensor}});
        },
        [&](const std::string& file) { return read(file, key); });
    if (!broken.empty())
      return broken;
  }
  return read(bytes, "no such key").failure().message.empty() ? "a missing key without words" : "";
}

std::string brokenNpz(std::string_view bytes) {
  return brokenArchive(bytes, formats::parseNpzKeys(bytes), formats::parseNpz,
                       [](const formats::TensorMap& tensors) {
                         return formats::npzBytes(tensors, formats::Compression::Deflate);
                       });
}

std::string brokenSafetensors(std::string_view bytes) {
  return brokenArchive(bytes, formats::parseSafetensorsKeys(bytes), formats::parseSafetensors,
                       formats::safetensorsBytes);
}

Result<Tensor> readBlob(std::string_view text) {
  auto result = parser::decodeTensor(text);
  if (auto* problem = std::get_if<std::string>(&result))
    return runtime::Error{*problem};
  return std::get<Tensor>(result);
}

std::string brokenBlob(std::string_view text) {
  return brokenTensor(
      readBlob(text),
      [](const Tensor& tensor) -> Result<std::string> { return parser::encodeTensor(tensor); },
      [](const std::string& blob) { return readBlob(blob); });
}

/// A section is read, written and read again; what is written the second time is the same.
std::string brokenMetadata(std::string_view text) {
  std::string written;
  for (int round = 0; round < 2; ++round) {
    lang::SourceMap sources;
    lang::Diagnostics diagnostics;
    const auto* source =
        sources.add("metadata", round == 0 ? std::string(text) : std::string(written));
    if (!source)
      return "";
    lang::SourceRange whole{source->base(), source->base() + uint32_t(source->text().size())};
    auto table = parser::readMetadata(*source, whole, diagnostics);
    if (!table && round == 1)
      return "what was written is refused:\n" + written;
    if (!table)
      return diagnostics.hasErrors() ? "" : "refused without an error";
    std::string next = parser::writeMetadata(*table);
    if (round == 1 && next != written)
      return "written again it is another text:\n" + written + "\nand then\n" + next;
    written = std::move(next);
  }
  return "";
}

constexpr std::string_view metadataSection = R"({"root": 1, "nodes": [{"type_key": ""},
 {"type_key": "Map", "keys": ["relay.Constant", "runtime.BoxInt"], "data": [2, 3]},
 {"type_key": "Array", "data": [4]}, {"type_key": "Array", "data": [5]},
 {"type_key": "relay.Constant", "attrs": {"_checked_type_": "0", "data": "0", "span": "0",
  "virtual_device_": "0"}}, {"type_key": "runtime.BoxInt", "repr_str": "2"}],
 "b64ndarrays": ["BLOB"]})";

} // namespace

std::string brokenPromise(FileKind kind, std::string_view bytes) {
  switch (kind) {
  case FileKind::Npy:
    return brokenNpy(bytes);
  case FileKind::Npz:
    return brokenNpz(bytes);
  case FileKind::Safetensors:
    return brokenSafetensors(bytes);
  case FileKind::Blob:
    return brokenBlob(bytes);
  default:
    return brokenMetadata(bytes);
  }
}

std::vector<std::string> goodFiles(FileKind kind) {
  formats::TensorMap tensors{{"a", Tensor(runtime::Float32, {2, 3})},
                             {"b.c", Tensor(runtime::Int64, {})},
                             {"d", Tensor(runtime::Bool, {1, 0, 4})}};
  std::vector<std::string> files;
  for (auto& [name, tensor] : tensors) {
    std::memset(tensor.bytes(), 1, tensor.byteSize());
    if (kind == FileKind::Npy)
      files.push_back(*npyBytes(tensor));
    if (kind == FileKind::Blob)
      files.push_back(parser::encodeTensor(tensor));
  }
  if (kind == FileKind::Npz)
    files = {*formats::npzBytes(tensors, formats::Compression::Deflate),
             *formats::npzBytes(tensors, formats::Compression::Stored)};
  if (kind == FileKind::Safetensors)
    files = {*formats::safetensorsBytes(tensors)};
  if (kind == FileKind::Metadata) {
    std::string text(metadataSection);
    text.replace(text.find("BLOB"), 4, parser::encodeTensor(tensors.at("a")));
    files = {text};
  }
  return files;
}

} // namespace testing
