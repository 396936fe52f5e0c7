// POSIX calls rather than streams: these tell a full disk from a missing folder. Where a write can
// be delayed by the system, its error may come as late as closing, so that is checked too.
#include "runtime/formats/file.h"

#include "runtime/formats/quote.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace formats {

using runtime::Done;
using runtime::Error;
using runtime::guarded;
using runtime::Result;

namespace {

constexpr size_t chunkBytes = size_t(1) << 23;

Error systemError(const char* action, const std::string& path, int code) {
  return Error{fmt::format("cannot {} {}: {}", action, backquoted(path), std::strerror(code))};
}

/// An open file, closed when it goes out of scope.
struct Descriptor {
  int number = -1;

  explicit Descriptor(int opened) : number(opened) {}
  Descriptor(Descriptor&& other) noexcept : number(std::exchange(other.number, -1)) {}
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
  /// Closes now; false when the system reports an error that writing had delayed.
  bool close() { return ::close(std::exchange(number, -1)) == 0; }
};

struct OpenFile {
  Descriptor descriptor;
  struct stat status;
};

Result<OpenFile> lookAt(Descriptor descriptor, const std::string& path) {
  OpenFile file{std::move(descriptor), {}};
  if (file.descriptor.number < 0 || ::fstat(file.descriptor.number, &file.status) != 0)
    return systemError("read", path, errno);
  if (S_ISDIR(file.status.st_mode))
    return systemError("read", path, EISDIR);
  return file;
}

Result<OpenFile> openToRead(const std::string& path) {
  return lookAt(Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
}

Result<OpenFile> openRegular(const std::string& path) {
  auto file = openToRead(path);
  if (file && !S_ISREG(file->status.st_mode))
    return Error{fmt::format("cannot read {}: not a regular file", backquoted(path))};
  return file;
}

/// Appends at most `room` bytes to `bytes`; the number is 0 at the end and negative on an error.
ssize_t readMore(int descriptor, std::string& bytes, size_t room) {
  size_t before = bytes.size();
  bytes.resize(before + room);
  ssize_t count = -1;
  do
    count = ::read(descriptor, bytes.data() + before, room);
  while (count < 0 && errno == EINTR);
  bytes.resize(before + size_t(count < 0 ? 0 : count));
  return count;
}

Result<std::string> readAll(const Result<OpenFile>& file, const std::string& path,
                            uint64_t mostBytes) {
  if (!file)
    return file.failure();
  auto tooLarge = [&](uint64_t size) {
    return Error{fmt::format("cannot read {}: it has {} bytes or more, and the limit is {}",
                             backquoted(path), size, mostBytes)};
  };
  uint64_t expected = S_ISREG(file->status.st_mode) ? uint64_t(file->status.st_size) : 0;
  if (expected > mostBytes)
    return tooLarge(expected);
  std::string bytes;
  bytes.reserve(expected + 1);
  for (;;) {
    // The size may be unknown or may have grown, so the end is only where a read finds nothing;
    // the one byte more than expected finds it without growing the buffer.
    size_t left = bytes.size() <= expected ? expected + 1 - bytes.size() : chunkBytes;
    size_t room = expected == 0 ? chunkBytes : std::min(left, chunkBytes);
    ssize_t count = readMore(file->descriptor.number, bytes, room);
    if (count < 0)
      return systemError("read", path, errno);
    if (bytes.size() > mostBytes)
      return tooLarge(bytes.size());
    if (count == 0)
      return bytes;
  }
}

Result<Done> writeAll(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemError("write", path, errno);
    bytes.remove_prefix(size_t(count));
  }
  return Done{};
}

/// Devices and pipes cannot be replaced by renaming.
Result<Done> writeInPlace(const std::string& path, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.number < 0)
    return systemError("write", path, errno);
  if (auto written = writeAll(file.number, bytes, path); !written)
    return written;
  return file.close() ? Result<Done>(Done{}) : systemError("write", path, errno);
}

Result<Done> fillFile(Descriptor& file, std::string_view bytes, const std::string& path,
                      std::optional<mode_t> mode) {
  if (auto written = writeAll(file.number, bytes, path); !written)
    return written;
  if (mode && ::fchmod(file.number, *mode & 07777) != 0)
    return systemError("write", path, errno);
  if (::fsync(file.number) != 0 || !file.close())
    return systemError("write", path, errno);
  return Done{};
}

/// The path of the file that is being written beside another, or null; a handler of signals looks.
std::atomic<const char*> partialPath = nullptr;
static_assert(std::atomic<const char*>::is_always_lock_free, "a handler may wait for nothing");

/// Names a partial file to handlers of signals for as long as it lives.
struct PartialName {
  explicit PartialName(const std::string& path) { partialPath = path.c_str(); }
  PartialName(const PartialName&) = delete;
  PartialName& operator=(const PartialName&) = delete;
  ~PartialName() { partialPath = nullptr; }
};

Result<Done> replaceFile(const std::string& path, std::string_view bytes,
                         std::optional<mode_t> mode) {
  constexpr int mostAttempts = 100;
  for (int attempt = 0; attempt < mostAttempts; ++attempt) {
    std::string partial = fmt::format("{}.{}-{}.partial", path, ::getpid(), attempt);
    PartialName name(partial);
    Descriptor file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.number < 0 && errno == EEXIST)
      continue;
    if (file.number < 0)
      return systemError("write", path, errno);
    auto filled = fillFile(file, bytes, path, mode);
    if (filled && ::rename(partial.c_str(), path.c_str()) != 0)
      filled = systemError("write", path, errno);
    if (!filled)
      ::unlink(partial.c_str());
    return filled;
  }
  return systemError("write", path, EEXIST);
}

} // namespace

Result<std::string> readFile(const std::string& path, uint64_t mostBytes) {
  return guarded([&] { return readAll(openToRead(path), path, mostBytes); });
}

Result<std::string> readStandardInput(uint64_t mostBytes) {
  constexpr const char* name = "standard input";
  return guarded([&] {
    Descriptor copy(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
    return readAll(lookAt(std::move(copy), name), name, mostBytes);
  });
}

bool isRegularFile(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

Result<uint64_t> fileSize(const std::string& path) {
  auto file = openRegular(path);
  if (!file)
    return file.failure();
  return uint64_t(file->status.st_size);
}

Result<std::string> readFileRange(const std::string& path, uint64_t offset, uint64_t length) {
  return guarded([&]() -> Result<std::string> {
    auto file = openRegular(path);
    if (!file)
      return file.failure();
    uint64_t size = uint64_t(file->status.st_size);
    if (offset > size || length > size - offset)
      return Error{fmt::format("cannot read {}: {} bytes at {} are wanted, but it has {}",
                               backquoted(path), length, offset, size)};
    if (::lseek(file->descriptor.number, off_t(offset), SEEK_SET) < 0)
      return systemError("read", path, errno);
    std::string bytes;
    bytes.reserve(length);
    while (bytes.size() < length) {
      ssize_t count = readMore(file->descriptor.number, bytes,
                               std::min<uint64_t>(length - bytes.size(), chunkBytes));
      if (count < 0)
        return systemError("read", path, errno);
      if (count == 0)
        return Error{fmt::format("cannot read {}: it became shorter meanwhile", backquoted(path))};
    }
    return bytes;
  });
}

void removePartialFile() {
  if (const char* path = partialPath)
    ::unlink(path);
}

Result<Done> writeFile(const std::string& path, std::string_view bytes) {
  return guarded([&]() -> Result<Done> {
    struct stat status;
    bool exists = ::stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode))
      return systemError("write", path, EISDIR);
    if (exists && !S_ISREG(status.st_mode))
      return writeInPlace(path, bytes);
    std::error_code ignored;
    std::string target = exists ? std::filesystem::canonical(path, ignored).string() : path;
    std::optional<mode_t> mode;
    if (exists)
      mode = status.st_mode;
    return replaceFile(target.empty() ? path : target, bytes, mode);
  });
}

Result<Done> checkWritable(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) == 0)
    return S_ISDIR(status.st_mode) ? Result<Done>(systemError("write", path, EISDIR)) : Done{};
  const std::string folder = std::filesystem::path(path).parent_path() / ".";
  return ::access(folder.c_str(), W_OK) == 0 ? Result<Done>(Done{})
                                             : systemError("write", path, errno);
}

} // namespace formats
