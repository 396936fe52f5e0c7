// Any bytes as an executable: refused, or run within limits. The first byte says whether the
// checksum is made right before; without that nearly everything ends at it.
#include "tests/fuzz/executables.h"

#include <cstdint>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t header = 64;
  if (size <= header)
    return 0;
  std::vector<std::byte> bytes(size - 1);
  std::memcpy(bytes.data(), data + 1, size - 1);
  if (data[0] % 2 == 0 && bytes.size() >= header)
    fuzz::sealExecutable(bytes);
  fuzz::tryExecutable(bytes);
  return 0;
}
