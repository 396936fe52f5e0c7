// Buffers come from the pool.
#include "runtime/buffer.h"

#include "runtime/pool.h"

#include <cstdint>
#include <new>

namespace runtime {

SharedBuffer::SharedBuffer(size_t bytes) {
  if (bytes > SIZE_MAX - Buffer::header)
    throw std::bad_alloc();
  bytes += Buffer::header;
  buffer_ = new (takeBlock(bytes)) Buffer{.bytes = bytes};
}

SharedBuffer::SharedBuffer(void (*release)(void* owner), void* owner) : SharedBuffer(0) {
  buffer_->release = release;
  buffer_->owner = owner;
}

void SharedBuffer::destroy(Buffer* buffer) noexcept {
  if (buffer->release)
    buffer->release(buffer->owner);
  giveBlock(buffer, buffer->bytes);
}

} // namespace runtime
