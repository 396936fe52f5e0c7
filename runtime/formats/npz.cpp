// Reading .npz through libzip; npz_write.cpp writes. libzip checks the structure of the archive and
// the checksums, but believes the sizes; those are checked here.
#include "runtime/formats/npz.h"

#include "runtime/formats/file.h"
#include "runtime/formats/npy.h"
#include "runtime/formats/quote.h"
#include "runtime/formats/zip_handles.h"

#include <set>
#include <unordered_map>

#include <fmt/format.h>

namespace formats {

using runtime::Error;
using runtime::guarded;
using runtime::Result;

namespace {

constexpr std::string_view memberSuffix = ".npy";

/// An archive open for reading and the number of bytes it has.
struct OpenArchive {
  ZipArchive zip;
  uint64_t size;
};

struct Member {
  zip_uint64_t index;
  std::string key;
};

Result<OpenArchive> openSource(zip_source_t* source, uint64_t size, ZipError& problem) {
  // libzip takes an empty file for an archive without members.
  bool worthOpening = source && size > 0;
  zip_t* zip = worthOpening ? zip_open_from_source(source, ZIP_RDONLY, &problem.error) : nullptr;
  if (zip)
    return OpenArchive{ZipArchive(zip), size};
  if (source)
    zip_source_free(source);
  if (size == 0)
    return Error{"not a readable zip archive: the file is empty"};
  return Error{"not a readable zip archive: " + problem.text()};
}

/// `bytes` must outlive the archive.
Result<OpenArchive> openBytes(std::string_view bytes) {
  ZipError problem;
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &problem.error);
  return openSource(source, bytes.size(), problem);
}

Result<OpenArchive> openPath(const std::string& path) {
  auto size = fileSize(path);
  if (!size)
    return size.failure();
  ZipError problem;
  zip_source_t* source = zip_source_file_create(path.c_str(), 0, 0, &problem.error);
  return openSource(source, *size, problem);
}

Result<std::vector<Member>> findMembers(const OpenArchive& archive) {
  std::vector<Member> members;
  std::set<std::string> seen;
  zip_int64_t count = zip_get_num_entries(archive.zip.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* text = zip_get_name(archive.zip.get(), zip_uint64_t(i), ZIP_FL_ENC_GUESS);
    std::string_view name = text ? text : "";
    if (!name.ends_with(memberSuffix))
      continue;
    std::string key(name.substr(0, name.size() - memberSuffix.size()));
    if (!seen.insert(key).second)
      return Error{fmt::format("the archive has two members {}", backquoted(name))};
    members.push_back({zip_uint64_t(i), std::move(key)});
  }
  return members;
}

/// The size that the archive claims for a member, when its compressed bytes can expand to it.
Result<uint64_t> plausibleSize(const OpenArchive& archive, zip_uint64_t index) {
  constexpr uint64_t largestExpansion = 1032, slack = 1024;
  zip_stat_t status;
  constexpr zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if (zip_stat_index(archive.zip.get(), index, 0, &status) != 0 ||
      (status.valid & wanted) != wanted)
    return Error{"the archive does not state the sizes of the member"};
  if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE)
    return Error{fmt::format("the member is compressed by method {}; only stored (0) and deflate "
                             "(8) are supported",
                             status.comp_method)};
  if (status.comp_size > archive.size)
    return Error{fmt::format("the member claims {} compressed bytes, but the file has {}",
                             status.comp_size, archive.size)};
  bool stored = status.comp_method == ZIP_CM_STORE;
  uint64_t most = stored ? status.comp_size : status.comp_size * largestExpansion + slack;
  if (status.size > most)
    return Error{fmt::format("the member claims {} bytes, but its {} compressed bytes cannot hold "
                             "more than {}",
                             status.size, status.comp_size, most)};
  return status.size;
}

Result<std::string> readMember(const OpenArchive& archive, zip_uint64_t index) {
  constexpr uint64_t leastRoom = uint64_t(1) << 16;
  auto size = plausibleSize(archive, index);
  if (!size)
    return size.failure();
  ZipFile file(zip_fopen_index(archive.zip.get(), index, 0));
  if (!file)
    return Error{fmt::format("cannot open the member: {}", zip_strerror(archive.zip.get()))};
  std::string bytes;
  for (;;) {
    // The buffer grows with what really comes. At the claimed size one byte more is asked for: it
    // is at the end that libzip compares the checksum.
    uint64_t got = bytes.size();
    uint64_t room = got < *size ? std::min(*size - got, std::max(leastRoom, got)) : 1;
    bytes.resize(got + room);
    zip_int64_t count = zip_fread(file.get(), bytes.data() + got, room);
    if (count < 0)
      return Error{fmt::format("cannot read the member: {}", zip_file_strerror(file.get()))};
    bytes.resize(got + uint64_t(count));
    if (count == 0 || bytes.size() > *size)
      break;
  }
  if (bytes.size() != *size)
    return Error{fmt::format("the archive claims {} bytes for the member, but it has {}{}", *size,
                             bytes.size(), bytes.size() > *size ? " or more" : "")};
  return bytes;
}

class NpzFile : public KeyedFile {
public:
  NpzFile(OpenArchive archive, const std::vector<Member>& members) : archive_(std::move(archive)) {
    for (const Member& member : members) {
      keys_.push_back(member.key);
      places_.emplace(member.key, member.index);
    }
  }

  Result<runtime::Tensor> read(std::string_view key) const override {
    return guarded([&]() -> Result<runtime::Tensor> {
      auto place = places_.find(std::string(key));
      if (place == places_.end())
        return Error{fmt::format("there is no key {}; {}", backquoted(key), listedKeys(keys_))};
      auto bytes = readMember(archive_, place->second);
      auto tensor = bytes ? parseNpy(*bytes) : bytes.failure();
      if (!tensor)
        return Error{fmt::format("key {}: {}", backquoted(key), tensor.failure().message)};
      return tensor;
    });
  }

private:
  OpenArchive archive_;
  std::unordered_map<std::string, zip_uint64_t> places_;
};

OpenedFile openMembers(Result<OpenArchive> archive) {
  if (!archive)
    return archive.failure();
  auto members = findMembers(*archive);
  if (!members)
    return members.failure();
  return std::unique_ptr<KeyedFile>(new NpzFile(*std::move(archive), *members));
}

} // namespace

OpenedFile openNpzBytes(std::string_view bytes) {
  return guarded([&] { return openMembers(openBytes(bytes)); });
}

Result<std::vector<std::string>> parseNpzKeys(std::string_view bytes) {
  return keysOf(openNpzBytes(bytes));
}

Result<runtime::Tensor> parseNpz(std::string_view bytes, std::string_view key) {
  return tensorOf(openNpzBytes(bytes), key);
}

OpenedFile openNpz(const std::string& path) {
  return guarded([&] { return openMembers(openPath(path)); });
}

} // namespace formats
