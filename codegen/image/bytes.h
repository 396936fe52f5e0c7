// Numbers and texts one after the other, counts in front of lists: how images and the code of nests
// are kept.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace codegen {

class ByteWriter {
public:
  void add(uint64_t number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void add(std::string_view text) {
    add(text.size());
    bytes_ += text;
  }
  std::string take() { return std::move(bytes_); }

private:
  std::string bytes_;
};

/// Gives zeros where the bytes end too early.
class ByteReader {
public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  uint64_t number() {
    uint64_t value = 0;
    if (std::string_view taken = take(sizeof value); !taken.empty())
      std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  uint32_t smallNumber() {
    uint64_t value = number();
    isGood_ &= value <= UINT32_MAX;
    return uint32_t(value);
  }
  std::string_view text() { return take(number()); }
  /// How many items of at least eight bytes follow.
  size_t count() {
    uint64_t value = number();
    isGood_ &= value <= bytes_.size() / 8;
    return isGood_ ? value : 0;
  }
  bool isAtEnd() const { return isGood_ && bytes_.empty(); }

private:
  std::string_view take(uint64_t size) {
    isGood_ &= size <= bytes_.size();
    if (!isGood_)
      return {};
    std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  std::string_view bytes_;
  bool isGood_ = true;
};

} // namespace codegen
