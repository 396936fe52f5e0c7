// x times 2 / pi, of which only the digits count that do not give multiples of 4 alone, and those
// that are left out below. So 2 / pi is a row of numbers of 25 bits, a window of eight of them is
// chosen by the size of x, and their products with x, which are exact, are reduced and added up.
#include "codegen/math/quarter_turns.h"

#include "codegen/math/float_bits.h"

#include <array>
#include <cmath>
#include <vector>

namespace codegen::functions {

namespace {

constexpr int chunkBits = 25;
constexpr size_t windowSize = 8;

/// 2 / pi is the sum of chunk j times 2^(-25 (j + 1)).
constexpr std::array<int32_t, 46> chunks{
    21361415, -4638448, 11096033,  7699743,   10918840,  3594405,   13409826,  -7323138,
    10667864, -8720618, -15877853, 14918693,  -4563967,  -7189573,  -16455479, 1900062,
    -2737822, 10919164, -12316240, -11342924, 9477428,   -14939731, 3129121,   -13004330,
    7538342,  15192690, 2292830,   -2125180,  -10223853, -2175,     13371384,  -13692533,
    11801818, 8238298,  -624322,   11574133,  -1521683,  -5793797,  -15287660, -4536340,
    -3415306, 15998184, -4435307,  -13719872, -9701852,  -1878206};

struct Window {
  /// Scaled down with the chunks that were left out.
  MathValue x;
  std::vector<MathValue> chunks;
};

/// Drops chunks of which all products are multiples of 4, by halves: 32 of them or none, 16 more or
/// none, and so on. A chunk keeps the weight of its place.
Window windowOf(MathValue x) {
  Window window{x, {}};
  for (int32_t chunk : chunks)
    window.chunks.push_back(constant(x, chunk));
  for (size_t count = 32; count > 0; count /= 2) {
    const int bits = chunkBits * int(count);
    MathValue drops = constant(x, std::ldexp(1.0, 54 + bits)) <= window.x;
    window.x = select(drops, window.x * std::ldexp(1.0, -bits), window.x);
    std::vector<MathValue> left;
    for (size_t i = 0; i < window.chunks.size() && i < windowSize + count - 1; ++i)
      left.push_back(i + count < window.chunks.size()
                         ? select(drops, window.chunks[i + count], window.chunks[i])
                         : window.chunks[i]);
    window.chunks = std::move(left);
  }
  for (size_t i = 0; i < windowSize; ++i)
    window.chunks[i] = window.chunks[i] * std::ldexp(1.0, -chunkBits * int(i + 1));
  return window;
}

/// The products of x with the window, exact, in the order of their sizes: each has the part of x of
/// the higher digits times a chunk, and that of the lower ones times the chunk before.
std::vector<MathValue> productsOf(const Window& window) {
  constexpr uint64_t highDigits = ~uint64_t(0) << 27;
  MathValue high = floatOf(bitsOf(window.x) & wholeConstant(window.x, highDigits));
  MathValue low = window.x - high;
  std::vector<MathValue> products{high * window.chunks[0]};
  for (size_t i = 1; i < windowSize; ++i)
    products.push_back(multiplyAdd(high, window.chunks[i], low * window.chunks[i - 1]));
  // The first ones have multiples of 4.
  for (size_t i = 0; i < 4; ++i)
    products[i] = multiplyAdd(roundEven(products[i] * 0.25), -4, products[i]);
  return products;
}

} // namespace

QuarterTurns quarterTurns(MathValue x) {
  std::vector<MathValue> products = productsOf(windowOf(x));
  MathValue shifted = ((products[0] + products[1]) + (products[2] + products[3])) + rounderOf(x);
  // Where leading digits cancel, the sums are exact; where one is not, later ones cannot cancel it.
  MathPair sum{products[0] - (shifted - rounderOf(x)), products[6] + products[7]};
  for (size_t i = 1; i < 6; ++i) {
    MathPair next = exactSum(sum.high, products[i]);
    sum = {next.high, sum.low + next.low};
  }
  sum = orderedSum(sum.high, sum.low);
  return {bitsOf(shifted), sum * pairOf(x, {1.5707963267948966, 6.123233995736766e-17})};
}

} // namespace codegen::functions
