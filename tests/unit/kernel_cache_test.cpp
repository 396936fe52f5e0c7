// What is kept of compiled kernels: as bytes, and in a folder that others share and may damage.
#include "codegen/image/nest_code.h"
#include "codegen/native/disk_cache.h"
#include "codegen/native/function_bytes.h"
#include "lower/tensor/fold.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>
#include <unistd.h>

using codegen::Digest;
using codegen::DiskCache;
using codegen::NestCode;
using codegen::SizeStepKind;

namespace fs = std::filesystem;

namespace {

/// A folder that is gone at the end.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("baton-kernel-cache-" + std::to_string(getpid()));
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }

  fs::path onlyFile() const {
    fs::directory_iterator files(path);
    return files->path();
  }
};

std::string contentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

NestCode someCode() {
  return {.inputs = 2,
          .outputs = 1,
          .sizes = 1,
          .steps = {{SizeStepKind::Size, 0},
                    {SizeStepKind::Number, -3},
                    {SizeStepKind::Quotient, 0, 0},
                    {SizeStepKind::Sum, 0, 1}},
          .parts = {{1, 3}, {0}},
          .scratch = {{0, 4, true}},
          .sharable = {{1, 0}},
          .image = {"code and more", "data", 4096, {{2, 4}}, {0, 5}}};
}

/// x -> x * factor, elements numbered by an axis.
tensor::TensorFunction scaling(double factor, uint32_t axis, int64_t size = 4) {
  tensor::TensorFunction function{.inputCount = 1};
  auto& arena = *function.arena;
  const tensor::ScalarNode* extent = tensor::makeInteger(arena, size);
  function.tensors = {{runtime::Float32, {extent}}, {runtime::Float32, {extent}}};
  const tensor::ScalarNode* index = arena.make<tensor::ScalarIndex>(
      tensor::ScalarNode{tensor::ScalarKind::Index, runtime::Int64}, axis);
  const tensor::ScalarNode* load =
      arena.make<tensor::ScalarLoad>(tensor::ScalarNode{tensor::ScalarKind::Load, runtime::Float32},
                                     0u, arena.copy(std::array{index}), nullptr);
  function.stages = {{.axes = arena.copy(std::array{tensor::LoopAxis{axis, extent}}),
                      .body = tensor::makeApply(
                          arena, runtime::ScalarFunction::Multiply, runtime::Float32,
                          std::array{load, tensor::makeNumber(arena, runtime::Float32, factor)})}};
  function.results = {1};
  return function;
}

} // namespace

TEST_CASE("digests are those of SipHash") {
  // The key 00 01 .. 0f and no bytes, and the bytes 00 .. 0e: vectors of its authors.
  Digest key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  CHECK(codegen::digestOf("", key) == Digest{0xe6a825ba047f81a3, 0x930255c71472f66d});
  std::string bytes;
  for (char each = 0; each < 15; ++each)
    bytes += each;
  CHECK(codegen::digestOf(bytes, key) == Digest{0x11a8b03399e99354, 0xd9c3cf970fec087e});
  CHECK(Digest{1, 2}.text() == "00000000000000020000000000000001");
}

TEST_CASE("code comes back from its bytes, and from no part of them") {
  const std::string bytes = codegen::bytesOf(someCode());
  auto read = codegen::nestCodeOf(bytes);
  REQUIRE(read);
  CHECK(codegen::bytesOf(*read) == bytes);
  CHECK(codegen::valuesOf(read->steps, std::array<int64_t, 1>{7}) ==
        runtime::List<std::optional<int64_t>>{7, -3, 1, 4});
  CHECK(codegen::valuesOf(read->steps, std::array<int64_t, 1>{INT64_MIN}).back() == std::nullopt);
  for (size_t size = 0; size < bytes.size(); ++size)
    CHECK(!codegen::nestCodeOf(bytes.substr(0, size)));
  CHECK(!codegen::nestCodeOf(bytes + '\0'));
}

TEST_CASE("code with a place out of range is refused") {
  auto isRefused = [](auto change) {
    NestCode code = someCode();
    change(code);
    return !codegen::nestCodeOf(codegen::bytesOf(code));
  };
  CHECK(!isRefused([](NestCode&) {}));
  CHECK(isRefused([](NestCode& code) { code.steps[0].a = 1; }));
  CHECK(isRefused([](NestCode& code) { code.steps[0].a = -1; }));
  CHECK(isRefused([](NestCode& code) { code.steps[2].b = 2; }));
  CHECK(isRefused([](NestCode& code) { code.steps[2].kind = SizeStepKind(9); }));
  CHECK(isRefused([](NestCode& code) { code.parts[0].iterations = 4; }));
  CHECK(isRefused([](NestCode& code) { code.scratch[0].elements = 4; }));
  CHECK(isRefused([](NestCode& code) { code.scratch[0].elementBytes = 1000; }));
  CHECK(isRefused([](NestCode& code) { code.sharable[0].input = 2; }));
  CHECK(isRefused([](NestCode& code) { code.sharable[0].output = 1; }));
  CHECK(isRefused([](NestCode& code) { code.parts[0].entry = 2; }));
  CHECK(isRefused([](NestCode& code) { code.image.entries[1] = code.image.code.size(); }));
  CHECK(isRefused([](NestCode& code) { code.image.helpers[0].place = 6; }));
  CHECK(isRefused([](NestCode& code) { code.image.helpers[0].place = UINT64_MAX - 3; }));
  CHECK(isRefused([](NestCode& code) { code.image.pageBytes = 4097; }));
  CHECK(isRefused([](NestCode& code) { code.image.pageBytes = 1 << 20; }));
}

TEST_CASE("the bytes of a function tell all but the numbers of its loops") {
  const std::string bytes = codegen::bytesOf(scaling(2, 0));
  CHECK(codegen::bytesOf(scaling(2, 7)) == bytes);
  CHECK(codegen::bytesOf(scaling(3, 0)) != bytes);
  CHECK(codegen::bytesOf(scaling(2, 0, 5)) != bytes);
}

TEST_CASE("a cache gives what it was given, and nothing that is damaged") {
  Folder folder;
  DiskCache cache(folder.path);
  const Digest key{1, 2};
  CHECK(!cache.find(key));
  cache.keep(key, "content");
  CHECK(cache.find(key) == "content");
  CHECK(DiskCache(folder.path).find(key) == "content");
  CHECK(!cache.find({2, 1}));
  const std::string whole = contentOf(folder.onlyFile());
  for (size_t i = 0; i <= whole.size(); ++i) {
    write(folder.onlyFile(), whole.substr(0, i));
    CHECK(cache.find(key).has_value() == (i == whole.size()));
    if (i == whole.size())
      break;
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[i] ^= char(1 << bit);
      write(folder.onlyFile(), damaged);
      CHECK(!cache.find(key));
    }
  }
  cache.keep(key, "");
  CHECK(cache.find(key) == "");
  CHECK(cache.content().entries == 1);
  CHECK(cache.clear());
  CHECK(!cache.find(key));
}

TEST_CASE("a cache is bounded, and drops what was used longest ago") {
  Folder folder;
  DiskCache cache(folder.path);
  CHECK(cache.limit() == codegen::usualCacheLimit);
  REQUIRE(cache.setLimit(20'000));
  const std::string content(1'000, 'x');
  for (uint64_t i = 0; i < 100; ++i) {
    cache.keep({i, 0}, content);
    CHECK(cache.content().bytes <= 20'000);
  }
  CHECK(cache.find({99, 0}));
  CHECK(cache.content().entries > 10);
  // What is asked for counts as used.
  for (const fs::directory_entry& file : fs::directory_iterator(folder.path))
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  CHECK(cache.find({99, 0}));
  CHECK(DiskCache(folder.path).setLimit(1'500));
  CHECK(cache.content().entries == 1);
  CHECK(cache.find({99, 0}));
}

TEST_CASE("several may use a cache at once") {
  Folder folder;
  std::atomic<size_t> wrong = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&] {
      DiskCache cache(folder.path);
      for (uint64_t i = 0; i < 200; ++i) {
        const Digest key{i % 10, 0};
        const std::string content(size_t(1 + i % 10) * 1000, char('a' + i % 10));
        cache.keep(key, content);
        auto found = cache.find(key);
        wrong += !found || *found != content;
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(wrong == 0);
  CHECK(DiskCache(folder.path).content().entries == 10);
}

TEST_CASE("a cache without a place keeps nothing") {
  Folder folder;
  write(folder.path, "a file");
  for (const fs::path& place : {fs::path(), folder.path, folder.path / "below"}) {
    DiskCache cache(place);
    cache.keep({1, 2}, "content");
    CHECK(!cache.find({1, 2}));
    CHECK(!cache.setLimit(1));
    CHECK(cache.content().entries == 0);
  }
}
