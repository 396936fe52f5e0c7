// Writing and reading of plain data by one description: `fields` calls an archive with the parts of
// a struct, each behind its name, and the archive writes or reads them. `implied` parts are those
// that a text of code tells by itself. Names are for texts (assembly/): what is here leaves them
// out, and is inlined where they stand, so that they are in no program that only reads.
//
// A reader trusts nothing: it stops at the end of the bytes, refuses enumerators that there are not
// and lists that are longer than the bytes that are left, and remembers the first problem; what it
// gives from then on is empty.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
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
    putList(list);
  }
  template <typename T>
  void put(const std::deque<T>& list) {
    putList(list);
  }
  template <typename List>
  void putList(const List& list) {
    put(uint32_t(list.size()));
    for (const auto& item : list)
      put(item);
  }
};

class Reader {
public:
  static constexpr bool isReader = true;

  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <typename... T>
  [[gnu::always_inline]] void operator()(T&... values) {
    (get(values), ...);
  }
  template <typename... T>
  [[gnu::always_inline]] void implied(T&... values) {
    (get(values), ...);
  }
  /// The next bytes, or none when there are not so many.
  std::span<const std::byte> raw(size_t count) {
    if (count > left_.size()) {
      fail("it ends too early");
      return {};
    }
    auto data = left_.first(count);
    left_ = left_.subspan(count);
    return data;
  }
  void fail(std::string problem) {
    if (problem_.empty())
      problem_ = std::move(problem);
    left_ = {};
  }
  bool isGood() const { return problem_.empty(); }
  const std::string& problem() const { return problem_; }
  size_t left() const { return left_.size(); }

private:
  /// Structs may be nested so deep.
  static constexpr size_t mostDepth = 1100;

  template <size_t size>
  [[gnu::always_inline]] void get(const char (&)[size]) {}
  template <typename T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      uint8_t byte = 0;
      get(byte);
      if (byte > 1)
        fail("something is neither true nor false");
      value = byte == 1;
    } else if constexpr (isNumber<T>) {
      if (auto data = raw(sizeof value); !data.empty())
        std::memcpy(&value, data.data(), sizeof value);
    } else if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number = 0;
      get(number);
      if (number >= namesOf<T>.size()) {
        fail("there is no such enumerator");
        number = 0;
      }
      value = T(number);
    } else {
      if (++depth_ > mostDepth)
        fail("it is nested too deep");
      else
        fields(*this, value);
      --depth_;
    }
  }
  void get(std::string& text) {
    uint32_t size = 0;
    get(size);
    auto data = raw(size);
    text.assign(reinterpret_cast<const char*>(data.data()), data.size());
  }
  template <typename T>
  void get(std::optional<T>& value) {
    bool is = false;
    get(is);
    if (is)
      get(value.emplace());
  }
  template <typename T>
  void get(std::vector<T>& list) {
    getList(list);
  }
  template <typename T>
  void get(std::deque<T>& list) {
    getList(list);
  }
  /// Each item takes a byte at least.
  template <typename List>
  void getList(List& list) {
    uint32_t size = 0;
    get(size);
    if (size > left_.size())
      return fail("a list is longer than the file");
    list.clear();
    for (uint32_t i = 0; i < size && isGood(); ++i)
      get(list.emplace_back());
  }

  std::span<const std::byte> left_;
  std::string problem_;
  size_t depth_ = 0;
};

} // namespace executable
