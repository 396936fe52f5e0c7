// Which reader a path gets, and which key when none is given. The readers' errors speak of the file
// without its name; here the name is put in front, once.
#include "formats/load.h"

#include "formats/file.h"
#include "formats/npy.h"
#include "formats/npz.h"
#include "formats/quote.h"
#include "formats/safetensors.h"

#include <filesystem>

#include <fmt/format.h>

namespace formats {

using runtime::Error;
using runtime::guarded;
using runtime::Result;

namespace {

constexpr uint64_t largestNpy = uint64_t(1) << 36;

/// The key given, or that of the only tensor there is.
Result<std::string> chooseKey(const std::optional<std::string>& key,
                              const Result<std::vector<std::string>>& keys) {
  if (key)
    return *key;
  if (!keys)
    return keys.failure();
  if (keys->size() != 1)
    return Error{"a key is needed, as in `PATH:KEY`; " + listedKeys(*keys)};
  return keys->front();
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

template <typename ReadKeys, typename ReadTensor>
Result<runtime::Tensor> loadKeyed(const std::string& path, const std::optional<std::string>& key,
                                  ReadKeys readKeys, ReadTensor readTensor) {
  using Keys = Result<std::vector<std::string>>;
  auto chosen = chooseKey(key, key ? Keys(std::vector<std::string>{}) : readKeys(path));
  if (!chosen)
    return chosen.failure();
  return readTensor(path, *chosen);
}

Result<runtime::Tensor> loadBySuffix(const std::string& path,
                                     const std::optional<std::string>& key) {
  if (path.ends_with(".npy"))
    return loadNpy(path, key);
  if (path.ends_with(".npz"))
    return loadKeyed(path, key, readNpzKeys, readNpz);
  if (path.ends_with(".safetensors"))
    return loadKeyed(path, key, readSafetensorsKeys, readSafetensors);
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
  return path.ends_with(".npz") || path.ends_with(".safetensors");
}

bool isTensorFile(std::string_view path) {
  return isKeyedFile(path) || path.ends_with(".npy");
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

Result<std::vector<std::string>> loadKeys(const std::string& path) {
  return named(
      path, [&] { return path.ends_with(".npz") ? readNpzKeys(path) : readSafetensorsKeys(path); });
}

} // namespace formats
