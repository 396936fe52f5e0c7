// An entry is a mark, its digest, the digest of its content, and that.
#include "codegen/native/disk_cache.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace codegen {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view entrySuffix = ".kernel", partialSuffix = ".part";
constexpr const char* limitName = "limit";
constexpr off_t largestEntry = off_t(64) << 20;

struct Header {
  char mark[8] = {'b', 'a', 't', 'o', 'n', 'k', 'e', 'r'};
  Digest key = {}, content = {};
};
static_assert(sizeof(Header) == 40);

/// A file that is closed at the end.
class File {
public:
  explicit File(int number) : number_(number) {}
  File(const File&) = delete;
  ~File() {
    if (number_ >= 0)
      ::close(number_);
  }
  int number() const { return number_; }

  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      ssize_t written = ::write(number_, bytes.data(), bytes.size());
      if (written <= 0)
        return false;
      bytes.remove_prefix(size_t(written));
    }
    return true;
  }

  /// All of a plain file of ours; nothing when it is something else.
  std::optional<std::string> read() const {
    struct stat about;
    if (number_ < 0 || fstat(number_, &about) != 0 || !S_ISREG(about.st_mode) ||
        about.st_uid != geteuid() || about.st_size > largestEntry)
      return std::nullopt;
    std::string bytes(size_t(about.st_size), '\0');
    size_t end = 0;
    while (end < bytes.size()) {
      ssize_t came = ::read(number_, bytes.data() + end, bytes.size() - end);
      if (came <= 0)
        return std::nullopt;
      end += size_t(came);
    }
    return bytes;
  }

private:
  int number_;
};

/// Something that is no plain file does not hold up who opens it.
int openToRead(const fs::path& path) {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
}

struct Entry {
  fs::path path;
  uint64_t bytes;
  fs::file_time_type used;
};

/// The entries of a folder. What a process that ended had begun to write goes on the way.
std::vector<Entry> entriesOf(const fs::path& folder) {
  constexpr auto longAgo = std::chrono::hours(1);
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const fs::path& path = at->path();
    auto used = at->last_write_time(gone);
    auto bytes = at->file_size(gone);
    if (gone)
      continue;
    if (path.extension() == entrySuffix)
      entries.push_back({path, bytes, used});
    else if (path.extension() == partialSuffix && fs::file_time_type::clock::now() - used > longAgo)
      fs::remove(path, gone);
  }
  return entries;
}

uint64_t bytesOf(const std::vector<Entry>& entries) {
  uint64_t bytes = 0;
  for (const Entry& entry : entries)
    bytes += entry.bytes;
  return bytes;
}

std::string_view asBytes(const Header& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

} // namespace

fs::path DiskCache::usualFolder() {
  if (const char* said = std::getenv("BATON_CACHE"))
    return said;
  if (const char* caches = std::getenv("XDG_CACHE_HOME"); caches && caches[0] == '/')
    return fs::path(caches) / "baton";
  if (const char* home = std::getenv("HOME"); home && home[0] == '/')
    return fs::path(home) / ".cache" / "baton";
  return {};
}

fs::path DiskCache::pathOf(const Digest& key) const {
  return folder_ / (key.text() + std::string(entrySuffix));
}

std::optional<std::string> DiskCache::find(const Digest& key) const {
  if (folder_.empty())
    return std::nullopt;
  File file(openToRead(pathOf(key)));
  auto bytes = file.read();
  Header header;
  if (!bytes || bytes->size() < sizeof header ||
      std::memcmp(bytes->data(), header.mark, sizeof header.mark) != 0)
    return std::nullopt;
  std::memcpy(&header, bytes->data(), sizeof header);
  bytes->erase(0, sizeof header);
  if (header.key != key || header.content != digestOf(*bytes))
    return std::nullopt;
  futimens(file.number(), nullptr);
  return bytes;
}

bool DiskCache::write(const fs::path& path, std::initializer_list<std::string_view> parts) const {
  static std::atomic<unsigned> number = 0;
  if (folder_.empty())
    return false;
  std::error_code error;
  fs::create_directories(folder_, error);
  fs::path partial = folder_ / fmt::format("{}-{}{}", getpid(), number++, partialSuffix);
  bool isWritten = false;
  {
    File file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.number() < 0)
      return false;
    isWritten = std::ranges::all_of(parts, [&](std::string_view part) { return file.write(part); });
  }
  if (isWritten)
    fs::rename(partial, path, error);
  if (!isWritten || error)
    fs::remove(partial, error);
  return isWritten && !error;
}

void DiskCache::keep(const Digest& key, std::string_view bytes) {
  Header header{.key = key, .content = digestOf(bytes)};
  if (bytes.size() + sizeof header > size_t(largestEntry) ||
      !write(pathOf(key), {asBytes(header), bytes}))
    return;
  std::lock_guard lock(mutex_);
  if (bytes_) {
    *bytes_ += bytes.size() + sizeof header;
  } else {
    bytes_ = content().bytes;
    limit_ = limit();
  }
  if (*bytes_ > limit_) {
    // Some more, so that the next entries find room.
    makeRoom(limit_ / 8 * 7);
    bytes_ = content().bytes;
  }
}

void DiskCache::makeRoom(uint64_t most) const {
  std::vector<Entry> entries = entriesOf(folder_);
  std::ranges::sort(entries, {}, &Entry::used);
  uint64_t bytes = bytesOf(entries);
  std::error_code error;
  for (size_t i = 0; i < entries.size() && bytes > most; ++i)
    if (fs::remove(entries[i].path, error))
      bytes -= entries[i].bytes;
}

DiskCache::Content DiskCache::content() const {
  std::vector<Entry> entries = entriesOf(folder_);
  return {entries.size(), bytesOf(entries)};
}

uint64_t DiskCache::limit() const {
  uint64_t bytes = 0;
  auto text = folder_.empty() ? std::nullopt : File(openToRead(folder_ / limitName)).read();
  if (!text)
    return usualCacheLimit;
  auto end = std::from_chars(text->data(), text->data() + text->size(), bytes);
  return end.ec == std::errc() ? bytes : usualCacheLimit;
}

bool DiskCache::setLimit(uint64_t bytes) {
  if (!write(folder_ / limitName, {std::to_string(bytes)}))
    return false;
  makeRoom(bytes);
  return true;
}

bool DiskCache::clear() {
  makeRoom(0);
  return content().entries == 0;
}

} // namespace codegen
