// The metadata section: read, written, and every kind of lie in it refused.
#include "parser/metadata/base64.h"
#include "parser/metadata/metadata.h"
#include "parser/metadata/tensor_blob.h"
#include "parser/relay/parse.h"
#include "tests/unit/places.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace {

using lang::MetadataTable;
using runtime::Tensor;

/// A section, read as what follows `#[metadata]` in a text.
struct Reading {
  lang::SourceMap sources;
  lang::Diagnostics diagnostics;
  std::optional<MetadataTable> table;

  explicit Reading(const std::string& section) {
    runtime::Arena arena;
    const lang::SourceFile* source = sources.add("test", "#[metadata]\n" + section);
    const auto* file = parser::parseText(arena, *source, diagnostics);
    table = parser::readMetadata(*source, file->metadata, diagnostics);
  }
  std::string message() const {
    return diagnostics.all().empty() ? "" : diagnostics.all()[0].text.plain();
  }
};

/// What a section is refused for, behind the words that every refusal starts with.
std::string refusal(const std::string& section) {
  Reading reading(section);
  std::string prefix = "malformed metadata section: ";
  std::string message = reading.message();
  return message.starts_with(prefix) ? message.substr(prefix.size()) : "accepted";
}

/// A section with a map of one array whose only element is node 3, given as text.
std::string withNode(const std::string& node, const std::string& blobs = "") {
  return R"({"root": 1, "nodes": [{"type_key": ""},
    {"type_key": "Map", "keys": ["K"], "data": [2]}, {"type_key": "Array", "data": [3]}, )" +
         node + "], \"b64ndarrays\": [" + blobs + "]}";
}

Tensor sample() {
  Tensor tensor(runtime::Float32, {2, 3});
  for (size_t i = 0; i < 6; ++i)
    tensor.elements<float>()[i] = float(i) - 2.5f;
  return tensor;
}

std::vector<std::byte> sampleRecord() {
  return *parser::decodeBase64(parser::encodeTensor(sample()));
}

/// What a record with one byte changed is refused for.
std::string blobRefusal(size_t place, int value) {
  auto bytes = sampleRecord();
  bytes[place] = std::byte(value);
  auto result = parser::decodeTensor(parser::encodeBase64(bytes));
  return std::holds_alternative<std::string>(result) ? std::get<std::string>(result) : "accepted";
}

bool isSame(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.bytes(), b.bytes(), a.byteSize()) == 0;
}

} // namespace

TEST_CASE("base64", "[metadata]") {
  auto encode = [](std::string_view text) {
    return parser::encodeBase64(std::as_bytes(std::span(text)));
  };
  CHECK(encode("") == "");
  CHECK(encode("f") == "Zg==");
  CHECK(encode("fo") == "Zm8=");
  CHECK(encode("foo") == "Zm9v");
  CHECK(encode("foobar") == "Zm9vYmFy");
  CHECK(encode("\xfb\xff") == "+/8=");
  CHECK(parser::decodeBase64("Zm9vYg==")->size() == 4);
  for (const char* text : {"Z", "Zg=", "Zg", "Zh==", "Zm9=", "Zg==Zg==", "Z g=", "Zm-_", "===="})
    CHECK_FALSE(parser::decodeBase64(text));
}

TEST_CASE("tensor records", "[metadata]") {
  auto record = sampleRecord();
  CHECK(record.size() == 40 + 2 * 8 + 24);
  CHECK(record[0] == std::byte(0x3F));
  CHECK(record[7] == std::byte(0xDD));
  auto decoded = parser::decodeTensor(parser::encodeTensor(sample()));
  REQUIRE(std::holds_alternative<Tensor>(decoded));
  CHECK(isSame(std::get<Tensor>(decoded), sample()));
  for (runtime::DType dtype : {runtime::Bool, runtime::Int8, runtime::UInt16, runtime::BFloat16})
    for (const runtime::Shape& shape : {runtime::Shape{}, runtime::Shape{0, 1000}}) {
      auto again = parser::decodeTensor(parser::encodeTensor(Tensor(dtype, shape)));
      REQUIRE(std::holds_alternative<Tensor>(again));
      CHECK(isSame(std::get<Tensor>(again), Tensor(dtype, shape)));
    }
  CHECK(blobRefusal(0, 0) == "record without the mark of a tensor");
  CHECK(blobRefusal(8, 1) == "record with a reserved field in use");
  CHECK(blobRefusal(24, 200) == "record that ends early");
  CHECK(blobRefusal(28, 3) == "element type with code 3, 32 bits and 1 lanes");
  CHECK(blobRefusal(29, 64) == "6 elements of float64 in 24 bytes of data, said to be 24");
  CHECK(blobRefusal(30, 2) == "element type with code 2, 32 bits and 2 lanes");
  CHECK(blobRefusal(32, 3) == "9 elements of float32 in 24 bytes of data, said to be 24");
  CHECK(blobRefusal(39, 255) == "shape with a negative extent or too many elements");
  CHECK(blobRefusal(48, 20) == "6 elements of float32 in 24 bytes of data, said to be 20");
  for (size_t length = 0; length < record.size(); ++length) {
    auto cut = parser::decodeTensor(parser::encodeBase64(std::span(record).first(length)));
    CHECK(std::holds_alternative<std::string>(cut));
  }
  Tensor flag(runtime::Bool, {1});
  flag.bytes()[0] = std::byte(2);
  auto decodedFlag = parser::decodeTensor(parser::encodeTensor(flag));
  CHECK(std::get<std::string>(decodedFlag) == "bool tensor with bytes other than 0 and 1");
}

TEST_CASE("a section with a constant", "[metadata]") {
  Reading reading(withNode(R"({"type_key": "relay.Constant", "attrs": {"data": "0", "span": "0",
    "virtual_device_": "0", "_checked_type_": "0"}})",
                           "\"" + parser::encodeTensor(sample()) + "\""));
  INFO(reading.message());
  REQUIRE(reading.table);
  CHECK(reading.table->roots.at("K") == std::vector<size_t>{3});
  CHECK(reading.table->nodes[3].typeKey == "relay.Constant");
  REQUIRE(reading.table->tensors.size() == 1);
  CHECK(isSame(reading.table->tensors[0], sample()));
}

TEST_CASE("what is written reads back", "[metadata]") {
  MetadataTable table;
  table.nodes.push_back({});
  table.nodes.push_back({"relay.Constant", {{"data", "0"}}, {}, {}, {}});
  table.nodes.push_back({"runtime.String", {}, {}, {}, "a\"b\\c"});
  table.nodes.push_back({"runtime.String", {}, {}, {}, "\xff\n"});
  table.nodes.push_back({"Array", {}, {}, {2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2}, {}});
  table.roots["relay.Constant"] = {1};
  table.roots["Array"] = {4};
  table.tensors.push_back(sample());
  std::string text = parser::writeMetadata(table);
  Reading reading(text);
  INFO(text << reading.message());
  REQUIRE(reading.table);
  CHECK(reading.table->roots == table.roots);
  CHECK(reading.table->nodes[1].fields.size() == 4);
  CHECK(reading.table->nodes[2].repr == table.nodes[2].repr);
  CHECK(reading.table->nodes[3].repr == table.nodes[3].repr);
  CHECK(reading.table->nodes[4].data == table.nodes[4].data);
  CHECK(isSame(reading.table->tensors[0], sample()));
  std::string again = parser::writeMetadata(*reading.table);
  CHECK(parser::writeMetadata(*Reading(again).table) == again);
  CHECK(Reading(parser::writeMetadata({})).table);
}

TEST_CASE("lies in a section", "[metadata]") {
  CHECK(refusal("") == "text that is no JSON");
  CHECK(refusal("{\"root\": }") == "text that is no JSON");
  CHECK(refusal("[]") == "no object with `root` and `nodes`");
  CHECK(refusal("{\"root\": 0, \"nodes\": 3}") == "`nodes` is no array");
  CHECK(refusal("{\"root\": 1, \"nodes\": [{}]}") == "`root` is 1, of 1 nodes");
  CHECK(refusal("{\"root\": 0, \"nodes\": [{}]}") == "the root is no map from names to arrays");
  CHECK(refusal("{\"root\": 0, \"nodes\": [{}], \"x\": 1}") == "unknown member `x`");
  CHECK(refusal(withNode("4")) == "node 3 is no object");
  CHECK(refusal(withNode("{\"type\": 1}")) == "unknown member `type` of node 3");
  CHECK(refusal(withNode("{\"type_key\": 1}")) == "`type_key` of node 3 is no string");
  CHECK(refusal(withNode("{\"attrs\": {\"a\": 1}}")) == "field `a` of node 3 is no string");
  CHECK(refusal(withNode("{\"data\": [-1]}")) == "node 3 refers to node -1, of 4 nodes");
  CHECK(refusal(withNode("{\"data\": [4]}")) == "node 3 refers to node 4, of 4 nodes");
  CHECK(refusal(withNode("{\"data\": [1]}")) == "node 1 contains itself");
  CHECK(refusal(withNode("{\"data\": [3]}")) == "node 3 contains itself");
  CHECK(refusal(withNode("{\"repr_b64\": \"?\"}")) == "`repr_b64` of node 3 is not base64");
  CHECK(refusal(withNode("{\"type_key\": \"Map\", \"keys\": [\"a\"]}")) ==
        "map 3 has 1 keys and 0 values");
  CHECK(refusal(withNode(R"({"type_key": "relay.Constant", "attrs": {"data": "0"}})")) ==
        "node 3 refers to tensor 0, of 0 tensors");
  CHECK(refusal(withNode(R"({"type_key": "IntImm", "attrs": {"span": "9"}})")) ==
        "field `span` of node 3 refers to node 9, of 4 nodes");
  CHECK(refusal(withNode("{}", "\"AAAA\"")) == "tensor 0 is a record without the mark of a tensor");
  CHECK(refusal(withNode("{}", "7")) == "tensor 0 is no string");
  CHECK(refusal(std::string(1000000, '[')) == "deeply nested JSON");
}

TEST_CASE("lists that double at every level are refused", "[metadata]") {
  std::string nodes = "{}";
  for (int level = 4; level < 64; ++level)
    nodes += fmt::format(", {{\"type_key\": \"Array\", \"data\": [{0}, {0}]}}", level - 1);
  CHECK(refusal(withNode(nodes)).ends_with("stands for a list of lists that is too large"));
}

TEST_CASE("mutations of a section are survived", "[metadata][corpus]") {
  auto path = tests::corpusFolder() / "relay-text/model_lstm-for-pldi.typed.rly";
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::string section = text.substr(text.find("#[metadata]") + 11);
  Reading reading(section);
  REQUIRE(reading.table);
  const auto& boxes = reading.table->roots.at("runtime.BoxInt");
  REQUIRE(!boxes.empty());
  CHECK(reading.table->nodes[boxes[0]].repr == "35");
  bool isIdentical =
      section.find(parser::writeMetadata(*reading.table)) == section.find_first_of('{');
  CHECK(isIdentical);
  std::mt19937 random(1);
  std::string bytes = "[]{},:\"0159-a\\ \xff";
  for (int round = 0; round < 2000; ++round) {
    std::string mutated = section;
    mutated[random() % mutated.size()] = bytes[random() % bytes.size()];
    if (round % 2 == 0)
      mutated[random() % mutated.size()] = bytes[random() % bytes.size()];
    Reading result(mutated);
    CHECK((result.table || result.diagnostics.hasErrors()));
  }
}
