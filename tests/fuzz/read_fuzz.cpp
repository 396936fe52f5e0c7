// The fuzz target for libFuzzer: any bytes as the text of a program. See docs/testing.md.
#include "tests/fuzz/reading.h"

#include <cstdio>
#include <cstdlib>

namespace {

/// Longer inputs find nothing that shorter ones do not, and cost time.
constexpr size_t largestInput = 1 << 16;

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  if (size > largestInput)
    return 0;
  std::string broken =
      testing::brokenPromise(std::string(reinterpret_cast<const char*>(data), size));
  if (!broken.empty()) {
    std::fprintf(stderr, "%s\n", broken.c_str());
    std::abort();
  }
  return 0;
}
