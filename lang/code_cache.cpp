// The list of what was used last, and its index.
#include "lang/code_cache.h"

#include <algorithm>

namespace lang {

bool CodeKey::operator==(const CodeKey& other) const {
  return row == other.row && numbers == other.numbers &&
         std::ranges::equal(attributes.values, other.attributes.values);
}

size_t CodeKey::hash() const {
  size_t hash = reinterpret_cast<size_t>(row);
  for (int64_t number : numbers)
    hash = hash * 31 + size_t(number);
  return hash;
}

size_t CallCode::bytes() const {
  return sizeof *this + code.bytes + parameters.size() + key.numbers.size() * sizeof(int64_t) * 2;
}

CodeCache::Entry CodeCache::find(const CodeKey& key) {
  auto [begin, end] = byHash_.equal_range(key.hash());
  for (auto it = begin; it != end; ++it)
    if (const Entry& code = *it->second; code->key == key) {
      recent_.splice(recent_.begin(), recent_, it->second);
      return code;
    }
  return nullptr;
}

void CodeCache::add(Entry code, size_t most) {
  constexpr size_t mostBytes = size_t(256) << 20;
  bytes_ += code->bytes();
  recent_.push_front(std::move(code));
  byHash_.emplace(recent_.front()->key.hash(), recent_.begin());
  while (recent_.size() > 1 && (recent_.size() > most || bytes_ > mostBytes))
    forgetLast();
}

void CodeCache::forgetLast() {
  Place last = std::prev(recent_.end());
  bytes_ -= (*last)->bytes();
  auto [begin, end] = byHash_.equal_range((*last)->key.hash());
  byHash_.erase(std::find_if(begin, end, [&](const auto& item) { return item.second == last; }));
  recent_.erase(last);
}

} // namespace lang
