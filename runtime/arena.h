// Memory for trees: objects live until the arena goes, all at once.
//
// Nothing is ever destroyed, so only types without destructors are let in: strings and vectors are
// copied into spans and views of the arena instead. Arenas that have grown go on in large pages,
// since most of what a page costs is to get it from the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace runtime {

class Arena {
public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  Arena(Arena&& other) noexcept { swap(other); }
  Arena& operator=(Arena&& other) noexcept {
    swap(other);
    return *this;
  }

  /// Room for `size` bytes, aligned to a power of two of at most alignof(std::max_align_t).
  void* allocate(size_t size, size_t alignment) {
    size_t skip = (alignment - reinterpret_cast<uintptr_t>(next_)) & (alignment - 1);
    if (size > left_ || skip > left_ - size) {
      newBlock(size);
      skip = 0;
    }
    std::byte* place = next_ + skip;
    next_ = place + size;
    left_ -= skip + size;
    return place;
  }

  /// A new object; braces, so aggregates take their members in order.
  template <typename T, typename... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "the arena never destroys objects");
    return ::new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  /// A copy of a range of objects.
  template <std::ranges::sized_range Range>
  auto copy(const Range& range) -> std::span<const std::ranges::range_value_t<Range>> {
    using T = std::ranges::range_value_t<Range>;
    static_assert(std::is_trivially_destructible_v<T>, "the arena never destroys objects");
    size_t count = std::ranges::size(range);
    if (count == 0)
      return {};
    T* first = static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
    std::uninitialized_copy(std::ranges::begin(range), std::ranges::end(range), first);
    return {first, count};
  }

  /// A copy of a text.
  std::string_view copyText(std::string_view text) {
    std::span<const char> bytes = copy(text);
    return {bytes.data(), bytes.size()};
  }

  /// Forgets all objects, and keeps a block for new ones.
  void clear();

  /// Bytes asked of the system so far.
  size_t reserved() const { return reserved_; }

private:
  struct Free {
    void operator()(std::byte* block) const { std::free(block); }
  };
  struct Block {
    std::unique_ptr<std::byte, Free> bytes;
    size_t size;
  };

  void newBlock(size_t atLeast);
  void use(const Block& block) {
    next_ = block.bytes.get();
    left_ = block.size;
  }

  void swap(Arena& other) noexcept {
    std::swap(blocks_, other.blocks_);
    std::swap(next_, other.next_);
    std::swap(left_, other.left_);
    std::swap(reserved_, other.reserved_);
  }

  std::vector<Block> blocks_;
  std::byte* next_ = nullptr;
  size_t left_ = 0;
  size_t reserved_ = 0;
};

} // namespace runtime
