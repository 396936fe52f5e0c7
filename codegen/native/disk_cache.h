// A folder that keeps bytes by digests of what they were made from, for processes that come later
// or run at the same time.
//
// Entries are files that are written beside and then renamed, so who reads sees a whole one or
// none; each says for which digest it is and has one of its content, so what is damaged or foreign
// counts as not there. The folder is a help and never a need: whatever fails here is silent. It is
// bounded; what was used longest ago goes first.
#pragma once

#include "codegen/native/digest.h"

#include <filesystem>
#include <mutex>
#include <optional>

namespace codegen {

inline constexpr uint64_t usualCacheLimit = uint64_t(256) << 20;

class DiskCache {
public:
  /// The folder need not be there, and is made when something is kept.
  explicit DiskCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// `$BATON_CACHE`, or `baton` in `$XDG_CACHE_HOME` or in `~/.cache`; empty where the first is
  /// said and empty, or where there is no home.
  static std::filesystem::path usualFolder();

  const std::filesystem::path& folder() const { return folder_; }

  /// What is kept for a digest; it counts as used from then on.
  std::optional<std::string> find(const Digest& key) const;
  /// Keeps bytes, in place of what there was.
  void keep(const Digest& key, std::string_view bytes);

  struct Content {
    size_t entries = 0;
    uint64_t bytes = 0;
  };
  Content content() const;
  /// The most bytes that entries take together.
  uint64_t limit() const;
  /// Sets that for all processes, and drops what is beyond. False where the folder cannot be
  /// written.
  bool setLimit(uint64_t bytes);
  /// Drops all entries. False where some are still there.
  bool clear();

private:
  std::filesystem::path pathOf(const Digest& key) const;
  bool write(const std::filesystem::path& path,
             std::initializer_list<std::string_view> parts) const;
  void makeRoom(uint64_t most) const;

  std::filesystem::path folder_;
  std::mutex mutex_;
  /// What entries took when this process last looked, and what it has added.
  std::optional<uint64_t> bytes_ = {};
  uint64_t limit_ = 0;
};

} // namespace codegen
