// formats/: loading by suffix, tensors as JSON, files, quoting, and damaged files of every kind.
//
// The mutation test at the end asks only that a reader returns; run it under the sanitizers too.
#include "runtime/formats/json_value.h"
#include "runtime/formats/npy.h"
#include "runtime/formats/npz.h"
#include "runtime/formats/quote.h"
#include "runtime/formats/safetensors.h"
#include "runtime/half.h"
#include "tests/unit/tensor_file_cases.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace tests;

TEST_CASE("loading by path, suffix and key", "[formats]") {
  Folder folder;
  Tensor tensor = tensorOf<float>(runtime::Float32, {2}, {1.5f, -2});
  std::string npy = folder.file("x.npy"), npz = folder.file("x.npz"),
              safetensors = folder.file("x.safetensors"), two = folder.file("two.npz");
  requireValue(writeNpy(npy, tensor));
  requireValue(writeNpz(npz, {{"k", tensor}}, Compression::Deflate));
  requireValue(writeSafetensors(safetensors, {{"k", tensor}}));
  requireValue(writeNpz(two, {{"a", tensor}, {"b", tensor}}, Compression::Stored));

  CHECK(sameTensor(*loadTensor(npy, std::nullopt), tensor));
  for (const std::string& path : {npz, safetensors}) {
    CHECK(sameTensor(*loadTensor(path, std::nullopt), tensor));
    CHECK(sameTensor(*loadTensor(path, "k"), tensor));
    checkError(loadTensor(path, "l"),
               "x." + path.substr(path.rfind('.') + 1) + "`: there is no key");
  }
  checkError(loadTensor(two, std::nullopt),
             "a key is needed, as in `PATH:KEY`; the file has `a`, `b`");
  checkError(loadTensor(npy, "k"), "takes no key");
  CHECK(loadTensor(folder.file("none.npy"), std::nullopt).failure().message ==
        "cannot read `" + folder.file("none.npy") + "`: No such file or directory");
  checkError(loadTensor(folder.file("none.npz"), "k"), "No such file");
  checkError(loadTensor(folder.file("none.safetensors"), "k"), "No such file");
  checkError(loadTensor(folder.file("x.txt"), std::nullopt), "ends in none of");
}

TEST_CASE("splitting PATH:KEY", "[formats]") {
  Folder folder;
  std::string plain = folder.file("plain");
  requireValue(writeFile(plain, "x"));
  struct Row {
    std::string text, path;
    std::optional<std::string> key;
  };
  for (const Row& row : {
           Row{"w.npz", "w.npz", {}},
           Row{"w.npz:a", "w.npz", "a"},
           Row{"w.npz:", "w.npz", ""},
           Row{"dir:x/w.safetensors:a.b", "dir:x/w.safetensors", "a.b"},
           Row{"w.npz:dense/kernel:0", "w.npz", "dense/kernel:0"},
           Row{"c:d.npy", "c:d.npy", {}},
           Row{"c:w.npz", "c:w.npz", {}},
           Row{plain + ":k", plain, "k"},
           Row{plain + "2:k", plain + "2:k", {}},
           Row{":", ":", {}},
           Row{"", "", {}},
       }) {
    INFO(row.text);
    TensorLocation location = splitKey(row.text);
    CHECK(location.path == row.path);
    CHECK(location.key == row.key);
  }
}

TEST_CASE("tensors as JSON", "[formats]") {
  auto json = [](const Tensor& tensor) {
    std::string text;
    appendTensorJson(text, tensor);
    return text;
  };
  float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  CHECK(json(tensorOf<float>(runtime::Float32, {2, 4},
                             {0.1f, -0.f, inf, -inf, nan, 1e-45f, 3, 1e10f})) ==
        R"({"dtype":"float32","shape":[2,4],"data":)"
        R"([0.100000001,-0,"inf","-inf","nan",1.40129846e-45,3,1e+10]})");
  CHECK(json(tensorOf<double>(runtime::Float64, {2}, {0.1, 1.7976931348623157e308})) ==
        R"({"dtype":"float64","shape":[2],"data":[0.10000000000000001,1.7976931348623157e+308]})");
  CHECK(json(tensorOf<uint8_t>(runtime::Bool, {2}, {1, 0})) ==
        R"({"dtype":"bool","shape":[2],"data":[true,false]})");
  CHECK(json(Tensor::scalar(runtime::UInt64, uint64_t(-1))) ==
        R"({"dtype":"uint64","shape":[],"data":[18446744073709551615]})");
  CHECK(json(Tensor::scalar(runtime::Int64, std::numeric_limits<int64_t>::min())) ==
        R"({"dtype":"int64","shape":[],"data":[-9223372036854775808]})");
  CHECK(json(tensorOf<int8_t>(runtime::Int8, {2}, {-128, 65})) ==
        R"({"dtype":"int8","shape":[2],"data":[-128,65]})");
  CHECK(json(Tensor::scalar(runtime::Float16, runtime::Half(0.1f))) ==
        R"({"dtype":"float16","shape":[],"data":[0.0999755859]})");
  CHECK(json(Tensor::scalar(runtime::BFloat16, runtime::BHalf(-inf))) ==
        R"({"dtype":"bfloat16","shape":[],"data":["-inf"]})");
  CHECK(json(Tensor(runtime::Int32, {0, 3})) == R"({"dtype":"int32","shape":[0,3],"data":[]})");
  CHECK(json(Tensor(DType{runtime::DTypeCode::Int, 4}, {2})) ==
        R"({"dtype":"int4","shape":[2],"data":null})");
}

TEST_CASE("files", "[formats]") {
  Folder folder;
  std::string path = folder.file("a");
  std::string content("one\0two", 7);
  requireValue(writeFile(path, content));
  CHECK(*readFile(path, 100) == content);
  CHECK(*readFile(path, content.size()) == content);
  checkError(readFile(path, content.size() - 1), "the limit is");
  CHECK(*fileSize(path) == content.size());
  CHECK(*readFileRange(path, 1, 2) == "ne");
  checkError(readFileRange(path, 1, 100), "100 bytes at 1 are wanted");
  checkError(readFileRange(path, uint64_t(-1), 2), "are wanted");
  checkError(readFile(folder.file("none"), 100), "none`: No such file");
  checkError(readFile(folder.path.string(), 100), "Is a directory");
  checkError(fileSize(folder.path.string()), "Is a directory");
  checkError(writeFile(folder.path.string(), "x"), "Is a directory");
  checkError(writeFile(folder.file("none/x"), "x"), "No such file");
  checkError(readFile("/dev/zero", 1 << 20), "the limit is 1048576");
  checkError(fileSize("/dev/zero"), "not a regular file");

  std::filesystem::create_symlink("a", folder.file("link"));
  std::filesystem::permissions(path, std::filesystem::perms::owner_read |
                                         std::filesystem::perms::owner_write);
  requireValue(writeFile(folder.file("link"), "new"));
  CHECK(*readFile(path, 100) == "new");
  CHECK(std::filesystem::is_symlink(folder.file("link")));
  CHECK(int(std::filesystem::status(path).permissions()) == 0600);

  auto entries = std::filesystem::directory_iterator(folder.path);
  CHECK(std::distance(begin(entries), end(entries)) == 2);
}

TEST_CASE("a full disk is reported", "[formats]") {
  if (!std::filesystem::exists("/dev/full"))
    return;
  checkError(writeFile("/dev/full", "x"), "No space left");
  CHECK(std::filesystem::is_character_file("/dev/full"));
}

TEST_CASE("quoting", "[formats]") {
  CHECK(backquoted("caf\xc3\xa9") == "`caf\xc3\xa9`");
  CHECK(backquoted("a\n\x1b[31m\x7f") == "`a\\x0a\\x1b[31m\\x7f`");
  CHECK(backquoted("\xc2\x9b\xff\xc3") == "`\\xc2\\x9b\\xff\\xc3`");
  CHECK(backquoted("\xed\xa0\x80") == "`\\xed\\xa0\\x80`");
  CHECK(backquoted(std::string(100'000, 'x')).size() < 300);
  CHECK(listedKeys({}) == "the file has no tensors");
  CHECK(listedKeys(std::vector<std::string>(25, "k")).ends_with("`k` and 5 more"));
}

namespace {

/// Changes, inserts or removes a few bytes, or cuts the end off.
std::string mutated(std::string bytes, std::mt19937_64& random) {
  constexpr std::string_view telling = "{}[]()'\",:0129-L\xff\x7f\x80 ";
  for (uint64_t edits = 1 + random() % 4; edits > 0 && !bytes.empty(); --edits) {
    size_t at = random() % bytes.size();
    switch (random() % 6) {
    case 0:
      bytes.resize(at);
      break;
    case 1:
      bytes[at] = char(bytes[at] ^ (1 << random() % 8));
      break;
    case 2:
      bytes[at] = char(random());
      break;
    case 3:
      bytes[at] = telling[random() % telling.size()];
      break;
    case 4:
      bytes.insert(at, 1, telling[random() % telling.size()]);
      break;
    default:
      bytes.erase(at, 1 + random() % 8);
    }
  }
  return bytes;
}

/// True when `result` is an error with a text or a tensor not larger than its file allows.
bool isSound(const runtime::Result<Tensor>& result, size_t fileSize) {
  return result ? result->byteSize() <= fileSize * 1100 : !result.failure().message.empty();
}

} // namespace

TEST_CASE("readers survive mutated and truncated files", "[formats]") {
  Tensor floats = *randomTensor(runtime::Float32, {3, 4}, 42, 0);
  TensorMap pair{{"a", floats}, {"b", Tensor(runtime::Bool, {2, 2})}};
  std::string columns = npyFile("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3, 2), }\n",
                                rawBytes(std::vector<int16_t>(12, 258)));
  struct Subject {
    std::string bytes;
    runtime::Result<Tensor> (*read)(std::string_view);
  };
  auto readNpzA = [](std::string_view bytes) { return parseNpz(bytes, "a"); };
  auto readSafetensorsA = [](std::string_view bytes) { return parseSafetensors(bytes, "a"); };
  std::mt19937_64 random(1);
  for (const Subject& subject : {
           Subject{*npyHeader(floats.dtype(), floats.shape()) + std::string(bytesOf(floats)),
                   parseNpy},
           Subject{columns, parseNpy},
           Subject{*npzBytes(pair, Compression::Stored), readNpzA},
           Subject{*npzBytes(pair, Compression::Deflate), readNpzA},
           Subject{*safetensorsBytes(pair), readSafetensorsA},
       }) {
    requireValue(subject.read(subject.bytes));
    size_t unsound = 0, refused = 0;
    for (size_t length = 0; length < subject.bytes.size(); ++length) {
      auto result = subject.read(std::string_view(subject.bytes).substr(0, length));
      unsound += !isSound(result, length);
      refused += !result;
    }
    CHECK(refused == subject.bytes.size());
    for (int round = 0; round < 10'000; ++round) {
      std::string bytes = mutated(subject.bytes, random);
      unsound += !isSound(subject.read(bytes), bytes.size());
    }
    CHECK(unsound == 0);
  }
}
