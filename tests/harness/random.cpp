// Steele, Lea and Flood's splitmix64.
#include "tests/harness/random.h"

namespace harness {

namespace {

uint64_t finish(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

} // namespace

uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15u;
  return finish(state_);
}

int64_t Random::integer(int64_t low, int64_t high) {
  if (high <= low)
    return low;
  return low + int64_t(next() % (uint64_t(high) - uint64_t(low) + 1));
}

uint64_t mixSeed(uint64_t seed, uint64_t part) {
  return finish(finish(seed + 1) + part);
}

uint64_t mixSeed(uint64_t seed, std::string_view part) {
  uint64_t hash = 0;
  for (char letter : part)
    hash = finish(hash + uint8_t(letter) + 1);
  return mixSeed(seed, hash);
}

} // namespace harness
