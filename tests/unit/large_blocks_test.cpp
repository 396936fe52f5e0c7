// Large blocks: they never overlap, gaps join, and memory stays near what lives at once.
#include "runtime/large_blocks.h"

#include "runtime/instrumented.h"
#include "runtime/pool.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace {

using runtime::giveLarge;
using runtime::largeMemory;
using runtime::takeLarge;

constexpr size_t kilobyte = 1024, megabyte = kilobyte * kilobyte;

/// A block that knows what was written into it.
struct Written {
  std::byte* bytes;
  size_t size;
  std::byte mark;

  Written(size_t bytesWanted, std::byte fill)
      : bytes(static_cast<std::byte*>(takeLarge(bytesWanted))), size(bytesWanted), mark(fill) {
    std::memset(bytes, int(mark), size);
  }
  bool isWhole() const {
    for (size_t i = 0; i < size; i += 509)
      if (bytes[i] != mark)
        return false;
    return bytes[size - 1] == mark;
  }
};

/// Takes and gives blocks of many sizes at random; whether each kept what was written into it.
bool keepsWhatIsWritten(uint32_t seed, size_t steps) {
  std::mt19937 random(seed);
  std::vector<Written> blocks;
  bool isGood = true;
  for (size_t step = 0; step < steps; ++step) {
    if (blocks.size() < 40 && random() % 2) {
      blocks.emplace_back(runtime::leastLarge + random() % (size_t(1) << (14 + random() % 8)),
                          std::byte(random()));
      isGood &= reinterpret_cast<uintptr_t>(blocks.back().bytes) % 64 == 0;
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      isGood &= blocks.back().isWhole();
      giveLarge(blocks.back().bytes);
      blocks.pop_back();
    }
  }
  for (const Written& block : blocks) {
    isGood &= block.isWhole();
    giveLarge(block.bytes);
  }
  return isGood;
}

} // namespace

TEST_CASE("large blocks keep what is written into them") {
  size_t before = largeMemory().used;
  CHECK(keepsWhatIsWritten(1, 20'000));
  CHECK(largeMemory().used == before);
}

TEST_CASE("large blocks of several threads do not overlap") {
  std::vector<char> good(4);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < good.size(); ++i)
    threads.emplace_back([&good, i] { good[i] = keepsWhatIsWritten(i, 3'000); });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(good == std::vector<char>(4, 1));
}

TEST_CASE("what small blocks gave back serves a larger one") {
  runtime::returnLarge();
  size_t kept = largeMemory().touched;
  std::vector<void*> blocks;
  for (size_t i = 0; i < 32; ++i)
    blocks.push_back(takeLarge(megabyte));
  size_t most = largeMemory().touched;
  CHECK(most - kept < 33 * megabyte);
  for (void* block : blocks)
    giveLarge(block);
  for (size_t megabytes : {20, 9, 25, 13}) {
    void* block = takeLarge(megabytes * megabyte);
    giveLarge(block);
  }
  CHECK(largeMemory().touched < most + 13 * megabyte);
}

TEST_CASE("what is free beyond a bound goes back to the system") {
  size_t before = largeMemory().touched;
  std::vector<void*> blocks;
  for (size_t i = 0; i < 64; ++i)
    blocks.push_back(takeLarge(8 * megabyte));
  CHECK(largeMemory().touched >= before + 400 * megabyte);
  // Every second one first, so that gaps lie between blocks.
  for (size_t i = 0; i < blocks.size(); i += 2)
    giveLarge(blocks[i]);
  CHECK(largeMemory().touched < before + 400 * megabyte);
  for (size_t i = 1; i < blocks.size(); i += 2)
    giveLarge(blocks[i]);
  CHECK(largeMemory().touched < before + 150 * megabyte);
  runtime::returnLarge();
  CHECK(largeMemory().touched <= largeMemory().used);
}

TEST_CASE("there is no block of bytes beyond all memory") {
  CHECK(takeLarge(size_t(1) << 46) == nullptr);
  CHECK(takeLarge(SIZE_MAX) == nullptr);
}

TEST_CASE("blocks come back to where they are from") {
  std::mt19937 random(7);
  std::vector<std::pair<void*, size_t>> blocks;
  size_t before = largeMemory().used;
  for (size_t step = 0; step < 10'000; ++step) {
    if (blocks.size() < 20) {
      size_t size = runtime::leastLarge - 1000 + random() % 2000;
      blocks.emplace_back(runtime::takeBlock(size), size);
      std::memset(blocks.back().first, 1, size);
    }
    std::swap(blocks[random() % blocks.size()], blocks.back());
    if (random() % 2) {
      runtime::giveBlock(blocks.back().first, blocks.back().second);
      blocks.pop_back();
    }
  }
  for (auto [block, size] : blocks)
    runtime::giveBlock(block, size);
  CHECK(largeMemory().used == before);
}

TEST_CASE("the pool hands out large blocks where nobody watches") {
  size_t before = largeMemory().used;
  runtime::Block block(megabyte);
  CHECK((largeMemory().used > before) == !runtime::isInstrumented);
}
