// What was made for a key, kept while it is used: those that were not used for longest go first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>

namespace runtime {

/// Entries have a `key`, with hash() and ==, and bytes(), about what they take.
template <typename T>
class RecentlyUsed {
public:
  using Entry = std::shared_ptr<T>;

  /// The entry for a key, or null.
  template <typename Key>
  Entry find(const Key& key) {
    const size_t hash = key.hash();
    for (auto it = byHash_.lower_bound(hash); it != byHash_.end() && it->first == hash; ++it)
      if (Used& used = it->second; used.entry->key == key) {
        used.last = ++uses_;
        return used.entry;
      }
    return nullptr;
  }

  /// Keeps an entry, and forgets what is beyond `most` entries or `mostBytes`. Looks at all entries
  /// then, which is little beside the work of making one.
  void add(Entry entry, size_t most, size_t mostBytes) {
    bytes_ += entry->bytes();
    const size_t hash = entry->key.hash();
    byHash_.emplace(hash, Used{std::move(entry), ++uses_});
    while (byHash_.size() > 1 && (byHash_.size() > most || bytes_ > mostBytes))
      forgetOldest();
  }

private:
  struct Used {
    Entry entry;
    uint64_t last;
  };

  void forgetOldest() {
    auto oldest =
        std::min_element(byHash_.begin(), byHash_.end(), [](const auto& a, const auto& b) {
          return a.second.last < b.second.last;
        });
    bytes_ -= oldest->second.entry->bytes();
    byHash_.erase(oldest);
  }

  std::multimap<size_t, Used> byHash_;
  uint64_t uses_ = 0;
  size_t bytes_ = 0;
};

} // namespace runtime
