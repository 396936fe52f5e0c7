// A list that grows at its end, as std::vector does, of which all types of items share the code.
//
// A vector brings its own copy of how it grows, copies and ends for each type that it holds; there
// are so many in what plans kernels that this was a tenth of the library for other programs. Here
// only what an item is made of is of its type. Items move to other memory as bytes, so types that
// notice where they lie cannot be items: std::string has pointers into itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace runtime {

/// Whether an object may be moved as bytes, and its old place forgotten. A struct of such objects
/// says so by `static constexpr bool movesAsBytes = true`.
template <typename T>
inline constexpr bool movesAsBytes = std::is_trivially_copyable_v<T> || requires {
  requires T::movesAsBytes;
};
template <typename T, typename Delete>
inline constexpr bool movesAsBytes<std::unique_ptr<T, Delete>> = true;
template <typename T>
inline constexpr bool movesAsBytes<std::shared_ptr<T>> = true;

/// What lists of all types have in common; `itemBytes` is what one item takes.
class ListMemory {
protected:
  ListMemory() = default;
  ListMemory(ListMemory&& other) noexcept { swap(other); }
  ~ListMemory() {
    if (items_)
      ::operator delete(items_);
  }

  void swap(ListMemory& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  /// Makes room for so many items in all. Throws std::bad_alloc.
  void reserve(size_t count, size_t itemBytes);
  /// The place of one item more, behind the others.
  void* add(size_t itemBytes) {
    if (size_ == capacity_)
      grow(itemBytes);
    return static_cast<std::byte*>(items_) + size_++ * itemBytes;
  }
  /// The place of one item more, before the item `at`.
  void* open(size_t at, size_t itemBytes);
  /// Forgets the items from `first` to `last`, which are destroyed.
  void close(size_t first, size_t last, size_t itemBytes) noexcept;
  /// Adds copies of items, which are not its own.
  void append(const void* items, size_t count, size_t itemBytes);
  /// Makes room for more.
  void grow(size_t itemBytes);

  void* items_ = nullptr;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
};

template <typename T>
class List : ListMemory {
  static constexpr bool isTrivial = std::is_trivially_copyable_v<T>;

public:
  static constexpr bool movesAsBytes = true;
  using value_type = T;

  List() = default;
  explicit List(size_t count) { resize(count); }
  List(size_t count, T item) { extend(count, item); }
  List(std::initializer_list<T> items) : List(std::span(items)) {}
  explicit List(std::span<const T> items) : List() { append(items); }
  List(const List& other) : List() { append(other); }
  List(List&&) noexcept = default;
  /// What it had goes with `other`.
  List& operator=(List&& other) noexcept {
    swap(other);
    return *this;
  }
  List& operator=(const List& other) {
    if (this != &other) {
      clear();
      append(other);
    }
    return *this;
  }
  ~List() { destroy(begin(), end()); }

  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T* data() { return static_cast<T*>(items_); }
  const T* data() const { return static_cast<const T*>(items_); }
  T* begin() { return data(); }
  const T* begin() const { return data(); }
  T* end() { return data() + size_; }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return *begin(); }
  const T& front() const { return *begin(); }
  T& back() { return end()[-1]; }
  const T& back() const { return end()[-1]; }

  /// The item is none of its own, unless it is taken as bytes.
  void push_back(T&& item) requires(!isTrivial) { ::new (add(sizeof(T))) T(std::move(item)); }
  void push_back(T item) requires isTrivial { ::new (add(sizeof(T))) T(item); }
  void pop_back() { erase(end() - 1); }
  void insert(const T* place, T item) {
    ::new (ListMemory::open(size_t(place - data()), sizeof(T))) T(std::move(item));
  }
  void append(std::span<const T> items) {
    if constexpr (isTrivial)
      ListMemory::append(items.data(), items.size(), sizeof(T));
    else
      for (const T& item : items)
        push_back(T(item));
  }
  void erase(const T* first, const T* last) {
    destroy(const_cast<T*>(first), const_cast<T*>(last));
    ListMemory::close(size_t(first - data()), size_t(last - data()), sizeof(T));
  }
  void erase(const T* place) { erase(place, place + 1); }
  template <typename Predicate>
  void eraseIf(Predicate&& isGone) {
    T* kept = begin();
    for (T& item : *this)
      if (!isGone(item))
        *kept++ = std::move(item);
    erase(kept, end());
  }
  void clear() { erase(begin(), end()); }
  void reserve(size_t count) { ListMemory::reserve(count, sizeof(T)); }
  void resize(size_t count) {
    static_assert(std::is_nothrow_default_constructible_v<T>);
    if (count < size_)
      return erase(begin() + count, end());
    reserve(count);
    std::uninitialized_value_construct(end(), begin() + count);
    size_ = uint32_t(count);
  }
  /// Makes it that long, with copies of `item`.
  void extend(size_t count, T item) {
    static_assert(isTrivial);
    reserve(count);
    std::fill(end(), begin() + count, item);
    size_ = uint32_t(count);
  }
  void assign(size_t count, T item) {
    clear();
    extend(count, item);
  }

  friend bool operator==(const List& a, const List& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

private:
  static void destroy(T* first, T* last) noexcept {
    static_assert(runtime::movesAsBytes<T> && alignof(T) <= alignof(std::max_align_t));
    std::destroy(first, last);
  }
};

} // namespace runtime
