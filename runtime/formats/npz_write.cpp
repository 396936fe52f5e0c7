// Writing .npz. The archive is made in memory and then written by writeFile: libzip's own way to a
// file replaces whatever is at the path, devices too.
#include "runtime/formats/npz.h"

#include "runtime/formats/file.h"
#include "runtime/formats/npy.h"
#include "runtime/formats/quote.h"
#include "runtime/formats/zip_handles.h"

#include <list>

#include <fmt/format.h>

namespace formats {

using runtime::Done;
using runtime::Error;
using runtime::guarded;
using runtime::Result;

namespace {

Error archiveError(zip_t* archive) {
  return Error{fmt::format("cannot make the zip archive: {}", zip_strerror(archive))};
}

/// Adds a member of `header` and the tensor's elements, which must live until the archive closes.
Result<Done> addMember(zip_t* archive, const std::string& name, const std::string& header,
                       const runtime::Tensor& tensor, Compression compression) {
  auto fragment = [](std::string_view bytes) {
    auto* data = reinterpret_cast<zip_uint8_t*>(const_cast<char*>(bytes.data()));
    return zip_buffer_fragment_t{data, bytes.size()};
  };
  zip_buffer_fragment_t fragments[] = {fragment(header), fragment(bytesOf(tensor))};
  zip_source_t* source = zip_source_buffer_fragment(archive, fragments, 2, 0);
  if (!source)
    return archiveError(archive);
  zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    return archiveError(archive);
  }
  // 1 January 1980, the earliest date of zip: equal tensors shall give equal bytes.
  constexpr zip_uint16_t earliestDate = (1 << 5) | 1;
  zip_int32_t method = compression == Compression::Stored ? ZIP_CM_STORE : ZIP_CM_DEFLATE;
  if (zip_set_file_compression(archive, zip_uint64_t(index), method, 0) != 0 ||
      zip_file_set_dostime(archive, zip_uint64_t(index), 0, earliestDate, 0) != 0)
    return archiveError(archive);
  return Done{};
}

Result<std::string> readSource(zip_source_t* source) {
  zip_stat_t status;
  if (zip_source_open(source) != 0 || zip_source_stat(source, &status) != 0)
    return Error{"cannot read back the zip archive"};
  std::string bytes(status.size, '\0');
  zip_int64_t count = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  if (count < 0 || uint64_t(count) != bytes.size())
    return Error{"cannot read back the zip archive"};
  return bytes;
}

/// libzip writes nothing for an archive without members; this is what it would be.
std::string emptyArchive() {
  std::string bytes = "PK\x05\x06";
  bytes.resize(22, '\0');
  return bytes;
}

} // namespace

Result<std::string> npzBytes(const TensorMap& tensors, Compression compression) {
  return guarded([&]() -> Result<std::string> {
    if (tensors.empty())
      return emptyArchive();
    ZipError problem;
    ZipSource target(zip_source_buffer_create(nullptr, 0, 0, &problem.error));
    if (!target)
      return Error{"cannot make the zip archive: " + problem.text()};
    std::list<std::string> headers;
    ZipArchive archive(
        zip_open_from_source(target.get(), ZIP_CREATE | ZIP_TRUNCATE, &problem.error));
    if (!archive)
      return Error{"cannot make the zip archive: " + problem.text()};
    // The archive took over one reference; ours keeps what it writes.
    zip_source_keep(target.get());
    for (const auto& [key, tensor] : tensors) {
      if (key.find('\0') != std::string::npos)
        return Error{fmt::format("the key {} has a zero byte", backquoted(key))};
      auto header = npyHeader(tensor.dtype(), tensor.shape());
      if (!header)
        return Error{fmt::format("key {}: {}", backquoted(key), header.failure().message)};
      headers.push_back(std::move(*header));
      auto added = addMember(archive.get(), key + ".npy", headers.back(), tensor, compression);
      if (!added)
        return Error{fmt::format("key {}: {}", backquoted(key), added.failure().message)};
    }
    if (zip_close(archive.get()) != 0)
      return archiveError(archive.get());
    static_cast<void>(archive.release());
    return readSource(target.get());
  });
}

Result<Done> writeNpz(const std::string& path, const TensorMap& tensors, Compression compression) {
  auto bytes = npzBytes(tensors, compression);
  if (!bytes)
    return bytes.failure();
  return writeFile(path, *bytes);
}

} // namespace formats
