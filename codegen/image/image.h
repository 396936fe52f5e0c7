// Machine code as it lies in memory: bytes that need no linking, but for the addresses of the few
// functions of helpers.h that they call.
//
// Code and data are apart since only the one may be executed; data lies behind code, from the next
// multiple of a page on, and all references between them are relative to where they stand. Whoever
// loads an image runs what it says: that its places are sound does not make it safe.
#pragma once

#include "runtime/list.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace codegen {

/// Eight bytes of the code that are the address of a helper.
struct HelperSlot {
  uint64_t place = 0;
  uint32_t helper = 0;
};

struct Image {
  std::string code;
  /// May be written.
  std::string data;
  /// What data is aligned to: a page of the processor, or several.
  uint32_t pageBytes = 4096;
  runtime::List<HelperSlot> helpers = {};
  /// Where the functions are that others call, in an order that is known to these.
  runtime::List<uint64_t> entries = {};
};

std::string bytesOf(const Image& image);
/// Nothing where the bytes are none of bytesOf(), or a place in them is out of place.
std::optional<Image> imageOf(std::string_view bytes);

/// Where data begins.
uint64_t dataStart(const Image& image);
/// Whether all places lie in the code.
bool isSound(const Image& image);

/// An image that can be called.
class LoadedImage {
public:
  LoadedImage(const LoadedImage&) = delete;
  ~LoadedImage();

  /// The function of a number that there is.
  void* entry(size_t number) const { return static_cast<std::byte*>(memory_) + entries_[number]; }
  size_t entryCount() const { return entries_.size(); }

  /// A sound image for the processor at hand; null where there is no memory for it, where pages are
  /// larger than it says, or where it calls what nobody has.
  static std::shared_ptr<const LoadedImage> load(const Image& image);

private:
  LoadedImage(void* memory, size_t size, runtime::List<uint64_t> entries)
      : memory_(memory), size_(size), entries_(std::move(entries)) {}

  void* memory_;
  size_t size_;
  runtime::List<uint64_t> entries_;
};

} // namespace codegen
