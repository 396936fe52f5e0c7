// Digests of 128 bits: names of what was compiled, by everything that it was made from, and checks
// of bytes that were on a disk.
//
// SipHash-2-4 with an output of 128 bits (Aumasson and Bernstein, 2012) under a fixed key: what
// differs by accident differs here. It is no proof against somebody who makes up bytes on purpose.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace codegen {

struct Digest {
  uint64_t low = 0, high = 0;
  friend auto operator<=>(const Digest&, const Digest&) = default;

  /// 32 digits.
  std::string text() const;
};

/// Of bytes; the low half of the key comes first.
Digest digestOf(std::string_view bytes, Digest key = {0x62746f6e, 0x6b65726e});

} // namespace codegen
