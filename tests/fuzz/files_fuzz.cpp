// The fuzz target of the tensor files: the first byte picks the reader, the others are the file.
// See docs/testing.md.
#include "tests/fuzz/file_reading.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  if (size == 0)
    return 0;
  auto kind = testing::fileKinds[data[0] % std::size(testing::fileKinds)];
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string broken = testing::brokenPromise(kind, bytes);
  if (!broken.empty()) {
    std::fprintf(stderr, "%s\n", broken.c_str());
    std::abort();
  }
  return 0;
}
