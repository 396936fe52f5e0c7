// Writing and reading of plain data by one description: `fields` calls an archive with the parts of
// a struct, each behind its name, and the archive writes or reads them. `implied` parts are those
// that a text of code tells by itself. Names are for texts (assembly/): what is here leaves them
// out, and is inlined where they stand, so that they are in no program that only reads.
//
// A reader trusts nothing: it refuses to read beyond the end of the bytes, enumerators that there
// are not, and lists that are longer than the bytes that are left, by throwing runtime::Refused.
#pragma once

#include "runtime/list.h"
#include "runtime/refused.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace executable {

template <typename T>
inline constexpr bool isNumber = std::is_integral_v<T> || std::is_floating_point_v<T>;

/// The enumerators of an enumeration that is read, as in texts.
template <typename T>
inline constexpr bool namesOf = false;

class Writer {
public:
  static constexpr bool isReader = false;

  std::vector<std::byte> bytes;

  template <typename... T>
  [[gnu::always_inline]] void operator()(const T&... values) {
    (put(values), ...);
  }
  template <typename... T>
  [[gnu::always_inline]] void implied(const T&... values) {
    (put(values), ...);
  }
  void raw(std::span<const std::byte> data) { bytes.insert(bytes.end(), data.begin(), data.end()); }

private:
  template <size_t size>
  [[gnu::always_inline]] void put(const char (&)[size]) {}
  template <typename T>
  void put(const T& value) {
    if constexpr (isNumber<T>)
      raw(std::as_bytes(std::span(&value, 1)));
    else if constexpr (std::is_enum_v<T>)
      put(std::underlying_type_t<T>(value));
    else
      fields(*this, const_cast<T&>(value));
  }
  void put(const std::string& text) {
    put(uint32_t(text.size()));
    raw(std::as_bytes(std::span(text)));
  }
  template <typename T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value)
      put(*value);
  }
  template <typename T>
  void put(const std::vector<T>& list) {
    putItems(list);
  }
  template <typename T>
  void put(const runtime::List<T>& list) {
    putItems(list);
  }
  template <typename List>
  void putItems(const List& list) {
    put(uint32_t(list.size()));
    for (const auto& item : list)
      put(item);
  }
};

class Reader {
public:
  static constexpr bool isReader = true;

  explicit Reader(std::span<const std::byte> bytes)
      : left_(bytes), allowance_(bytes.size() * mostTimesLarger) {}

  template <typename... T>
  [[gnu::always_inline]] void operator()(T&... values) {
    (get(values), ...);
  }
  template <typename... T>
  [[gnu::always_inline]] void implied(T&... values) {
    (get(values), ...);
  }
  /// The next bytes.
  std::span<const std::byte> raw(size_t count);
  size_t left() const { return left_.size(); }

private:
  /// Lists may be nested so deep.
  static constexpr size_t mostDepth = 1100;
  /// Lists are made before their items are known to be there, so they may take so many times the
  /// bytes of the file; nothing that is written comes near.
  static constexpr size_t mostTimesLarger = 32;

  template <size_t size>
  [[gnu::always_inline]] void get(const char (&)[size]) {}
  template <typename T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = getByte(1, "something is neither true nor false") == 1;
    } else if constexpr (isNumber<T>) {
      copy(&value, sizeof value);
    } else if constexpr (std::is_enum_v<T>) {
      static_assert(sizeof(T) == 1);
      value = T(getByte(uint8_t(namesOf<T>.size() - 1), "there is no such enumerator"));
    } else {
      fields(*this, value);
    }
  }
  void get(std::string& text);
  template <typename T>
  void get(std::optional<T>& value) {
    bool is = false;
    get(is);
    if (is)
      get(value.emplace());
  }
  template <typename T>
  void get(std::vector<T>& list) {
    // What is read into is new, so the list has no memory to free.
    std::construct_at(&list, enterList(sizeof(T)));
    getItems<T>(list);
  }
  template <typename T>
  void get(runtime::List<T>& list) {
    list.resize(enterList(sizeof(T)));
    getItems<T>(list);
  }
  template <typename T>
  void getItems(std::span<T> items) {
    if constexpr (isNumber<T>)
      copy(items.data(), items.size_bytes());
    else
      for (T& item : items)
        get(item);
    --depth_;
  }
  /// The number of items of a list, each of which takes so many bytes of memory, and a byte of the
  /// file at least.
  uint32_t enterList(size_t itemBytes);
  /// The bytes of numbers.
  void copy(void* to, size_t size);
  /// A byte that is at most `most`, or the problem.
  uint8_t getByte(uint8_t most, const char* problem);

  std::span<const std::byte> left_;
  /// The bytes that lists may still take.
  size_t allowance_;
  size_t depth_ = 0;
};

} // namespace executable
