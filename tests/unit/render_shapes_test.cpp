// Tables of shapes below a message: columns, marks, what is left out, and the same as JSON.
#include "lang/source/render_shapes.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace {

using lang::ShapeRow;
using lang::ShapeTable;

ShapeRow row(std::string name, std::vector<std::string> dims, std::vector<size_t> marks = {},
             std::string origin = {}, lang::SourceRange range = {}) {
  return {std::move(name), std::move(dims), "float32", std::move(marks), std::move(origin), range};
}

/// The table as shown in a gutter of one column.
std::string shown(ShapeTable table, const lang::SourceMap& sources = {}) {
  return lang::renderShapes({.shapes = std::move(table)}, sources, 1);
}

TEST_CASE("dimensions stand in columns from the front") {
  CHECK(shown({{row("data", {"32", "100"}, {1}), row("weight", {"8", "12800", "3"}, {0})}}) ==
        R"(   |
   = data:   (32,   100)    float32
                    ^^^
     weight:  (8, 12800, 3) float32
               ^
)");
}

TEST_CASE("or from the back, as broadcasting aligns them") {
  CHECK(shown({{row("lhs", {"2", "16", "3"}, {1}), row("rhs", {"5", "3"}, {0}), row("x", {})},
               true}) ==
        R"(   |
   = lhs: (2, 16, 3) float32
     rhs:     (5, 3) float32
              ^^
     x:           () float32
)");
}

TEST_CASE("rows that follow each other and mark the same columns share one line of carets") {
  CHECK(shown({{row("a", {"2", "3"}, {0}), row("b", {"44", "3"}, {0}), row("c", {"5", "3"})}}) ==
        R"(   |
   = a:  (2, 3) float32
     b: (44, 3) float32
         ^^
     c:  (5, 3) float32
)");
  CHECK(shown({{row("a", {"2", "3"}, {0}), row("b", {"2", "3"}), row("c", {"5", "3"}, {0})}}) ==
        R"(   |
   = a: (2, 3) float32
         ^
     b: (2, 3) float32
     c: (5, 3) float32
         ^
)");
}

TEST_CASE("origins stand behind the shapes, with their lines") {
  lang::SourceMap sources;
  uint32_t base = sources.add("f.rly", "one\ntwo\nthree\n")->base();
  ShapeTable table{{row("data", {"n"}, {0}, "from `nn.relu`", {base + 4, base + 7}),
                    row("w", {"2 * n"}, {0}, "parameter `%w`", {base, base + 3}),
                    row("bias", {"1"}, {}, "a constant")}};
  CHECK(shown(table, sources) == R"(   |
   = data:     (n) float32   from `nn.relu`, line 2
     w:    (2 * n) float32   parameter `%w`, line 1
            ^^^^^
     bias:     (1) float32   a constant
)");
  uint32_t other = sources.add("g.rly", "x")->base();
  lang::Finding finding{.range = {other, other + 1}, .shapes = table};
  CHECK(lang::renderShapes(finding, sources, 1).find("`nn.relu`, line 2 of f.rly\n") !=
        std::string::npos);
}

TEST_CASE("of long shapes only both ends and what is marked are shown") {
  std::vector<std::string> dims;
  for (size_t i = 0; i < 40; ++i)
    dims.push_back(std::to_string(i));
  CHECK(shown({{row("a", dims, {20, 22}), row("b", {"7"})}, true}) == R"(   |
   = a: (0, 1, 2, 3, ..., 20, ..., 22, ..., 36, 37, 38, 39) float32
                          ^^       ^^
     b:                                                 (7) float32
)");
  CHECK(shown({{row("a", dims), row("b", {"7"})}, false}) == R"(   |
   = a: (0, 1, 2, 3, ..., 36, 37, 38, 39) float32
     b: (7)                               float32
)");
}

TEST_CASE("of long tables only both ends and what is marked are shown") {
  ShapeTable table;
  for (size_t i = 0; i < 1000; ++i)
    table.rows.push_back(row(fmt::format("data.{}", i), {"4", "8"}));
  table.rows[500] = row("data.500", {"4", "9"}, {1});
  CHECK(shown(table) == R"(   |
   = data.0:   (4, 8) float32
     data.1:   (4, 8) float32
     data.2:   (4, 8) float32
     ... 497 more
     data.500: (4, 9) float32
                   ^
     ... 496 more
     data.997: (4, 8) float32
     data.998: (4, 8) float32
     data.999: (4, 8) float32
)");
}

TEST_CASE("texts that are too wide are cut, and nothing moves the cursor") {
  std::string text =
      shown({{row(std::string(500, 'n') + "\n", {std::string(500, '9'), "\x1b[2J"}, {0, 1, 7})}});
  CHECK(std::ranges::all_of(text, [](char letter) { return letter == '\n' || letter >= ' '; }));
  CHECK(text.size() < 400);
  CHECK(text.find(std::string(40, 'n') + "...:") != std::string::npos);
}

TEST_CASE("a table without rows is nothing, and colour changes nothing but colour") {
  CHECK(shown({}).empty());
  lang::Finding finding{.severity = lang::Severity::Warning,
                        .shapes = {{row("a", {"2"}, {0}, "here"), row("b", {"3"}, {0})}}};
  std::string coloured = lang::renderShapes(finding, {}, 1, {.colour = true});
  CHECK(coloured.find("\x1b[1;33m^\x1b[0m") != std::string::npos);
  std::string plain;
  for (size_t i = 0; i < coloured.size(); ++i)
    if (coloured[i] == '\x1b')
      i = coloured.find('m', i);
    else
      plain += coloured[i];
  CHECK(plain == lang::renderShapes(finding, {}, 1));
}

TEST_CASE("shapes as JSON keep every row and dimension") {
  lang::SourceMap sources;
  uint32_t base = sources.add("f.rly", "one\ntwo\n")->base();
  ShapeTable table{
      {row("a", {"2", "n + 1"}, {1}, "from `add`", {base + 5, base + 7}), row("b\"", {}, {}, "")}};
  auto json = nlohmann::json::parse(lang::shapesJson(table, sources, lang::Notation::Relay));
  CHECK(json[0] == nlohmann::json::parse(
                       R"({"name":"a","shape":["2","n + 1"],"dtype":"float32","marks":[1],
                           "origin":"from `add`","line":2,"column":2})"));
  CHECK(json[1] == nlohmann::json::parse(
                       R"({"name":"b\"","shape":[],"dtype":"float32","marks":[],"origin":""})"));
}

} // namespace
