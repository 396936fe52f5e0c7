// Which reader a path gets, and which key when none is given. The readers' errors speak of the file
// without its name; here the name is put in front, once.
#include "runtime/formats/load.h"

#include "runtime/formats/file.h"
#include "runtime/formats/npy.h"
#include "runtime/formats/npz.h"
#include "runtime/formats/quote.h"
#include "runtime/formats/safetensors.h"

#include <filesystem>

#include <fmt/format.h>

namespace formats {

using runtime::Error;
using runtime::guarded;
using runtime::Result;

namespace {

constexpr uint64_t largestNpy = uint64_t(1) << 36;

bool isArchive(std::string_view path) {
  return path.ends_with(".npz") || path.ends_with(".safetensors");
}

/// The tensor of the key given, or the only one there is.
Result<runtime::Tensor> readKeyed(const OpenedFile& file, const std::optional<std::string>& key) {
  if (!file)
    return file.failure();
  const std::vector<std::string>& keys = (*file)->keys();
  if (!key && keys.size() != 1)
    return Error{"a key is needed, as in `PATH:KEY`; " + listedKeys(keys)};
  return (*file)->read(key ? *key : keys.front());
}

Result<runtime::Tensor> loadNpy(const std::string& path, const std::optional<std::string>& key) {
  if (key)
    return Error{
        fmt::format("a .npy holds one tensor and takes no key, but {} is given", backquoted(*key))};
  auto bytes = readFile(path, largestNpy);
  if (!bytes)
    return bytes.failure();
  return parseNpy(*bytes);
}

OpenedFile openBySuffix(const std::string& path) {
  return path.ends_with(".npz") ? openNpz(path) : openSafetensors(path);
}

Result<runtime::Tensor> loadBySuffix(const std::string& path,
                                     const std::optional<std::string>& key) {
  if (path.ends_with(".npy"))
    return loadNpy(path, key);
  if (isArchive(path))
    return readKeyed(openBySuffix(path), key);
  return Error{"the name ends in none of .npy, .npz and .safetensors"};
}

/// What `read` gives, its error with the path in front.
template <typename Read>
auto named(const std::string& path, Read&& read) {
  return guarded([&]() -> decltype(read()) {
    auto result = read();
    if (result || result.failure().message.find(backquoted(path)) != std::string::npos)
      return result;
    return Error{fmt::format("{}: {}", backquoted(path), result.failure().message)};
  });
}

} // namespace

bool isKeyedFile(std::string_view path) {
  return isArchive(path) || path.ends_with(".json");
}

TensorLocation splitKey(std::string_view text) {
  for (size_t colon = text.rfind(':'); colon != std::string_view::npos && colon > 0;
       colon = text.rfind(':', colon - 1)) {
    std::string_view path = text.substr(0, colon);
    std::error_code ignored;
    if (isKeyedFile(path) || std::filesystem::is_regular_file(path, ignored))
      return {std::string(path), std::string(text.substr(colon + 1))};
  }
  return {std::string(text), std::nullopt};
}

Result<runtime::Tensor> loadTensor(const std::string& path, const std::optional<std::string>& key) {
  return named(path, [&] { return loadBySuffix(path, key); });
}

OpenedFile openKeyed(const std::string& path) {
  return named(path, [&] { return openBySuffix(path); });
}

} // namespace formats
