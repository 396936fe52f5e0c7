// Queries: what stands at a place, lists of types, warnings that are turned off.
#include "driver/command_line.h"
#include "driver/session/hover.h"
#include "stdlib/ops.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace {

/// What stands behind the `|` in a program, which is taken out first; nothing when that is nothing.
std::optional<driver::Hover> hover(std::string program, std::string* at = nullptr) {
  size_t mark = program.find('|');
  REQUIRE(mark != std::string::npos);
  program.erase(mark, 1);
  driver::Session session(stdlib::operatorTable());
  auto loaded = session.loadText("f.rly", program, driver::Stage::Guessed);
  REQUIRE(loaded);
  REQUIRE(loaded->module);
  uint32_t base = loaded->source->base();
  auto found = driver::hoverAt(session, *loaded, base + uint32_t(mark));
  if (found && at)
    *at = program.substr(found->range.begin - base, found->range.end - found->range.begin);
  return found;
}

/// `kind name : type` of what stands behind the `|`, with the text that it covers.
std::string said(const std::string& program) {
  std::string covered;
  auto found = hover(program, &covered);
  if (!found)
    return "nothing";
  return fmt::format("{} {} : {} at {}", found->kind, found->name, found->type, covered);
}

/// The same inside of a definition with two parameters.
std::string saidIn(const std::string& body) {
  return said("def @main(%x: Tensor[(2, 3), float32], %n: int32) { " + body + " }\n");
}

TEST_CASE("hover tells what a local is, where it is bound and where it is used") {
  CHECK(said("def @f(|%x: int32) { %x }") == "parameter %x : int32 at %x");
  CHECK(saidIn("negative(%|x)") == "parameter %x : Tensor[(2, 3), float32] at %x");
  CHECK(saidIn("let |%y = 1; %y") == "let %y : int32 at %y");
  CHECK(saidIn("let %y = 1; |%y") == "let %y : int32 at %y");
  CHECK(saidIn("let %f = fn (|%z: bool) { %n }; %f") == "parameter %z : bool at %z");
  CHECK(saidIn("match ((%n, 1f)) { (%a, |%b) => %b }") == "pattern variable %b : float32 at %b");
  CHECK(saidIn("match ((%n, 1f)) { (%a, %b) => |%b }") == "pattern variable %b : float32 at %b");
  CHECK(said("free_var %x: int32;\n|%x + 1") == "free variable %x : int32 at %x");
}

TEST_CASE("a let of a name is found in the text") {
  CHECK(saidIn("let %y = |%n; %y") == "parameter %n : int32 at %n");
  CHECK(saidIn("let %y /* = */ : int32 = // =\n ((|%n)); %y") == "parameter %n : int32 at %n");
  CHECK(saidIn("let %y |= %n; %y") == "nothing");
  CHECK(saidIn("let %f = |@id; %f") == "global @id : fn [A](A) -> A at @id");
  CHECK(saidIn("let %f = |Cons; %f") == "constructor Cons : fn [A](A, List[A]) -> List[A] at Cons");
}

TEST_CASE("graph lines are found at their number") {
  CHECK(saidIn("|%0 = %n + 1; %0") == "graph variable %0 : int32 at %0");
  CHECK(saidIn("%0 = %n + 1; |%0 * %0") == "graph variable %0 : int32 at %0");
  CHECK(saidIn("%|10 = less(%n, 1); (%10, %10)") == "graph variable %10 : bool at %10");
  CHECK(saidIn("|%0 = (%n + 1) < 2; (%0, %0)") == "graph variable %0 : bool at %0");
  CHECK(saidIn("%0 = %n < 1; let %y = |%0; %y") == "graph variable %0 : bool at %0");
  CHECK(saidIn("|%0 = %n < 1; let %y = %0; %y") == "graph variable %0 : bool at %0");
}

TEST_CASE("hover tells what operators and constructors are, and their types at that use") {
  CHECK(saidIn("%x |* 2f") == "operator multiply : fn (Tensor[(2, 3), float32], float32) -> "
                              "Tensor[(2, 3), float32] at *");
  auto found = hover("def @main(%x: Tensor[(2), float32]) { |nn.softmax(%x) }");
  REQUIRE(found);
  CHECK(found->type == "fn (Tensor[(2), float32]) -> Tensor[(2), float32]");
  CHECK(found->doc.starts_with("nn.softmax(data, axis=-1)\n"));
}

TEST_CASE("constructors have their declared type, bare ones the type of the place") {
  CHECK(saidIn("|Cons(%n, Nil)") == "constructor Cons : fn [A](A, List[A]) -> List[A] at Cons");
  CHECK(saidIn("Cons(%n, |Nil)") == "constructor Nil : List[int32] at Nil");
  CHECK(saidIn("match (Nil) { |Cons(%a, _) => 1, Nil => 2 + %n }").starts_with("constructor Cons"));
  CHECK(said("type T[A] { B(|A) } def @f() { 1 }") == "nothing");
  CHECK(said("type T[A] { |B(A), C } def @f() { 1 }") == "constructor B : fn [A](A) -> T[A] at B");
  CHECK(hover("type |T[A] { B(A, int32), C } def @f() { 1 }")->doc ==
        "type T[A] { B(A, int32), C }");
  CHECK(hover("extern type |T[A] def @f() { 1 }")->doc == "extern type T[A]");
}

TEST_CASE("other expressions have their types, the innermost one counts") {
  CHECK(saidIn("(%x, |1f)") == "constant  : float32 at 1f");
  CHECK(saidIn("|(%x, 1f)") == "tuple  : (Tensor[(2, 3), float32], float32) at (%x, 1f)");
  CHECK(saidIn("%0 = (%x, %n)|.1; %0") == "field  : int32 at (%x, %n).1");
  CHECK(saidIn("add|(%n, 1)") == "call  : int32 at add(%n, 1)");
  CHECK(saidIn("|if (%n < 1) { 1 } else { 2 }").starts_with("if  : int32 at if ("));
  CHECK(saidIn("|match (%n) { _ => 1f }").starts_with("match  : float32"));
  CHECK(saidIn("|fn (%y: int32) { %y }") ==
        "function  : fn (int32) -> int32 at fn (%y: int32) { %y }");
  CHECK(saidIn("|ref(%n)") == "reference  : ref(int32) at ref(%n)");
  CHECK(saidIn("|let %y = 1; %y") == "nothing");
}

TEST_CASE("globals have their type and the comment above them") {
  std::string text = "// Not this.\n\n// First line,\n/* second. */\ndef @f(%x: int32) { %x }\n"
                     "def @g() { @f(1) } // nor this\ndef @h() { 1 }\n";
  auto at = [&](const std::string& word) {
    std::string marked = text;
    return hover(marked.insert(marked.find(word), "|"));
  };
  CHECK(at("@f(1)")->type == "fn (int32) -> int32");
  CHECK(at("@f(1)")->doc == "First line,\nsecond.");
  CHECK(at("@f(%x")->doc == "First line,\nsecond.");
  CHECK(at("@g")->doc == "");
  CHECK(at("@h")->doc == "");
  CHECK(hover("def @main(%l: List[int32]) { |@map(@id, %l) }")->doc == "The list of `f(x)`.");
}

TEST_CASE("programs with errors can be asked, as far as their types are known") {
  CHECK(saidIn("let %y = add(%x, 1); let %z = negative(|%n); %y") == "parameter %n : int32 at %n");
  CHECK(saidIn("let |%y = add(%x, 1); %y") == "let %y :  at %y");
  CHECK(saidIn("let %y = |add(%x, 1); %y") ==
        "operator add : fn (Tensor[(2, 3), float32], int32) -> _ at add");
  CHECK(saidIn("%n + |_") == "hole _ :  at _");
  CHECK(saidIn("let %y: int32 = |_; %y") == "hole _ : int32 at _");
}

TEST_CASE("programs whose text could not be understood can be asked about the rest") {
  CHECK(saidIn("let %y = |%n + 1; let %z = @missing(%y); %z") == "parameter %n : int32 at %n");
  CHECK(saidIn("@missing(|%n)") == "parameter %n : int32 at %n");
  CHECK(saidIn("|@missing(%n)") == "nothing");
  CHECK(saidIn("let |%y = %n + 1; (%y, %nn)") == "let %y : int32 at %y");
  CHECK(saidIn("let |%y = %n + 1; %y +") == "let %y : int32 at %y");
  CHECK(saidIn("nn.dense(|%x, unts=3)") == "parameter %x : Tensor[(2, 3), float32] at %x");
  CHECK(saidIn("|nn.dense(%x, %x, unts=3)").starts_with("operator nn.dense : "));
  CHECK(saidIn("match (%n) { Konz(%a) => |%a }").starts_with("pattern variable %a : "));
  CHECK(saidIn("%n |+ _") == "operator add : fn (int32, _) -> _ at +");
  CHECK(saidIn("let %f = fn () { let %q = 1; %q }; |%q") == "nothing");
  std::string broken = "def @g(%a: int32) { let %x = ; %x }\ndef ( { }\ndef @h(%b: Nope) { %b }\n";
  CHECK(said(broken + "def @f(%n: bool) { (@g(1), |%n) }") == "parameter %n : bool at %n");
  CHECK(said(broken + "def @f(%n: bool) { |@h(1) }").starts_with("global @h"));
  CHECK(said("def @f(%n: bool) { |%n }\n" + broken) == "parameter %n : bool at %n");
  CHECK(said("def @f(%n: bool) { |%n }\n#[metadata]\n{") == "parameter %n : bool at %n");
}

TEST_CASE("attributes have what the operator's row says of them") {
  CHECK(saidIn("nn.softmax(%x, |axis=1)") == "attribute axis : integer at axis");
  CHECK(saidIn("nn.softmax(%x, axis=|1)") == "attribute axis : integer at 1");
  CHECK(saidIn("sum(nn.relu(%x), axis=[0, |1], keepdims=True)").starts_with("attribute axis : "));
  CHECK(hover("def @main(%x: Tensor[(2), float32]) { nn.softmax(%x, |axis=0) }")
            ->doc.starts_with("of `nn.softmax`, by default `-1`\n"));
  CHECK(hover("def @main(%x: Tensor[(2), float32]) { cast(%x, |dtype=\"int8\") }")
            ->doc.starts_with("of `cast`, which must be given\n"));
  CHECK(saidIn("nn.softmax(%x, |axsi=1)") == "call  :  at nn.softmax(%x, axsi=1)");
}

TEST_CASE("named sizes say where they come from") {
  auto docOf = [](const std::string& program) { return hover(program)->doc; };
  CHECK(said("def @f(%x: Tensor[(2, |n), int32]) { %x }") == "size n :  at n");
  CHECK(docOf("def @f(%x: Tensor[(2, n), int32], %t: (int32, Tensor[(2 * n), int32])) -> "
              "Tensor[(2, |n), int32] { %x }") ==
        "dimension 1 of `%x`, dimension 0 of `%t.1`, which is `2 * n`");
  CHECK(docOf("def @f[n](%x: Tensor[(n), int32]) { let %y: Tensor[(|n), int32] = %x; %y }") ==
        "a parameter of `@f`\ndimension 0 of `%x`");
  CHECK(docOf("type V[n] { V(Tensor[(|n), int32]) } def @f() { 1 }") == "a parameter of type `V`");
  CHECK(docOf("def @f() { let %y: Tensor[(|m), int32] = [1, 2]; %y }") ==
        "of no parameter of `@f`");
  CHECK(docOf("fn (%x: Tensor[(|n), int32]) { %x }") == "dimension 0 of `%x`");
  CHECK(docOf("def @f(%x: Tensor[(|n), int32]) { split(%x, indices_or_sections=3).0 }") ==
        "dimension 0 of `%x`\n`@f` needs it to be a multiple of 3, for `split`");
  CHECK(docOf("def @f(%x: Tensor[(|n), int32], %y: Tensor[(n - 1), int32]) { %y }") ==
        "dimension 0 of `%x`, dimension 0 of `%y`, which is `n - 1`\n"
        "`@f` needs it to be at least 1");
}

TEST_CASE("what stands at a place covers it, whatever the place") {
  std::string text = "// c\ntype T[A] { B(A), C }\ndef @f[A](%a: T[A], %p: (A, int32)) {\n"
                     "  %0 = %p.1 * 2 /* x */;\n  let %r = ref((%0, C));\n"
                     "  let %k = match (%a) { B(%b) => (let %q = %b; %q), C => %p.0 };\n"
                     "  if (%0 == 1) { @f(B(%k), (%k, %0)) } else { %k }\n}\n"
                     "def @main() { @f(C, (1f, _)) + [1f, 2f] }\n";
  driver::Session session(stdlib::operatorTable());
  auto loaded = session.loadText("f.rly", text);
  REQUIRE(loaded);
  REQUIRE(loaded->module);
  lang::SourceRange whole = loaded->source->range();
  size_t count = 0;
  for (uint32_t offset = whole.begin; offset <= whole.end; ++offset)
    if (auto found = driver::hoverAt(session, *loaded, offset)) {
      ++count;
      CHECK((found->range.begin <= offset && offset < found->range.end));
      CHECK(nlohmann::json::accept(driver::hoverJson(*found, session.sources())));
    }
  CHECK(count > text.size() / 3);
}

TEST_CASE("places are written LINE:COL") {
  CHECK(driver::readPlace("3:14")->line == 3);
  CHECK(driver::readPlace("3:14")->column == 14);
  for (std::string_view bad :
       {"", "3", "3:", ":3", "0:1", "1:0", "a:1", "1:1:1", "-1:2", "1: 2", "99999999999:1"})
    CHECK(!driver::readPlace(bad));
}

/// A program in a file, for the length of a test.
class ProgramFile {
public:
  explicit ProgramFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / fmt::format("hover-{}.rly", getpid())) {
    std::ofstream(path_) << text;
  }
  ~ProgramFile() { std::filesystem::remove(path_); }

  driver::Answer baton(std::vector<std::string> words) const {
    std::string path = path_.string();
    std::vector<const char*> pointers{"baton"};
    for (const std::string& word : words)
      pointers.push_back(word.c_str());
    pointers.push_back(path.c_str());
    return driver::runCommandLine(int(pointers.size()), pointers.data(), {});
  }

private:
  std::filesystem::path path_;
};

TEST_CASE("the command line asks for one place") {
  ProgramFile file("def @main(%x: int32) {\n  %x + 1\n}\n");
  CHECK(file.baton({"check", "--hover", "2:3"}).output == "%x : int32\nparameter\n");
  auto json = nlohmann::json::parse(file.baton({"check", "--json", "--hover", "2:6"}).output);
  CHECK(json["range"] ==
        nlohmann::json::parse(R"({"line":2,"column":6,"endLine":2,"endColumn":7})"));
  CHECK(json["kind"] == "operator");
  CHECK(json["name"] == "add");
  CHECK(json["type"] == "fn (int32, int32) -> int32");
  for (std::string place : {"2:1", "2:9", "3:1", "3:2", "4:1", "400:1", "4294967295:4294967295"}) {
    driver::Answer answer = file.baton({"check", "--hover", place});
    CHECK(answer.code == driver::ExitCode::Program);
    CHECK(answer.output.empty());
    CHECK(answer.errors.find("no expression stands at") != std::string::npos);
  }
  CHECK(file.baton({"check", "--hover", "2"}).code == driver::ExitCode::World);
  CHECK(file.baton({"check", "--hover", "2:3", "other.rly"}).code == driver::ExitCode::World);
  CHECK(ProgramFile("def @main() { @f }")
            .baton({"check", "--hover", "1:15"})
            .errors.starts_with("error[unknown-global]"));
}

TEST_CASE("types of definitions are listed, those of the prelude are not") {
  ProgramFile file("type P[A] { Two(A, A), None2 }\ndef @first[A](%l: List[A]) { @hd(%l) }\n"
                   "def @main() { @first(Cons(1, Nil)) }\n");
  std::string output = file.baton({"check", "--types"}).output;
  CHECK(output.starts_with("type P[A] { Two(A, A), None2 }\n"
                           "@first : fn [A](List[A]) -> A\n"
                           "@main : fn () -> int32\n"));
  CHECK(output.ends_with(": ok, 2 functions\n"));
}

TEST_CASE("warnings can be turned off, errors cannot") {
  ProgramFile file("def @main() { %0 = 1 + 1; 2 }\n");
  CHECK(file.baton({"check"}).errors.find("unused-graph-variable") != std::string::npos);
  for (std::string command : {"check", "print", "run"}) {
    driver::Answer answer = file.baton({command, "--allow", "unused-graph-variable"});
    CHECK(answer.code == driver::ExitCode::Good);
    CHECK(answer.errors.empty());
  }
  CHECK(file.baton({"check", "--allow", "useless-arm"}).errors.find("unused-graph-variable") !=
        std::string::npos);
  driver::Answer unknown = file.baton({"check", "--allow", "unused-graph-varable"});
  CHECK(unknown.code == driver::ExitCode::World);
  CHECK(unknown.errors.find("did you mean `unused-graph-variable`?") != std::string::npos);
  driver::Answer error = file.baton({"check", "--allow", "type-mismatch"});
  CHECK(error.code == driver::ExitCode::World);
  CHECK(error.errors ==
        "error: `type-mismatch` is an error, and only warnings can be turned off\n");
}

} // namespace
