// Index maps: each against the same function in C++, and what is no rearrangement.
#include "stdlib/ops/shapes/index_map.h"

#include "lower/tensor/fold.h"
#include "tests/unit/checked_program.h"

#include <set>

using stdlib::readIndexMap;
using Indices = std::vector<int64_t>;

namespace {

struct MapCase {
  std::string_view text;
  Indices shape;
  Indices (*map)(const Indices& at);
};

const MapCase mapCases[] = {
    {"i, j -> j, i",
     {2, 3},
     [](const Indices& x) {
       return Indices{x[1], x[0]};
     }},
    {"i -> i // 4, i % 4",
     {12},
     [](const Indices& x) {
       return Indices{x[0] / 4, x[0] % 4};
     }},
    {"a, b, c -> b * 6 + c * 2 + a",
     {2, 2, 3},
     [](const Indices& x) { return Indices{x[1] * 6 + x[2] * 2 + x[0]}; }},
    {"n, c, h -> n, c // 2, h, c % 2",
     {1, 4, 3},
     [](const Indices& x) {
       return Indices{x[0], x[1] / 2, x[2], x[1] % 2};
     }},
    {"i, j -> (i * 4 + j) // 6, (i * 4 + j) % 6",
     {3, 4},
     [](const Indices& x) {
       return Indices{(x[0] * 4 + x[1]) / 6, (x[0] * 4 + x[1]) % 6};
     }},
    {"i, j -> (i*6 + j) // 8 * 2 + (i*6 + j) % 2, (i*6 + j) % 8 // 2",
     {4, 6},
     [](const Indices& x) {
       int64_t k = x[0] * 6 + x[1];
       return Indices{k / 8 * 2 + k % 2, k % 8 / 2};
     }},
    {"i, j -> i // 2 + 0 * j, (j + 5 * (i % 2)) , (7 - 6) * 0",
     {4, 5},
     [](const Indices& x) {
       return Indices{x[0] / 2, x[1] + 5 * (x[0] % 2), 0};
     }},
    {"i -> ((i // 2) // 3), (i // 2) % 3, i % 2",
     {18},
     [](const Indices& x) {
       return Indices{x[0] / 6, x[0] / 2 % 3, x[0] % 2};
     }},
    {" -> ", {}, [](const Indices&) { return Indices{}; }},
};

/// All positions below a shape.
std::vector<Indices> positions(const Indices& shape) {
  std::vector<Indices> result{{}};
  for (int64_t extent : shape) {
    std::vector<Indices> longer;
    for (const Indices& start : result)
      for (int64_t i = 0; i < extent; ++i) {
        longer.push_back(start);
        longer.back().push_back(i);
      }
    result = std::move(longer);
  }
  return result;
}

} // namespace

TEST_CASE("index maps have inverses", "[index_map]") {
  lang::Arena arena;
  auto number = [&](int64_t value) {
    return lang::Scalar(&arena, tensor::makeInteger(arena, value));
  };
  for (const MapCase& each : mapCases)
    for (bool knowsFirst : {true, false}) {
      INFO(each.text << (knowsFirst ? "" : ", with the first extent open"));
      std::vector<std::optional<int64_t>> extents(each.shape.begin(), each.shape.end());
      if (!knowsFirst && !extents.empty())
        extents[0] = std::nullopt;
      auto map = readIndexMap(each.text, extents);
      // Where the first index is inside of another one, its extent must be known.
      if (!map && !knowsFirst && each.shape[0] <= 2)
        continue;
      REQUIRE(map);
      std::set<Indices> met;
      for (const Indices& source : positions(each.shape)) {
        lang::Position at;
        Indices target = each.map(source);
        CHECK(met.insert(target).second);
        for (int64_t index : target)
          at.push_back(number(index));
        lang::Position found = stdlib::sourcePosition(*map, at, number(0));
        REQUIRE(found.size() == source.size());
        for (size_t i = 0; i < source.size(); ++i) {
          const auto* folded = found[i].node()->as<tensor::ScalarNumber>();
          REQUIRE(folded);
          CHECK(folded->integer == source[i]);
        }
      }
    }
}

TEST_CASE("index maps of empty tensors", "[index_map]") {
  std::optional<int64_t> extents[] = {0, 4};
  auto map = readIndexMap("i, j -> i // 2, j, i % 2", extents);
  REQUIRE(map);
  CHECK(map->outputs[0][0].digit == stdlib::IndexDigit{0, 2, 0});
  CHECK(map->outputs[2][0].digit == stdlib::IndexDigit{0, 1, 2});
}

TEST_CASE("what is no rearrangement is refused", "[index_map]") {
  struct Case {
    std::string_view text;
    Indices shape;
    std::string_view problem;
  };
  const Case cases[] = {
      {"i // 4", {8}, "must be a `tir.IndexMap`"},
      {"i, i -> i", {8, 8}, "no name for an index"},
      {"i -> i // 4", {8}, "does not make it up"},
      {"i -> i, i", {8}, "does not make it up"},
      {"i -> i // 3, i % 3", {8}, "do not come out even"},
      {"i -> i + 1", {8}, "leaves out"},
      {"i -> 7 - i", {8}, "leaves out"},
      {"i -> 2 * i", {8}, "leaves out"},
      {"i, j -> i * 3 + j", {4, 4}, "leaves out"},
      {"i, j -> i * j", {4, 4}, "multiplies indices"},
      {"i, j -> i // j, j", {4, 4}, "divides by one"},
      {"i -> i // 0", {4}, "no positive number"},
      {"i -> (i", {4}, "is no index of"},
      {"i -> i)", {4}, "is no index of"},
      {"i -> i +", {4}, "is no index of"},
      {"i -> k", {4}, "is no index of"},
      {"i -> i i", {4}, "is no index of"},
      {"i -> i, ", {4}, "is no index of"},
      {"i -> i * 9223372036854775807 * 2", {4}, "too large"},
      {"i -> i * 99999999999999999999", {4}, "is no index of"},
      {"i -> -9223372036854775807 // 9223372036854775807 + i", {4}, "leaves out"},
  };
  for (const Case& each : cases) {
    INFO(each.text);
    std::vector<std::optional<int64_t>> extents(each.shape.begin(), each.shape.end());
    auto map = readIndexMap(each.text, extents);
    REQUIRE(!map);
    CHECK(map.failure().text.find(each.problem) != std::string::npos);
  }
}

namespace {

/// The type of a transform by the index map that is node 3 of a section, from a variable, node 6,
/// to node 7, which is a `key` with these fields; node 8 is the number 4.
std::string transformed(const std::string& key, const std::string& fields) {
  tests::CheckedProgram program(
      "def @main(%x: Tensor[(8), float32]) {\n"
      "  meta_schedule_layout_transform(%x, index_map=meta[tir.IndexMap][0]) }\n#[metadata]\n"
      R"({"root": 1, "nodes": [{"type_key": ""},
 {"type_key": "Map", "keys": ["tir.IndexMap"], "data": [2]}, {"type_key": "Array", "data": [3]},
 {"type_key": "tir.IndexMap", "attrs": {"initial_indices": "4", "final_indices": "5",
  "inverse_index_map": "0"}},
 {"type_key": "Array", "data": [6]}, {"type_key": "Array", "data": [7, 9]},
 {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "i", "type_annotation": "0",
  "span": "0"}}, {"type_key": ")" +
      key + R"(", "attrs": {)" + fields + R"("span": "0"}},
 {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "4", "span": "0"}},
 {"type_key": "tir.FloorMod", "attrs": {"a": "6", "b": "8", "span": "0"}}],
 "b64ndarrays": []})");
  return program.isGood() ? program.typeOfMain() : program.errors()[0];
}

} // namespace

TEST_CASE("index maps of a metadata section", "[index_map]") {
  CHECK(transformed("tir.FloorDiv", R"("a": "6", "b": "8", )") ==
        "fn (Tensor[(8), float32]) -> Tensor[(2, 4), float32]");
  std::string refused = "operator-mismatch at meta_schedule_layout_transform(%x, "
                        "index_map=meta[tir.IndexMap][0])";
  // Objects that are no index, contain themselves, stand for a text without end, or do not exist.
  CHECK(transformed("tir.Select", R"("a": "6", "b": "8", )") == refused);
  CHECK(transformed("tir.Add", R"("a": "7", "b": "8", )") == refused);
  CHECK(transformed("tir.Add", R"("a": "7", "b": "7", )") == refused);
  CHECK(transformed("tir.Cast", R"("value": "7", )") == refused);
  CHECK(transformed("tir.Add", R"("a": "6", "b": "99", )") == refused);
  CHECK(transformed("tir.Add", R"("a": "6", )") == refused);
  CHECK(transformed("IntImm", R"("value": "x", )") == refused);
}
