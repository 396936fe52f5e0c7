// What reading does alike for all types.
#include "vm/executable/archive.h"

namespace executable {

using runtime::demand;

std::span<const std::byte> Reader::raw(size_t count) {
  demand(count <= left_.size(), "it ends too early");
  auto data = left_.first(count);
  left_ = left_.subspan(count);
  return data;
}

void Reader::get(std::string& text) {
  uint32_t size = 0;
  get(size);
  auto data = raw(size);
  text.assign(reinterpret_cast<const char*>(data.data()), data.size());
}

uint32_t Reader::enterList(size_t itemBytes) {
  uint32_t count = 0;
  get(count);
  demand(count <= left_.size() && count * itemBytes <= allowance_,
         "a list is longer than the file");
  demand(++depth_ <= mostDepth, "it is nested too deep");
  allowance_ -= count * itemBytes;
  return count;
}

void Reader::copy(void* to, size_t size) {
  if (auto data = raw(size); !data.empty())
    std::memcpy(to, data.data(), size);
}

uint8_t Reader::getByte(uint8_t most, const char* problem) {
  uint8_t byte = 0;
  copy(&byte, 1);
  demand(byte <= most, problem);
  return byte;
}

} // namespace executable
