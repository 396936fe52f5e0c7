// Damaged tensor files: refused with words, or read as tensors that can be written and read again.
//
// The same damage in every run; crashers of the fuzzer stand in tests/seeds/files.
#include "tests/fuzz/file_reading.h"
#include "tests/unit/places.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

using testing::FileKind;

namespace {

constexpr int damagesPerFile = 4000;

std::string damaged(std::string bytes, std::mt19937& random) {
  static constexpr std::string_view pieces[] = {
      "{",   "}",      "[",   "]",   "\"",  ",",  ":",          "0",        "-1",
      "99",  "(2, 3)", "<f4", ">i8", "PK",  "\\", "4294967296", "\x80\x80", "\xff\xff\xff\xff",
      "1e9", "null",   "F32", "==",  "AAAA"};
  for (size_t times = 1 + random() % 3; times > 0; --times) {
    size_t at = random() % (bytes.size() + 1);
    size_t length = std::min<size_t>(random() % 9, bytes.size() - at);
    switch (random() % 5) {
    case 0:
      bytes.resize(at);
      break;
    case 1:
      if (at < bytes.size())
        bytes[at] = char(random());
      break;
    case 2:
      bytes.erase(at, length);
      break;
    case 3:
      bytes.insert(at, bytes.substr(bytes.empty() ? 0 : random() % bytes.size(), length));
      break;
    default:
      bytes.replace(at, length, pieces[random() % std::size(pieces)]);
    }
  }
  return bytes;
}

} // namespace

TEST_CASE("damaged tensor files break no promise") {
  for (FileKind kind : testing::fileKinds) {
    std::mt19937 random(unsigned(kind) + 1);
    for (const std::string& file : testing::goodFiles(kind)) {
      INFO("kind " << int(kind));
      REQUIRE(testing::brokenPromise(kind, file) == "");
      for (int i = 0; i < damagesPerFile; ++i) {
        INFO("damage " << i);
        std::string broken = testing::brokenPromise(kind, damaged(file, random));
        if (!broken.empty())
          CHECK(broken == "");
      }
    }
  }
}

TEST_CASE("what once broke a reader of files does not again") {
  std::filesystem::path folder = tests::sourceFolder() / "tests/seeds/files";
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(stream), {});
    INFO(entry.path().filename().string());
    REQUIRE(!bytes.empty());
    auto kind =
        testing::fileKinds[static_cast<unsigned char>(bytes[0]) % std::size(testing::fileKinds)];
    CHECK(testing::brokenPromise(kind, bytes.substr(1)) == "");
    ++count;
  }
  CHECK(count > 0);
}
