// What reading does alike for all types.
#include "executable/archive.h"

namespace executable {

std::span<const std::byte> Reader::raw(size_t count) {
  if (count > left_.size()) {
    fail("it ends too early");
    return {};
  }
  auto data = left_.first(count);
  left_ = left_.subspan(count);
  return data;
}

void Reader::fail(std::string_view problem) {
  if (problem_.empty())
    problem_ = problem;
  left_ = {};
}

void Reader::get(std::string& text) {
  uint32_t size = 0;
  get(size);
  auto data = raw(size);
  text.assign(reinterpret_cast<const char*>(data.data()), data.size());
}

size_t Reader::getCount(size_t itemBytes) {
  uint32_t count = 0;
  get(count);
  if (count > left_.size() || count * itemBytes > allowance_) {
    fail("a list is longer than the file");
    return 0;
  }
  allowance_ -= count * itemBytes;
  return count;
}

void Reader::getItems(void* items, size_t count, size_t itemBytes,
                      void (*getOne)(Reader&, void* item)) {
  auto* item = static_cast<std::byte*>(items);
  for (size_t i = 0; i < count && isGood(); ++i, item += itemBytes)
    getOne(*this, item);
}

void Reader::copy(void* to, size_t size) {
  if (auto data = raw(size); !data.empty())
    std::memcpy(to, data.data(), size);
}

uint8_t Reader::getByte(uint8_t most, std::string_view problem) {
  uint8_t byte = 0;
  copy(&byte, 1);
  if (byte <= most)
    return byte;
  fail(problem);
  return 0;
}

bool Reader::isShallow() {
  if (depth_ == mostDepth) {
    fail("it is nested too deep");
    return false;
  }
  ++depth_;
  return true;
}

} // namespace executable
