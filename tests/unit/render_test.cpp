// Diagnostics as people see them: programs with mistakes, and the whole text that is shown.
#include "driver/session/session.h"
#include "lang/source/render.h"
#include "stdlib/ops.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace {

/// What `baton check` says about a program named `f.rly`.
std::string shown(std::string program, const lang::RenderOptions& options = {}) {
  driver::Session session(stdlib::operatorTable());
  auto loaded = session.loadText("f.rly", std::move(program));
  REQUIRE(loaded);
  return lang::renderDiagnostics(loaded->diagnostics, session.sources(), "f.rly", options);
}

/// The finding at `[begin, end)` of `text`, with a label.
std::string shownAt(const std::string& text, uint32_t begin, uint32_t end,
                    std::vector<std::pair<lang::SourceRange, std::string>> labels = {},
                    const lang::RenderOptions& options = {}) {
  lang::SourceMap sources;
  uint32_t base = sources.add("f.rly", text)->base();
  lang::Finding finding{.text = "here", .range = {base + begin, base + end}};
  for (const auto& [range, what] : labels)
    finding.labels.push_back({{base + range.begin, base + range.end}, what});
  return lang::renderFinding(finding, sources, options);
}

TEST_CASE("diagnostics show an unknown local, and the near one") {
  CHECK(shown(R"(def @main(%data: float32) {
  add(%data, %dat)
}
)") == R"(error[unknown-local]: no local `%dat` is in scope here
  --> f.rly:2:14
   |
 2 |   add(%data, %dat)
   |              ^^^^
   = help: did you mean `%data`?

1 error in f.rly
)");
}

TEST_CASE("diagnostics show an unknown operator, and the near one") {
  CHECK(shown(R"(def @main(%x: float32) {
  nn.rleu(%x)
}
)") == R"(error[unknown-name]: `nn.rleu` is neither an operator nor a constructor
  --> f.rly:2:3
   |
 2 |   nn.rleu(%x)
   |   ^^^^^^^
   = help: did you mean `nn.relu`?

1 error in f.rly
)");
}

TEST_CASE("diagnostics show two mistakes in one expression, each with its own excerpt") {
  CHECK(
      shown(R"(def @main(%x: float32) -> int32 {
  if (%x) { 1 } else { 2f }
}
)") ==
      R"(error[condition-not-bool]: the condition of an `if` must be a scalar `bool`, but it is `float32`
  --> f.rly:2:7
   |
 2 |   if (%x) { 1 } else { 2f }
   |       ^^

error[branch-mismatch]: the branches have different types: `int32` and `float32`
  --> f.rly:2:24
   |
 2 |   if (%x) { 1 } else { 2f }
   |             -          ^^
   |             int32
   = help: write `2`

2 errors in f.rly
)");
}

TEST_CASE("diagnostics show an unknown operator and a missing attribute on one line") {
  CHECK(shown(R"(def @main(%x: Tensor[(2, 3), float32]) {
  transpose_axes(%x); cast(%x)
}
)") == R"(error[unknown-name]: `transpose_axes` is neither an operator nor a constructor
  --> f.rly:2:3
   |
 2 |   transpose_axes(%x); cast(%x)
   |   ^^^^^^^^^^^^^^
   = help: did you mean `transpose(%x, axes=None)`?

error[missing-attribute]: this call of `cast` does not give `dtype`, which has no default
  --> f.rly:2:23
   |
 2 |   transpose_axes(%x); cast(%x)
   |                       ^^^^^^^^

2 errors in f.rly
)");
}

TEST_CASE("diagnostics show shapes that do not broadcast, with both operands") {
  CHECK(
      shown(R"(def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(4, 3), float32]) {
  add(%x, %y)
}
)") ==
      R"(error[operator-mismatch]: in `add`, the shapes do not broadcast: 2 of `lhs` meets 4 of `rhs` in the second to last dimension
  --> f.rly:2:3
   |
 2 |   add(%x, %y)
   |   ^^^^^^^^^^^
   |       |   rhs
   |       lhs
   |
   = lhs: (2, 3) float32   parameter `%x`, line 1
     rhs: (4, 3) float32   parameter `%y`, line 1
           ^

1 error in f.rly
)");
}

TEST_CASE("diagnostics show a match that leaves a case out") {
  CHECK(shown(R"(def @main(%l: List[int32]) -> int32 {
  match (%l) {
    Cons(%x, _) => %x,
  }
}
)") == R"(error[missing-case]: this match does not cover every case: `Nil` is missing
  --> f.rly:2:3
   |
 2 |   match (%l) {
   |   ^^^^^^^^^^^^
 3 |     Cons(%x, _) => %x,
 4 |   }
   |   ^
   = note: a match has an arm for every case; `match?` may leave some out

1 error in f.rly
)");
}

TEST_CASE("diagnostics show a brace that is never closed, at the end of the text") {
  CHECK(shown(R"(def @main(%x: float32) {
  add(%x, %x)
)") == R"(error[syntax-error]: expected `}`, found end of text
  --> f.rly:3:1
   |
 1 | def @main(%x: float32) {
   |                        - `{` opened here
 2 |   add(%x, %x)
 3 |
   | ^
   = help: close it: `}`

1 error in f.rly
)");
}

TEST_CASE("diagnostics show several mistakes are all shown") {
  CHECK(shown(R"(def @main(%x: float32) {
  let %a = add(%y, %x);
  let %b = @f(%a);
  let %c = Kons(%a, Nil);
  %a
}
)") == R"(error[unknown-local]: no local `%y` is in scope here
  --> f.rly:2:16
   |
 2 |   let %a = add(%y, %x);
   |                ^^

error[unknown-global]: no function `@f` is defined
  --> f.rly:3:12
   |
 3 |   let %b = @f(%a);
   |            ^^

error[unknown-name]: `Kons` is neither an operator nor a constructor
  --> f.rly:4:12
   |
 4 |   let %c = Kons(%a, Nil);
   |            ^^^^
   = help: did you mean `Cons`?

3 errors in f.rly
)");
}

TEST_CASE("diagnostics show tabs are widened and columns count bytes") {
  CHECK(shown("def @main(%x: float32) {\n\tadd(%x,\t%y) /* \303\244\346\274\242 */\n}\n") ==
        R"(error[unknown-local]: no local `%y` is in scope here
  --> f.rly:2:10
   |
 2 |     add(%x, %y) /* ä漢 */
   |             ^^

1 error in f.rly
)");
}

TEST_CASE("diagnostics show a place of several lines is marked at both ends") {
  CHECK(shown(R"(def @main(%x: float32) -> int32 {
  (let %y = %x;
   add(%y,
       %y))
}
)") == R"(error[result-mismatch]: the result is declared as `int32`, but the body is `float32`
  --> f.rly:3:4
   |
 3 |    add(%y,
   |    ^^^^^^^
 4 |        %y))
   |        ^^^

1 error in f.rly
)");
}

TEST_CASE("diagnostics show no text at all") {
  CHECK(shown("") == R"(error[empty-program]: there is no program here
  --> f.rly:1:1
   |
 1 |
   | ^

1 error in f.rly
)");
}

TEST_CASE("diagnostics show a second definition points to the first") {
  CHECK(shown(R"(type T { A, B }
type T { C }
def @main() { A }
)") == R"(error[repeated-type]: type `T` is defined twice
  --> f.rly:2:6
   |
 1 | type T { A, B }
   |      - first defined here
 2 | type T { C }
   |      ^

1 error in f.rly
)");
}

TEST_CASE("diagnostics show control bytes and bytes that are no UTF-8 are not sent on") {
  CHECK(shown("def @main(%x: int32) { %x \033[31m \377 }\n") ==
        R"(error[unexpected-text]: unexpected control character
  --> f.rly:1:27
   |
 1 | def @main(%x: int32) { %x ?[31m ? }
   |                           ^

error[malformed-number]: malformed number `31m`
  --> f.rly:1:29
   |
 1 | def @main(%x: int32) { %x ?[31m ? }
   |                             ^^^
   = note: widths are 16, 32 and 64: `1i64`, `2.5f16`

error[unexpected-text]: unexpected text outside ASCII: `?`
  --> f.rly:1:33
   |
 1 | def @main(%x: int32) { %x ?[31m ? }
   |                                 ^

3 errors in f.rly
)");
}

TEST_CASE("diagnostics show a graph variable bound twice") {
  CHECK(
      shown(R"(def @main(%x: int32) {
  %0 = add(%x, %x);
  %0 = add(%x, 1);
  %0
}
)") ==
      R"(error[repeated-graph-variable]: `%0` is bound twice; graph variables are one namespace for the whole text
  --> f.rly:3:3
   |
 2 |   %0 = add(%x, %x);
   |   ----------------- first bound here
 3 |   %0 = add(%x, 1);
   |   ^^^^^^^^^^^^^^^^

1 error in f.rly
)");
}

TEST_CASE("diagnostics show a wrong number of arguments") {
  CHECK(shown(R"(def @f(%x: int32) { %x }
def @main() { @f(1, 2) }
)") == R"(error[argument-count]: `@f` takes 1 argument, but 2 are given
  --> f.rly:2:15
   |
 2 | def @main() { @f(1, 2) }
   |               ^^^^^^^^

1 error in f.rly
)");
}

TEST_CASE("marks that share a line hang their texts below it") {
  CHECK(shownAt("call(one, two, three)\n", 15, 20, {{{5, 8}, "first"}, {{10, 13}, "second"}}) ==
        R"(error: here
  --> f.rly:1:16
   |
 1 | call(one, two, three)
   |      ---  ---  ^^^^^
   |      |    second
   |      first
)");
}

TEST_CASE("lines between marks are left out, a single one is not") {
  CHECK(shownAt("a\nb\nc\nd\ne\nf\n", 0, 1, {{{4, 5}, "near"}, {{10, 11}, "far"}}) ==
        R"(error: here
  --> f.rly:1:1
   |
 1 | a
   | ^
 2 | b
 3 | c
   | - near
...
 6 | f
   | - far
)");
}

TEST_CASE("of a long line only the part around the place is shown") {
  std::string text = fmt::format("{:x>100000}{}{:y>100000}", "", "here", "");
  CHECK(shownAt(text, 100'000, 100'004, {}, {.columns = 30}) == R"(error: here
  --> f.rly:1:100001
   |
 1 | ...xxxxxxxxxxhereyyyyyyyyyyyyyyyy...
   |              ^^^^
)");
  CHECK(shownAt(text, 100'000, 100'004, {{{2, 4}, "far away"}}, {.columns = 30}) ==
        R"(error: here
  --> f.rly:1:100001
   |
 1 | xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
   |   -- far away
 1 | ...xxxxxxxxxxhereyyyyyyyyyyyyyyyy...
   |              ^^^^
)");
  CHECK(shownAt(text, 100'000, 100'004, {{{200'000, 200'002}, "last"}, {{50'000, 50'002}, "first"}},
                {.columns = 30}) ==
        R"(error: here
  --> f.rly:1:100001
   |
 1 | ...xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
   |              -- first
 1 | ...xxxxxxxxxxhereyyyyyyyyyyyyyyyy...
   |              ^^^^
 1 | ...yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy
   |                              -- last
)");
}

TEST_CASE("wide characters push the caret, combining ones do not") {
  CHECK(shownAt("\u6f22\u5b57 x", 7, 8) == "error: here\n  --> f.rly:1:8\n   |\n"
                                           " 1 | \u6f22\u5b57 x\n   |      ^\n");
  CHECK(shownAt("e\u0301 x", 4, 5) == "error: here\n  --> f.rly:1:5\n   |\n"
                                      " 1 | e\u0301 x\n   |   ^\n");
}

TEST_CASE("ranges that reach past their line or the text stay on the page") {
  CHECK(shownAt("ab\n", 1, 3) == "error: here\n  --> f.rly:1:2\n   |\n 1 | ab\n   |  ^\n");
  CHECK(shownAt("ab", 2, 2) == "error: here\n  --> f.rly:1:3\n   |\n 1 | ab\n   |   ^\n");
  CHECK(shownAt("ab", 1, 4'000) == "error: here\n  --> f.rly:1:2\n   |\n 1 | ab\n   |  ^\n");
}

TEST_CASE("a finding without a place has no excerpt") {
  lang::SourceMap sources;
  CHECK(lang::renderFinding({.severity = lang::Severity::Warning,
                             .code = "some-code",
                             .text = "text\x1b",
                             .notes = {"a note"},
                             .suggestions = {{"a way out"}, {"another"}}},
                            sources) ==
        "warning[some-code]: text?\n   = note: a note\n   = help: a way out\n"
        "   = help: another\n");
}

TEST_CASE("places in two files are shown one file after the other") {
  lang::SourceMap sources;
  uint32_t first = sources.add("a.rly", "aaa")->base();
  uint32_t second = sources.add("b.rly", "bbb")->base();
  lang::Finding finding{
      .text = "here", .range = {second, second + 3}, .labels = {{{first, first + 1}, "there"}}};
  CHECK(lang::renderFinding(finding, sources) == R"(error: here
  --> b.rly:1:1
   |
 1 | bbb
   | ^^^
  ::: a.rly:1:1
   |
 1 | aaa
   | - there
)");
}

TEST_CASE("colour changes nothing but colour") {
  std::string program = "def @main(%x: float32) {\n  add(%x, %y)\n}\n";
  std::string coloured = shown(program, {.colour = true});
  CHECK(coloured.starts_with("\x1b[1;31merror[unknown-local]\x1b[0m"));
  std::string plain;
  for (size_t i = 0; i < coloured.size(); ++i)
    if (coloured[i] == '\x1b')
      i = coloured.find('m', i);
    else
      plain += coloured[i];
  CHECK(plain == shown(program));
}

TEST_CASE("a diagnostic as JSON has the eight fields, and what else there is") {
  driver::Session session(stdlib::operatorTable());
  auto program = session.loadText("a\"\xff.rly", "def @main(%x: int32) {\n  add(%x, %y)\n}\n");
  REQUIRE(program);
  REQUIRE(program->diagnostics.all().size() == 1);
  CHECK(lang::diagnosticJson(program->diagnostics.all()[0], session.sources(), "") ==
        "{\"code\":\"unknown-local\",\"severity\":\"error\","
        "\"message\":\"no local `%y` is in scope here\",\"file\":\"a\\\"\uFFFD.rly\","
        "\"line\":2,\"column\":11,\"endLine\":2,\"endColumn\":13}");
}

} // namespace
