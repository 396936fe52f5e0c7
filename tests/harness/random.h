// Numbers for generated programs: the same on every machine and compiler for the same seed.
//
// The standard library's distributions differ between implementations, so nothing of <random> is
// used: a seed in a report must name the same program everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace harness {

/// A splitmix64 generator with the few draws that the harness needs.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next();
  /// A number from `low` to `high`, both included; `low` when the range is empty.
  int64_t integer(int64_t low, int64_t high);
  /// True in `percent` of a hundred draws.
  bool chance(int percent) { return integer(1, 100) <= percent; }
  /// A position in something of `size` elements, which must not be 0.
  size_t index(size_t size) { return size_t(next() % size); }
  /// An element of a container that is not empty.
  template <typename Container>
  const auto& pick(const Container& container) {
    return container[index(container.size())];
  }

private:
  uint64_t state_;
};

/// The seed of a part of something that has a seed of its own.
uint64_t mixSeed(uint64_t seed, uint64_t part);
/// That of a part with a name: it stays what it is when other parts come and go.
uint64_t mixSeed(uint64_t seed, std::string_view part);

} // namespace harness
