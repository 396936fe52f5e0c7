// Memory is written first and made executable then, so at no time it is both.
#include "codegen/image/image.h"

#include "codegen/image/bytes.h"
#include "codegen/image/helpers.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace codegen {

namespace {

constexpr uint32_t leastPage = 4096, mostPage = 65536;

size_t roundUp(size_t size, size_t to) {
  return (size + to - 1) / to * to;
}

/// The helpers of an image by their addresses; false when there is none of a name.
bool writeHelpers(const Image& image, std::byte* memory) {
  for (const HelperSlot& slot : image.helpers) {
    void* helper = helperAt(slot.helper);
    if (!helper)
      return false;
    std::memcpy(memory + slot.place, &helper, sizeof helper);
  }
  return true;
}

} // namespace

uint64_t dataStart(const Image& image) {
  return roundUp(image.code.size(), image.pageBytes);
}

bool isSound(const Image& image) {
  bool isGood = (image.pageBytes & (image.pageBytes - 1)) == 0 && image.pageBytes >= leastPage &&
                image.pageBytes <= mostPage;
  for (const HelperSlot& slot : image.helpers)
    isGood &= slot.place <= image.code.size() && image.code.size() - slot.place >= sizeof(void*);
  return isGood && std::ranges::all_of(image.entries,
                                       [&](uint64_t entry) { return entry < image.code.size(); });
}

std::string bytesOf(const Image& image) {
  ByteWriter writer;
  writer.add(image.code);
  writer.add(image.data);
  writer.add(image.pageBytes);
  writer.add(image.helpers.size());
  for (const HelperSlot& slot : image.helpers) {
    writer.add(slot.place);
    writer.add(uint64_t(slot.helper));
  }
  writer.add(image.entries.size());
  for (uint64_t entry : image.entries)
    writer.add(entry);
  return writer.take();
}

std::optional<Image> imageOf(std::string_view bytes) {
  ByteReader reader(bytes);
  Image image{.code = std::string(reader.text()), .data = std::string(reader.text())};
  image.pageBytes = reader.smallNumber();
  for (size_t left = reader.count(); left > 0; --left) {
    image.helpers.push_back({reader.number()});
    image.helpers.back().helper = reader.smallNumber();
  }
  for (size_t left = reader.count(); left > 0; --left)
    image.entries.push_back(reader.number());
  return reader.isAtEnd() && isSound(image) ? std::optional(std::move(image)) : std::nullopt;
}

LoadedImage::~LoadedImage() {
  munmap(memory_, size_);
}

std::shared_ptr<const LoadedImage> LoadedImage::load(const Image& image) {
  auto page = size_t(sysconf(_SC_PAGESIZE));
  if (page > image.pageBytes)
    return nullptr;
  size_t start = dataStart(image), size = roundUp(start + image.data.size() + 1, page);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  std::shared_ptr<const LoadedImage> made(new LoadedImage(memory, size, image.entries));
  auto* bytes = static_cast<std::byte*>(memory);
  std::memcpy(bytes, image.code.data(), image.code.size());
  std::memcpy(bytes + start, image.data.data(), image.data.size());
  if (!writeHelpers(image, bytes))
    return nullptr;
  __builtin___clear_cache(static_cast<char*>(memory), static_cast<char*>(memory) + start);
  if (start > 0 && mprotect(memory, start, PROT_READ | PROT_EXEC) != 0)
    return nullptr;
  return made;
}

} // namespace codegen
