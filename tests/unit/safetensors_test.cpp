// .safetensors: round trips, a file built by hand byte by byte, refusals.
#include "runtime/formats/safetensors.h"
#include "runtime/half.h"
#include "tests/unit/tensor_file_cases.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace tests;

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
