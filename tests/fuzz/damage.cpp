// Most damage is small, so that much of it is accepted and runs.
#include "tests/fuzz/damage.h"

#include "tests/fuzz/executables.h"

#include <iterator>

namespace fuzz {

namespace {

using Bytes = std::vector<std::byte>;

void changeByte(Bytes& bytes, std::mt19937& random, size_t from) {
  size_t at = from + random() % (bytes.size() - from);
  switch (random() % 4) {
  case 0:
    bytes[at] = std::byte(random());
    break;
  case 1:
    bytes[at] ^= std::byte(1 << random() % 8);
    break;
  case 2:
    bytes[at] = std::byte(uint8_t(bytes[at]) + 1);
    break;
  default:
    bytes[at] = std::byte(random() % 2 ? 0 : 255);
  }
}

/// Two pieces of a few bytes change places.
void swapPieces(Bytes& bytes, std::mt19937& random, size_t from) {
  size_t length = size_t(1) << random() % 4;
  if (bytes.size() - from < 2 * length)
    return;
  size_t a = from + random() % (bytes.size() - from - length + 1);
  size_t b = from + random() % (bytes.size() - from - length + 1);
  for (size_t i = 0; i < length; ++i)
    std::swap(bytes[a + i], bytes[b + i]);
}

/// The piece of a text from some place on to before one of these characters.
std::string_view pieceOf(std::string_view text, std::mt19937& random, const char* ends) {
  size_t start = random() % text.size();
  return text.substr(start, text.find_first_of(ends, start) - start);
}

} // namespace

std::vector<std::byte> damaged(const std::vector<std::byte>& whole, std::mt19937& random) {
  Bytes bytes = whole;
  constexpr size_t header = 64;
  unsigned kind = random() % 16;
  if (kind == 0) {
    bytes.resize(random() % bytes.size());
    return bytes;
  }
  if (kind == 1) {
    changeByte(bytes, random, 0);
    return bytes;
  }
  size_t changes = 1 + random() % 3;
  for (size_t i = 0; i < changes; ++i)
    random() % 4 ? changeByte(bytes, random, header) : swapPieces(bytes, random, header);
  sealExecutable(bytes);
  return bytes;
}

std::string damagedText(const std::string& whole, std::mt19937& random) {
  constexpr const char* words[] = {
      "0",  "-1", "7",  "65535", "4294967295", "99999999999", "none", "nan", "@0",
      "#0", "f1", "r1", "_",     "{",          "}",           "[",    "]",   ",",
      "..", "\"", "|",  "//",    "owned",      "int8",        "0x0",  "\\x", "\n"};
  std::string text = whole;
  for (size_t changes = 1 + random() % 2; changes > 0 && !text.empty(); --changes) {
    const char* ends = random() % 2 ? "\n" : " ,}])\n";
    std::string_view from = pieceOf(text, random, ends), to = pieceOf(text, random, ends);
    std::string put = random() % 2 ? std::string(to) : words[random() % std::size(words)];
    auto at = size_t(from.data() - text.data());
    switch (random() % 8) {
    case 0:
      text[at] = char(random());
      break;
    case 1:
      text.insert(at, put);
      break;
    case 2:
      text.erase(at, from.size());
      break;
    case 3:
      text.resize(random() % 8 ? text.size() : at);
      break;
    default:
      text.replace(at, from.size(), put);
    }
  }
  return text;
}

} // namespace fuzz
