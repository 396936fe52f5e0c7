// formats/: round trips, files built by hand byte by byte, refusals, and the fill rule's checksums.
//
// The mutation test at the end asks only that a reader returns; run it under the sanitizers too.
#include "formats/file.h"
#include "formats/json_value.h"
#include "formats/load.h"
#include "formats/npy.h"
#include "formats/npz.h"
#include "formats/quote.h"
#include "formats/random_fill.h"
#include "formats/safetensors.h"
#include "runtime/half.h"

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>

#include <catch2/catch.hpp>
#include <unistd.h>

using namespace formats;
using runtime::DType;
using runtime::Shape;
using runtime::Tensor;

namespace {

template <typename T>
Tensor tensorOf(DType dtype, Shape shape, std::vector<T> values) {
  Tensor tensor(dtype, std::move(shape));
  REQUIRE(size_t(tensor.size()) == values.size());
  std::copy(values.begin(), values.end(), tensor.elements<T>().begin());
  return tensor;
}

template <typename T>
std::string rawBytes(std::vector<T> values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <typename T>
std::vector<T> valuesOf(const Tensor& tensor) {
  auto elements = tensor.elements<T>();
  return {elements.begin(), elements.end()};
}

bool sameTensor(const Tensor& left, const Tensor& right) {
  return left.dtype() == right.dtype() && left.shape() == right.shape() &&
         bytesOf(left) == bytesOf(right);
}

template <typename T>
void requireValue(const runtime::Result<T>& result) {
  INFO((result ? std::string() : result.failure().message));
  REQUIRE(bool(result));
}

template <typename T>
void checkError(const runtime::Result<T>& result, const std::string& fragment) {
  REQUIRE_FALSE(bool(result));
  CHECK_THAT(result.failure().message, Catch::Contains(fragment));
}

/// A .npy around a header dictionary written by the test.
std::string npyFile(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string file = "\x93NUMPY";
  file += {version, '\0', char(dictionary.size() & 0xFF), char(dictionary.size() >> 8)};
  if (version > 1)
    file += std::string(2, '\0');
  return file + dictionary + data;
}

std::string safetensorsFile(const std::string& json, const std::string& data) {
  uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + json + data;
}

/// A folder that is removed at the end of the test.
struct Folder {
  std::filesystem::path path;

  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "formats-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
};

/// One tensor of each element type that can be computed with.
TensorMap oneOfEach() {
  TensorMap tensors;
  for (const char* name : {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
                           "uint64", "float16", "float32", "float64", "bfloat16"}) {
    auto tensor = randomTensor(*runtime::parseDType(name), {2, 3, 5}, 7, tensors.size());
    requireValue(tensor);
    tensors.emplace(name, *tensor);
  }
  return tensors;
}

TensorMap oneOfEachInNumpy() {
  TensorMap tensors = oneOfEach();
  tensors.erase("bfloat16");
  return tensors;
}

void patch(std::string& bytes, size_t offset, uint32_t value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

} // namespace

TEST_CASE("npy: what is written is read", "[formats]") {
  for (const auto& [name, tensor] : oneOfEachInNumpy()) {
    INFO(name);
    for (const Shape& shape : {Shape{2, 3, 5}, Shape{30}, Shape{1, 30, 1}}) {
      Tensor reshaped = tensor.reshaped(shape);
      auto header = npyHeader(reshaped.dtype(), shape);
      requireValue(header);
      CHECK(header->size() % 64 == 0);
      auto read = parseNpy(*header + std::string(bytesOf(reshaped)));
      requireValue(read);
      CHECK(sameTensor(*read, reshaped));
    }
  }
  auto scalar = parseNpy(*npyHeader(runtime::Float64, {}) + rawBytes<double>({2.5}));
  requireValue(scalar);
  CHECK(scalar->rank() == 0);
  CHECK(valuesOf<double>(*scalar) == std::vector<double>{2.5});
  auto empty = parseNpy(*npyHeader(runtime::Int32, {3, 0}));
  requireValue(empty);
  CHECK(empty->shape() == Shape{3, 0});
}

TEST_CASE("npy: versions, byte orders and memory orders", "[formats]") {
  std::string dictionary = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n";
  std::vector<int16_t> values{1, 2, 3, 4, 5, 600};
  for (char version : {1, 2, 3}) {
    auto read = parseNpy(npyFile(dictionary, rawBytes(values), version));
    requireValue(read);
    CHECK(valuesOf<int16_t>(*read) == values);
  }
  auto big = parseNpy(npyFile("{'descr':'>i4','fortran_order':False,'shape':(2,)}",
                              std::string("\0\0\x01\x02\xff\xff\xff\xfe", 8)));
  requireValue(big);
  CHECK(valuesOf<int32_t>(*big) == std::vector<int32_t>{258, -2});

  auto columns = parseNpy(npyFile("{\"shape\": (2, 3L), 'fortran_order': True, 'descr': '<i2'}",
                                  rawBytes<int16_t>({1, 4, 2, 5, 3, 600})));
  requireValue(columns);
  CHECK(valuesOf<int16_t>(*columns) == values);
}

TEST_CASE("npy: Fortran order of rank 3, every width", "[formats]") {
  for (const auto& [name, tensor] : oneOfEachInNumpy()) {
    INFO(name);
    size_t width = tensor.dtype().bytes();
    std::string data;
    for (size_t k = 0; k < 5; ++k)
      for (size_t j = 0; j < 3; ++j)
        for (size_t i = 0; i < 2; ++i)
          data += bytesOf(tensor).substr(((i * 3 + j) * 5 + k) * width, width);
    std::string header = *npyHeader(tensor.dtype(), tensor.shape());
    header.replace(header.find("False"), 5, "True ");
    auto read = parseNpy(header + data);
    requireValue(read);
    CHECK(sameTensor(*read, tensor));
  }
}

TEST_CASE("npy: refusals", "[formats]") {
  struct Row {
    std::string dictionary, message;
  };
  std::string data(8, '\0');
  for (const Row& row : {
           Row{"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "object array"},
           Row{"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "`<c8`"},
           Row{"{'descr': '|i4', 'fortran_order': False, 'shape': (2,), }", "`|i4`"},
           Row{"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "structured"},
           Row{"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
               "(3,) of float32 takes 12 bytes, but there are 8"},
           Row{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "takes 4 bytes"},
           Row{"{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", "`,`"},
           Row{"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", "an extent from 0"},
           Row{"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
               "an extent from 0"},
           Row{"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
               "passes all sizes"},
           Row{"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,), }",
               "passes all sizes"},
           Row{"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", "`True` or `False`"},
           Row{"{'descr': '<f4', 'shape': (2,), }", "no key `fortran_order`"},
           Row{"{'descr': '<f4', 'descr': '<f4', 'shape': (2,), }", "`descr` twice"},
           Row{"{'descr': '<f4', 'order': 'C', 'shape': (2,), }", "unknown key `order`"},
           Row{"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } 1", "its end"},
           Row{"{'descr': '<f4", "string"},
           Row{"", "`{`"},
       }) {
    INFO(row.dictionary);
    checkError(parseNpy(npyFile(row.dictionary, data)), row.message);
  }
  std::string ranks = "1";
  for (size_t i = 0; i < largestRank; ++i)
    ranks += ",1";
  checkError(
      parseNpy(npyFile("{'descr':'<f8','fortran_order':False,'shape':(" + ranks + ")}", data)),
      "more than 64 dimensions");
  checkError(parseNpy(npyFile("{'descr':'|b1','fortran_order':False,'shape':(8,)}",
                              std::string("\1\0\1\0\2\0\0\0", 8))),
             "element 4");
  checkError(parseNpy(npyFile("{}", data, 4)), "version 4.0");
  checkError(parseNpy("not an array"), "not a .npy");
  checkError(parseNpy(std::string("\x93NUMPY\1\0\xff\xff{}", 12)),
             "takes 65535 bytes, but 2 follow");
  checkError(npyHeader(runtime::BFloat16, {2}), "bfloat16");
}

TEST_CASE("npz: what is written is read", "[formats]") {
  TensorMap tensors = oneOfEachInNumpy();
  tensors.emplace("out.1.0", Tensor(runtime::Float32, {300, 400}));
  tensors.emplace("empty", Tensor(runtime::Int8, {0}));
  tensors.emplace("\xc3\xa9t\xc3\xa9", Tensor(runtime::Int8, {3}));
  for (Compression compression : {Compression::Stored, Compression::Deflate}) {
    auto bytes = npzBytes(tensors, compression);
    requireValue(bytes);
    CHECK((bytes->size() < 480'000) == (compression == Compression::Deflate));
    CHECK(*npzBytes(tensors, compression) == *bytes);
    auto keys = parseNpzKeys(*bytes);
    requireValue(keys);
    CHECK(keys->size() == tensors.size());
    for (const auto& [name, tensor] : tensors) {
      INFO(name);
      auto read = parseNpz(*bytes, name);
      requireValue(read);
      CHECK(sameTensor(*read, tensor));
    }
  }
  auto none = npzBytes({}, Compression::Stored);
  requireValue(none);
  CHECK(parseNpzKeys(*none)->empty());
}

TEST_CASE("npz: refusals", "[formats]") {
  Tensor zeros(runtime::Float32, {1000});
  auto bytes = npzBytes({{"a", zeros}, {"b", zeros}}, Compression::Stored);
  requireValue(bytes);
  checkError(parseNpz(*bytes, "c"), "no key `c`; the file has `a`, `b`");
  checkError(parseNpz(bytes->substr(0, bytes->size() / 2), "a"), "zip");
  checkError(parseNpz("", "a"), "the file is empty");
  checkError(npzBytes({{std::string("a\0b", 3), zeros}}, Compression::Stored), "zero byte");
  checkError(npzBytes({{"h", Tensor(runtime::BFloat16, {1})}}, Compression::Stored), "bfloat16");

  std::string damaged = *bytes;
  damaged[2000] = 1;
  checkError(parseNpz(damaged, "a"), "CRC");

  std::string renamed = *bytes;
  for (size_t at = renamed.find("b.npy"); at != std::string::npos; at = renamed.find("b.npy"))
    renamed[at] = 'a';
  checkError(parseNpzKeys(renamed), "two members `a.npy`");

  auto deflated = npzBytes({{"a", zeros}}, Compression::Deflate);
  requireValue(deflated);
  for (uint32_t claimed : {0u, 4000u, 5000u, 0xFFFFFFF0u}) {
    std::string lying = *deflated;
    patch(lying, lying.find("PK\1\2") + 24, claimed);
    patch(lying, 22, claimed);
    checkError(parseNpz(lying, "a"), "key `a`: ");
  }
  std::string overlong = *bytes;
  patch(overlong, overlong.find("PK\1\2") + 20, 0x7FFFFFFF);
  patch(overlong, overlong.find("PK\1\2") + 24, 0x7FFFFFFF);
  CHECK_FALSE(bool(parseNpz(overlong, "a")));
}

TEST_CASE("safetensors: what is written is read", "[formats]") {
  TensorMap tensors = oneOfEach();
  tensors.emplace("scalar", Tensor(runtime::Float32, {}));
  tensors.emplace("empty", Tensor(runtime::Int8, {0, 4}));
  tensors.emplace("quote\"\n", Tensor(runtime::Int8, {3}));
  auto bytes = safetensorsBytes(tensors);
  requireValue(bytes);
  CHECK(parseSafetensorsKeys(*bytes)->size() == tensors.size());
  for (const auto& [name, tensor] : tensors) {
    INFO(name);
    auto read = parseSafetensors(*bytes, name);
    requireValue(read);
    CHECK(sameTensor(*read, tensor));
  }
  checkError(parseSafetensors(*bytes, "other"), "no key `other`; the file has `bfloat16`, `bool`");
  CHECK(*safetensorsBytes({}) == safetensorsFile("{}      ", ""));
  checkError(safetensorsBytes({{"\xff", Tensor()}}), "UTF-8");
  checkError(safetensorsBytes({{"__metadata__", Tensor()}}), "__metadata__");
}

TEST_CASE("safetensors: a file made by hand", "[formats]") {
  std::string data = rawBytes<uint16_t>({0x3F80, 0xC000, 0x3C00}) + rawBytes<int64_t>({-1}) + "\1x";
  std::string file = safetensorsFile(
      R"({"__metadata__":{"format":"pt"},
          "w":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]},
          "h":{"shape":[],"data_offsets":[4,6],"dtype":"F16"},
          "i":{"dtype":"I64","shape":[1],"data_offsets":[6,14]},
          "b":{"dtype":"BOOL","shape":[1],"data_offsets":[14,15]},
          "f":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[15,16]}}  )",
      data);
  CHECK(*parseSafetensorsKeys(file) == std::vector<std::string>{"b", "f", "h", "i", "w"});
  auto bfloats = parseSafetensors(file, "w");
  requireValue(bfloats);
  CHECK(bfloats->dtype() == runtime::BFloat16);
  CHECK(bfloats->shape() == Shape{2, 1});
  CHECK(float(bfloats->elements<runtime::BHalf>()[1]) == -2.0f);
  CHECK(float(parseSafetensors(file, "h")->elements<runtime::Half>()[0]) == 1.0f);
  CHECK(parseSafetensors(file, "i")->elements<int64_t>()[0] == -1);
  CHECK(parseSafetensors(file, "b")->dtype() == runtime::Bool);
  checkError(parseSafetensors(file, "f"), "`F8_E4M3` is not supported");
}

TEST_CASE("safetensors: refusals", "[formats]") {
  struct Row {
    std::string json, message;
  };
  std::string data(8, '\0');
  for (const Row& row : {
           Row{R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})",
               "(3,) of float32 takes 12 bytes, but there are 8"},
           Row{R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})", "which has 8"},
           Row{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "from byte 8 to 0"},
           Row{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "take 4 bytes"},
           Row{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "hole"},
           Row{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
                   "b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
               "inside the one before"},
           Row{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
                   "a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
               "`a` is there twice"},
           Row{R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})",
               "passes all sizes"},
           Row{R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", "the number -2"},
           Row{R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", "the number `2.0`"},
           Row{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,9]}})", "more than two"},
           Row{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", "instead of two"},
           Row{R"({"a":{"dtype":"F32","shape":[2]}})", "lacks"},
           Row{R"({"a":{"dtype":"F32","dtype":"F32","shape":[2]}})", "twice"},
           Row{R"({"a":{"dtype":["F32"],"shape":[2]}})", "an array in `dtype`"},
           Row{R"({"a":{"dtype":"F32","shape":[[2]]}})", "an array in `shape`"},
           Row{R"({"a":{"dtype":"F32","shape":"2"}})", "the string `2`"},
           Row{R"({"a":{"dtype":"F32","size":[2]}})", "`size` of tensor `a` is not known"},
           Row{R"({"a":[1]})", "an array in field `a`"},
           Row{R"({"__metadata__":{"a":{}}})", "an object in `__metadata__`"},
           Row{R"({"a":{"dtype":)", "not JSON"},
           Row{R"({} x)", "not JSON"},
           Row{R"([])", "does not begin with `{`"},
           Row{std::string(1'000'000, '['), "does not begin with `{`"},
           Row{"{\"a\":" + std::string(1'000'000, '['), "an array in field `a`"},
           Row{"", "does not begin with `{`"},
       }) {
    INFO(row.json.substr(0, 100));
    checkError(parseSafetensors(safetensorsFile(row.json, data), "a"), row.message);
  }
  checkError(parseSafetensors("1234567", "a"), "7 bytes, too few");
  checkError(parseSafetensors(std::string(7, '\xff') + "\x7f{}", "a"), "but 2 follow");
}

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

namespace {

constexpr uint64_t seed = 42;

/// Folds the 32-bit patterns of the elements in their order.
uint64_t checksum(const Tensor& tensor) {
  uint64_t sum = 0;
  for (uint32_t pattern : tensor.elements<uint32_t>())
    sum = sum * 1000003 + pattern;
  return sum;
}

uint32_t patternAt(const Shape& shape, uint64_t parameter, size_t index) {
  auto tensor = randomTensor(runtime::Float32, shape, seed, parameter);
  requireValue(tensor);
  return tensor->elements<uint32_t>()[index];
}

/// The data of the models with gain: sixteen consecutive elements share one number.
Tensor withGain(Shape shape, uint64_t parameter, double gain) {
  Tensor tensor(runtime::Float32, std::move(shape));
  uint64_t index = 0;
  for (float& element : tensor.elements<float>())
    element = float((2.0 * uniformAt(seed, parameter, index++ >> 4) - 1.0) * gain);
  return tensor;
}

} // namespace

TEST_CASE("random fill: worked examples", "[formats]") {
  CHECK(uniformAt(seed, 0, 0) == 0.65371572971343994);
  CHECK(uniformAt(seed, 3, 7) == 14058112 / 16777216.0);
  CHECK(uniformAt(seed, 1, 5) == 8106948 / 16777216.0);
  CHECK(uniformAt(seed, 4, 0) == 5774561 / 16777216.0);
  CHECK(uniformAt(seed, 2, 1000) == 6241921 / 16777216.0);
  CHECK(patternAt({1, 3, 224, 224}, 0, 0) == 0x3ab3e42e);
  CHECK(patternAt({64, 3, 7, 7}, 3, 7) == 0x3dc5bc92);
  CHECK(patternAt({64}, 1, 5) == 0x3f7bb3c4);
  CHECK(patternAt({}, 4, 0) == 0x3f581ce1);
  auto integers = randomTensor(runtime::Int32, {35, 100}, seed, 2);
  requireValue(integers);
  CHECK(integers->elements<int32_t>()[1000] == 3);
  CHECK(std::bit_cast<uint32_t>(withGain({1001}, 0, 4096).elements<float>()[1000]) == 0x4575b6f6);
}

TEST_CASE("random fill: checksums", "[formats]") {
  CHECK(checksum(*randomTensor(runtime::Float32, {1, 3, 224, 224}, seed, 0)) == 0x5bf18e769382310d);
  CHECK(checksum(*randomTensor(runtime::Float32, {64}, seed, 1)) == 0x53c6a0bd7d0e3fd3);
  CHECK(checksum(*randomTensor(runtime::Float32, {512, 512, 3, 3}, seed, 3)) == 0x125187f05d0aad5d);
  CHECK(checksum(*randomTensor(runtime::Float32, {33278, 128}, seed, 5)) == 0x909bb761daa469f7);
  CHECK(checksum(*randomTensor(runtime::Int32, {1000}, seed, 9)) == 0x1be146f53d1abadd);
  CHECK(checksum(withGain({50, 100}, 0, 64)) == 0xbcde10e757d22e00);
}

TEST_CASE("random fill: every element type, by the rule", "[formats]") {
  for (const auto& [name, tensor] : oneOfEach()) {
    INFO(name);
    std::string bytes(bytesOf(*randomTensor(tensor.dtype(), {100}, seed, 6)));
    size_t width = tensor.dtype().bytes();
    for (size_t i = 0; i < 100; ++i) {
      double u = uniformAt(seed, 6, i);
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i * width, width);
      if (tensor.dtype().isBool())
        CHECK(word == uint64_t(u >= 0.5));
      else if (!tensor.dtype().isFloat())
        CHECK(word == uint64_t(u * 10.0));
      else if (width == 8)
        CHECK(std::bit_cast<double>(word) == 0.5 + u);
      else if (width == 4)
        CHECK(std::bit_cast<float>(uint32_t(word)) == float(0.5 + u));
      // 0.5 + u is a multiple of 2^-24 below 1.5, so it is within half a step of the last bit.
      else if (name == "float16")
        CHECK(std::fabs(float(std::bit_cast<runtime::Half>(uint16_t(word))) - 0.5 - u) <=
              std::ldexp(u < 0.5 ? 1 : 2, -12));
      else
        CHECK(std::fabs(float(std::bit_cast<runtime::BHalf>(uint16_t(word))) - 0.5 - u) <=
              std::ldexp(u < 0.5 ? 1 : 2, -9));
    }
  }
  CHECK(randomTensor(runtime::Float32, {0, 3}, seed, 0)->size() == 0);
  CHECK(randomTensor(runtime::Float32, {3, 0}, seed, 0)->size() == 0);
  checkError(randomTensor(runtime::Float32, {1 << 30, 1 << 30}, seed, 0), "memory");
  checkError(randomTensor(runtime::Float32, {-1, 2}, seed, 0), "memory");
  checkError(randomTensor(DType{runtime::DTypeCode::Int, 4}, {2}, seed, 0), "`int4`");
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
  Tensor floats = *randomTensor(runtime::Float32, {3, 4}, seed, 0);
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
