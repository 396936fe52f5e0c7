// What was made for a key, kept while it is used: those that were not used for longest go first.
#pragma once

#include <algorithm>
#include <list>
#include <memory>
#include <unordered_map>

namespace runtime {

/// Entries have a `key`, with hash() and ==, and bytes(), about what they take.
template <typename T>
class RecentlyUsed {
public:
  using Entry = std::shared_ptr<T>;

  /// The entry for a key, or null.
  template <typename Key>
  Entry find(const Key& key) {
    auto [begin, end] = byHash_.equal_range(key.hash());
    for (auto it = begin; it != end; ++it)
      if (const Entry& entry = *it->second; entry->key == key) {
        recent_.splice(recent_.begin(), recent_, it->second);
        return entry;
      }
    return nullptr;
  }

  /// Keeps an entry, and forgets what is beyond `most` entries or `mostBytes`.
  void add(Entry entry, size_t most, size_t mostBytes) {
    bytes_ += entry->bytes();
    recent_.push_front(std::move(entry));
    byHash_.emplace(recent_.front()->key.hash(), recent_.begin());
    while (recent_.size() > 1 && (recent_.size() > most || bytes_ > mostBytes))
      forgetLast();
  }

private:
  using Place = typename std::list<Entry>::iterator;

  void forgetLast() {
    Place last = std::prev(recent_.end());
    bytes_ -= (*last)->bytes();
    auto [begin, end] = byHash_.equal_range((*last)->key.hash());
    byHash_.erase(std::find_if(begin, end, [&](const auto& item) { return item.second == last; }));
    recent_.erase(last);
  }

  /// Those used last in front, and where they are by the hash of their keys.
  std::list<Entry> recent_;
  std::unordered_multimap<size_t, Place> byHash_;
  size_t bytes_ = 0;
};

} // namespace runtime
