// .npy and .npz: round trips, files built by hand byte by byte, refusals.
#include "runtime/formats/npy.h"
#include "runtime/formats/npz.h"
#include "runtime/half.h"
#include "tests/unit/tensor_file_cases.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace tests;

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
