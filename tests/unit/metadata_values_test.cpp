// What programs take from a metadata section: attributes and dimensions.
#include "tests/unit/checked_program.h"

using tests::CheckedProgram;

namespace {

std::string typeOfMain(const std::string& text) {
  CheckedProgram program(text);
  return program.isGood() ? program.typeOfMain() : program.errors()[0];
}

} // namespace

TEST_CASE("texts in attribute objects", "[metadata]") {
  // The field as the number of a text object, as TVM writes a `String`, and as the text itself.
  for (std::string field : {"4", "add"}) {
    INFO(field);
    CHECK(typeOfMain("def @main() { scatter_elements([1, 2], [0], [5], "
                     "meta[relay.attrs.ScatterElementsAttrs][0]) }\n"
                     "#[metadata]\n"
                     R"({"root": 1, "nodes": [{"type_key": ""},
 {"type_key": "Map", "keys": ["relay.attrs.ScatterElementsAttrs"], "data": [2]},
 {"type_key": "Array", "data": [3]},
 {"type_key": "relay.attrs.ScatterElementsAttrs", "attrs": {"axis": "5", "reduction": ")" +
                     field + R"("}},
 {"type_key": "runtime.String", "repr_str": "add"},
 {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "0", "span": "0"}}],
 "b64ndarrays": []})") == "fn () -> Tensor[(2), int32]");
  }
}

namespace {

/// A type with one dimension, `meta[KEY][0]`, whose object is node 4 of a section: node 3 is a
/// variable `n`, nodes 5 to 7 are 6, 4 and a `?`.
std::string withDimension(const std::string& key, const std::string& attributes) {
  return "def @main(%x: Tensor[(meta[" + key + "][0]), float32]) { %x }\n#[metadata]\n" +
         R"({"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": [")" + key +
         R"("], "data": [2]}, {"type_key": "Array", "data": [4]},
 {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "n", "type_annotation": "0",
  "span": "0"}}, {"type_key": ")" +
         key + R"(", "attrs": {)" + attributes + R"("span": "0"}},
 {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "6", "span": "0"}},
 {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "4", "span": "0"}},
 {"type_key": "tir.Any", "attrs": {"dtype": "int32", "span": "0"}}], "b64ndarrays": []})";
}

/// The dimension of `key` with parts `a` and `b`, by number.
std::string dimension(const std::string& key, int a, int b) {
  std::string type = typeOfMain(withDimension(
      key, "\"a\": \"" + std::to_string(a) + "\", \"b\": \"" + std::to_string(b) + "\", "));
  size_t begin = type.find("[(") + 2;
  return type.substr(begin, type.find("),") - begin);
}

} // namespace

TEST_CASE("dimensions that metadata holds as expressions", "[metadata]") {
  CHECK(dimension("tir.Mul", 3, 6) == "4 * n");
  CHECK(dimension("tir.Add", 3, 5) == "n + 6");
  CHECK(dimension("tir.Sub", 3, 6) == "n - 4");
  CHECK(dimension("tir.FloorDiv", 3, 6) == "n / 4");
  CHECK(dimension("tir.Div", 5, 6) == "1");
  CHECK(dimension("tir.FloorMod", 5, 6) == "2");
  CHECK(dimension("tir.Mod", 3, 6) == "n - 4 * (n / 4)");
  CHECK(dimension("tir.Min", 5, 6) == "4");
  CHECK(dimension("tir.Max", 5, 6) == "6");
  CHECK(dimension("tir.Max", 3, 6) == "?");
  CHECK(dimension("tir.Mul", 7, 6) == "?");
  CHECK(dimension("tir.FloorDiv", 7, 6) == "?");
  CHECK(dimension("tir.FloorDiv", 3, 3) == "?");
  CHECK(dimension("tir.Select", 3, 3) == "?");
  CHECK(typeOfMain(withDimension("tir.Sub", R"("a": "6", "b": "5", )")) ==
        "negative-dimension at meta[tir.Sub][0]");
  // A part that is missing, that does not exist, that is no dimension, or that is the whole.
  for (std::string attributes : {R"("a": "3", )", R"("a": "3", "b": "99", )",
                                 R"("a": "3", "b": "1", )", R"("a": "3", "b": "4", )"}) {
    INFO(attributes);
    CHECK(typeOfMain(withDimension("tir.Mul", attributes)) ==
          "unusable-metadata at meta[tir.Mul][0]");
  }
}
