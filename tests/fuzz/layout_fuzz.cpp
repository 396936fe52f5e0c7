// The fuzz target for libFuzzer: any bytes as a text to lay out. The first one tells the notation.
#include "tests/fuzz/layout.h"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  constexpr size_t largestLayout = 1 << 14;
  if (size == 0 || size > largestLayout)
    return 0;
  auto notation =
      data[0] % 2 == 0 ? parser::surface::Notation::Baton : parser::surface::Notation::Relay;
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string broken = fuzz::tryLayout(text, notation).broken;
  if (!broken.empty()) {
    std::fprintf(stderr, "%s\n", broken.c_str());
    std::abort();
  }
  return 0;
}
