// The reading half of the parser: what is accepted, what is rejected with which message, and that
// no text of any size or shape brings it down. The corpus is found through corpusFolder().
#include "parser/relay/parse.h"
#include "tests/unit/places.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace {

using namespace parser::surface;

/// One text, read.
struct Reading {
  lang::SourceMap sources;
  runtime::Arena arena;
  lang::Diagnostics diagnostics;
  const lang::SourceFile* source;
  const File* file;

  explicit Reading(std::string text)
      : source(sources.add("test", std::move(text))),
        file(parser::parseText(arena, *source, diagnostics)) {}

  bool isClean() const { return file && !diagnostics.hasErrors(); }
  const Expr* expr() const {
    REQUIRE(isClean());
    REQUIRE(file->expr);
    return file->expr;
  }
  std::string firstMessage() const {
    return diagnostics.all().empty() ? "" : diagnostics.all()[0].text.plain();
  }
};

bool accepts(const std::string& text) {
  return Reading(text).isClean();
}

std::string messageOf(const std::string& text) {
  return Reading(text).firstMessage();
}

std::string repeated(std::string_view part, size_t count) {
  std::string text;
  text.reserve(part.size() * count);
  for (size_t i = 0; i < count; ++i)
    text += part;
  return text;
}

std::vector<std::filesystem::path> corpusFiles() {
  std::vector<std::filesystem::path> files;
  auto folder = tests::corpusFolder() / "relay-text";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".rly")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Compact text of an expression, to compare trees with: everything in prefix form.
std::string shape(const Expr* expr);

std::string shapes(std::span<const Expr* const> exprs) {
  std::string text;
  for (const Expr* expr : exprs)
    text += " " + shape(expr);
  return text;
}

std::string shape(const Expr* expr) {
  switch (expr->kind) {
  case ExprKind::IntLiteral:
    return fmt::format("{}i{}", as<IntLiteral>(expr).value, int(as<IntLiteral>(expr).dtype.bits));
  case ExprKind::FloatLiteral:
    return fmt::format("{}f{}", as<FloatLiteral>(expr).value,
                       int(as<FloatLiteral>(expr).dtype.bits));
  case ExprKind::BoolLiteral:
    return as<BoolLiteral>(expr).value ? "True" : "False";
  case ExprKind::Local:
    return "%" + std::string(as<Local>(expr).name);
  case ExprKind::Graph:
    return fmt::format("%{}", as<Graph>(expr).number);
  case ExprKind::Global:
    return "@" + std::string(as<Global>(expr).name);
  case ExprKind::Name:
    return std::string(as<Name>(expr).name);
  case ExprKind::Tuple:
    return "(tuple" + shapes(as<Tuple>(expr).fields) + ")";
  case ExprKind::TensorLiteral:
    return "[tensor" + shapes(as<TensorLiteral>(expr).elements) + "]";
  case ExprKind::Project:
    return fmt::format("(.{} {})", as<Project>(expr).index, shape(as<Project>(expr).operand));
  case ExprKind::Infix:
    return fmt::format("(op{} {} {})", int(as<Infix>(expr).op), shape(as<Infix>(expr).left),
                       shape(as<Infix>(expr).right));
  case ExprKind::Call: {
    const Call& call = as<Call>(expr);
    std::string text = "(" + shape(call.callee) + shapes(call.arguments);
    for (const Attribute& attribute : call.attributes)
      text += " " + std::string(attribute.key.text) + "=";
    return text + (call.metaTail ? " meta)" : ")");
  }
  case ExprKind::Sequence: {
    const Sequence& sequence = as<Sequence>(expr);
    std::string text = sequence.braces ? "{" : "(seq";
    for (const Item& item : sequence.items)
      text += fmt::format(" {}:{}", "gl;f"[int(item.kind)], item.value ? shape(item.value) : "");
    return text + " " + shape(sequence.result) + (sequence.braces ? "}" : ")");
  }
  default:
    return fmt::format("<{}>", int(expr->kind));
  }
}

std::string shapeOf(const std::string& text) {
  Reading reading(text);
  INFO(text << ": " << reading.firstMessage());
  return shape(reading.expr());
}

} // namespace

TEST_CASE("number literals", "[parser]") {
  CHECK(shapeOf("7") == "7i32");
  CHECK(shapeOf("007") == "7i32");
  CHECK(shapeOf("7i") == "7i32");
  CHECK(shapeOf("7i16") == "7i16");
  CHECK(shapeOf("--5") == "5i32");
  CHECK(shapeOf("---5") == "-5i32");
  CHECK(shapeOf("2147483648") == "2147483648i64");
  CHECK(shapeOf("-2147483648") == "-2147483648i32");
  CHECK(shapeOf("9223372036854775807") == "9223372036854775807i64");
  CHECK(shapeOf("-9223372036854775808i64") == "-9223372036854775808i64");
  CHECK(shapeOf("1.e5f") == "100000f32");
  CHECK(shapeOf("1E+3f") == "1000f32");
  CHECK(shapeOf("2.5f16") == "2.5f16");
  CHECK(shapeOf("-0f") == "-0f32");
  CHECK(shapeOf("inff") == "inff32");
  CHECK(shapeOf("-inff16") == "-inff16");
  CHECK(shapeOf("nanf64") == "nanf64");
  CHECK(shapeOf("5e-324f64") == "5e-324f64");
  for (const char* text : {"1.0",          "1e5",
                           ".5f",          "1i8",
                           "0x10",         "1_000",
                           "+1",           "7u8",
                           "7h",           "2f8",
                           "1f1e2",        "1.2.3f",
                           "1-2",          "1 -2",
                           "1+2",          "2147483648i32",
                           "32768i16",     "1e39f",
                           "65520f16",     "1e400f64",
                           "1e-400f64",    "9223372036854775808",
                           "%99999999999", "%t.99999999999"})
    CHECK_FALSE(accepts(text));
  CHECK(messageOf("1.5") == "malformed number `1.5`");
  CHECK(messageOf("65520f16") == "`65520f16` does not fit float16");
  CHECK(messageOf("99999999999999999999") == "`99999999999999999999` does not fit int64");
}

TEST_CASE("operators", "[parser]") {
  CHECK(shapeOf("1 +2") == "(op2 1i32 2i32)");
  CHECK(shapeOf("1/2/3") == "(op1 (op1 1i32 2i32) 3i32)");
  CHECK(shapeOf("1 + 2 * 3 - 4 < 5 == 6 != 7") ==
        "(op9 (op8 (op4 (op3 (op2 1i32 (op0 2i32 3i32)) 4i32) 5i32) 6i32) 7i32)");
  CHECK(shapeOf("1 <=-2") == "(op5 1i32 -2i32)");
  CHECK(shapeOf("1 ==/* c */ 2") == "(op8 1i32 2i32)");
  CHECK(shapeOf("%0 == 2") == "(op8 %0 2i32)");
  CHECK(shapeOf("%a/b") == "%a/b");
  for (const char* text : {"1 ==*2", "1 <=-%x", "1 < = 2", "-(1)", "!1", "1 = = 2", "%x & 1"})
    CHECK_FALSE(accepts(text));
  CHECK(messageOf("1 ==*2") == "unexpected `==*`");
}

TEST_CASE("comments and names", "[parser]") {
  CHECK(shapeOf("/* a /* b */ c */ 1") == "1i32");
  CHECK(shapeOf("/** x **/ 1") == "1i32");
  CHECK(shapeOf("/***/1") == "1i32");
  CHECK(shapeOf("1/*c*/ // end") == "1i32");
  CHECK(shapeOf("add/ (1)") == "(add/ 1i32)");
  CHECK_FALSE(accepts("add/*c*/(1, 2)"));
  CHECK(shapeOf("nn . relu(1)") == "(nn.relu 1i32)");
  CHECK(shapeOf("let %_ = 1; %True") == "(seq l:1i32 %True)");
  CHECK(messageOf("1 /* open") == "this comment is never closed");
  CHECK(messageOf("f(1, a=\"open)") == "this string is never closed");
  CHECK(messageOf("let %if = 1; 2") == "`if` is a keyword and cannot be a name");
  for (const char* text : {"let % a = 1; 2", "@ foo", "let %a.b = 1; 2", "\r1", "\f1", "#x"})
    CHECK_FALSE(accepts(text));
  CHECK(Reading("\xc3\xa9\xc3\xa9\xc3\xa9 1").diagnostics.errorCount() == 1);
  CHECK(Reading(std::string("1 \0 + 1", 7)).diagnostics.errorCount() == 1);
  Reading reading("// one\n1 /* two */");
  REQUIRE(reading.file->comments.size() == 2);
  CHECK(reading.file->comments[1].end - reading.file->comments[1].begin == 9);
}

TEST_CASE("lists", "[parser]") {
  CHECK(shapeOf("(1, 2 3)") == "(tuple 1i32 2i32 3i32)");
  CHECK(shapeOf("(1, 2 -3)") == "(tuple 1i32 2i32 -3i32)");
  CHECK(shapeOf("(1, 2 (3))") == "(tuple 1i32 (2i32 3i32))");
  CHECK(shapeOf("@f(%n, %n -1)") == "(@f %n %n -1i32)");
  CHECK(shapeOf("(1,)") == "(tuple 1i32)");
  CHECK(shapeOf("(1)") == "1i32");
  CHECK(shapeOf("()") == "(tuple)");
  CHECK(shapeOf("[[1f, 2f], [3f, 4f],]") == "[tensor [tensor 1f32 2f32] [tensor 3f32 4f32]]");
  for (const char* text : {"(1 2)", "(,)", "(1,,2)", "[%x]", "[1 2]"})
    CHECK_FALSE(accepts(text));
}

TEST_CASE("projections and calls", "[parser]") {
  CHECK(shapeOf("(1, 2).0") == "(.0 (tuple 1i32 2i32))");
  CHECK(shapeOf("%t.0.1") == "(.1 (.0 %t))");
  CHECK(shapeOf("@f(1).0(2)") == "((.0 (@f 1i32)) 2i32)");
  CHECK(shapeOf("%f (1) (2)") == "((%f 1i32) 2i32)");
  CHECK(shapeOf("f(%x, axis=1, a.b=2)") == "(f %x axis= a.b=)");
  CHECK(shapeOf("f(a.b=2 c=[1, \"s\" None])") == "(f a.b= c=)");
  CHECK(shapeOf("f(%x, meta[relay.attrs.A][0])") == "(f %x meta)");
  CHECK_FALSE(accepts("f(%x, meta[a] [0])"));
  CHECK_FALSE(accepts("f(%x, meta[a][-1])"));
  CHECK_FALSE(accepts("f(a=1, 2)"));
}

TEST_CASE("sequences and bindings", "[parser]") {
  CHECK(shapeOf("1; 2; 3") == "(seq ;:1i32 ;:2i32 3i32)");
  CHECK(shapeOf("%0 = 1; let %x: int32 = %0; free_var %y; { 1 }; %x") ==
        "(seq g:1i32 l:%0 f: ;:{ 1i32} %x)");
  CHECK(shapeOf("{ 1; 2 }") == "{ ;:1i32 2i32}");
  CHECK(shapeOf("{ { 1 } }") == "{ { 1i32}}");
  CHECK(shapeOf("(let %y = 2; %y)") == "(seq l:2i32 %y)");
  CHECK(shapeOf("let %v = let %x = 1;\n%x;\n%v") == "(seq l:(seq l:1i32 %x) %v)");
  CHECK(shapeOf("let %v = let %x = 1; %0 = 2; %x; 3") == "(seq l:(seq l:1i32 g:2i32 %x) 3i32)");
  CHECK(shapeOf("%0 = match (1) { %y => %y }; %0") == "(seq g:<15> %0)");
  CHECK(shapeOf("%0 = { 1 }; %0") == "(seq g:{ 1i32} %0)");
  for (const char* text : {"1;", "{}", "fn () {}", "1;;2", "let %x = 1", "let %x = ; 1"})
    CHECK_FALSE(accepts(text));
  CHECK(messageOf("1; 2;") == "expected an expression, found end of text");
}

TEST_CASE("functions, branches, matches", "[parser]") {
  for (const char* text :
       {"fn (%x) - > int32 { %x }", "fn [A, B](%x: A, %y %z: B,) -> A { %x }",
        "fn (%x, Primitive=1, Flag=True, l=[1, 2, \"a\"], n=None) { %x }", "fn (a.b=1) {1}",
        "fn (z=1, a.b=1) {1}", "fn (%x {virtual_device=meta[VirtualDevice][0]}: int32) {1}",
        "fn (%x) {%x}(1)", "if (True) { 1 } else { 2 } + 3",
        "if (True) { 1 } else if (False) { 2 } else { 3 }",
        "match (1) { %y => %y, _ => 2 _ => 3, }", "match (1) { }", "match? %t.0 { _ => 1 }",
        "match(%a, %b) { (A, B(%x, _)) => 1, () => 2 }", "match (%x) { A => { let %a = 5; %a } }",
        "ref_write(ref(1), ref_read(%r))"})
    CHECK(accepts(text));
  for (const char* text :
       {"match @f(1) { _ => 2 }", "match ? (1) { _ => 2 }", "fn (a=(1, 2)) {1}", "if (1) { 2 }",
        "match (1) { _ = > 2 }", "match (1) { 1 => 2 }", "match (1) {_ => 1} + 1", "fn (%x %y) {1}",
        "ref_write(1)", "ref_read()", "if True { 1 } else { 2 }"})
    CHECK_FALSE(accepts(text));
  Reading reading("if (True) { 1 } else if (False) { 2 } else { 3 }");
  CHECK(as<If>(reading.expr()).otherwise->kind == ExprKind::If);
  Reading partial("match? (1) { _ => 2 }");
  CHECK(as<Match>(partial.expr()).isPartial);
}

TEST_CASE("types", "[parser]") {
  auto typeOf = [](const std::string& text) { return accepts("let %x: " + text + " = 1; 2"); };
  for (const char* text :
       {"(int32)", "Tensor[(1,2,?), uint8]", "Tensor[(4), int8]", "Tensor[(), bfloat16]",
        "Tensor[(n, 2), int8]", "Tensor[(meta[tir.Var][0], 4i64), int8]", "fn [A](A) -> A",
        "fn (A, B) -> fn () -> ()", "ref(int32)", "List[A]", "Map[A, B C]", "nat[]", "_",
        "meta[IncompleteType][3]", "bfloat16"})
    CHECK(typeOf(text));
  for (const char* text : {"Tensor[4, int8]", "Tensor[(4)]", "Tensor", "Tensor[(1f), int8]", "%x",
                           "fn (A)", "(A B)", "1"})
    CHECK_FALSE(typeOf(text));
  Reading reading("let %x: Tensor[(1, ?, n, 4i64), int8] = 1; 2");
  const Item& item = as<Sequence>(reading.expr()).items[0];
  const auto& tensor = as<TensorType>(item.type);
  REQUIRE(tensor.shape.size() == 4);
  CHECK(tensor.shape[0].value == 1);
  CHECK(tensor.shape[1].kind == DimKind::Any);
  CHECK(tensor.shape[2].name == "n");
  CHECK(tensor.shape[3].is64);
  CHECK(tensor.dtype.text == "int8");
}

TEST_CASE("attribute values", "[parser]") {
  Reading reading(
      "f(i=3i64, r=1.5f16, b=True, s=\"a\\\"\\x41\\q\\n\", n=None, l=[1, [2]], o=nn.relu,"
      " m=meta[runtime.BoxInt][7], p=(4), q=nullptr)");
  auto attributes = as<Call>(reading.expr()).attributes;
  REQUIRE(attributes.size() == 10);
  CHECK(attributes[0].value.integer == 3);
  CHECK(attributes[0].value.width == 64);
  CHECK(attributes[1].value.real == 1.5);
  CHECK(attributes[2].value.kind == AttributeKind::Bool);
  CHECK(attributes[3].value.text == "a\"A\\q\n");
  CHECK(attributes[4].value.kind == AttributeKind::Null);
  REQUIRE(attributes[5].value.list.size() == 2);
  CHECK(attributes[5].value.list[1].list[0].integer == 2);
  CHECK(as<Name>(attributes[6].value.expr).name == "nn.relu");
  CHECK(as<Meta>(attributes[7].value.expr).meta.index == 7);
  CHECK(attributes[8].value.integer == 4);
  CHECK(attributes[9].value.kind == AttributeKind::Null);
}

TEST_CASE("definitions, header, metadata", "[parser]") {
  Reading reading("// c\n#[version = \"0.0.5\"]\n"
                  "extern type Foo\ntype L[A] { Nil, Cons(A, L[A]) }\n"
                  "def @f[A](%x: A) -> A { %x }\n#[metadata]\n{\"x\": \")(\"}");
  REQUIRE(reading.isClean());
  CHECK(reading.file->version == "0.0.5");
  REQUIRE(reading.file->definitions.size() == 3);
  CHECK(as<TypeDefinition>(reading.file->definitions[0]).isExtern);
  CHECK(as<TypeDefinition>(reading.file->definitions[1]).constructors[1].fields.size() == 2);
  CHECK(reading.file->definitions[2]->name.text == "f");
  CHECK(reading.file->metadata.end == reading.source->range().end);
  CHECK(Reading("v0.0.4\n1").file->version == "0.0.4");
  CHECK(accepts(""));
  CHECK(accepts("#[ version=\"0.0.4\" ] 1"));
  CHECK(messageOf("#[version = \"0.0.6\"] 1") == "unknown text format version `0.0.6`");
  CHECK(messageOf("1 #[version = \"0.0.5\"]") == "unexpected `#[version = \"0.0.5\"]`");
  CHECK(messageOf("1 def @f() { 2 }") == "an expression stands before definitions");
  CHECK(messageOf("extern type A { B }") == "the extern type `A` has constructors");
}

TEST_CASE("several errors come out of one text", "[parser]") {
  Reading reading("def @f(%x: ) { %x }\ndef @g() { f(1 2; 3, 4); let %x 1; 3 }\n"
                  "def @h() { (1\ndef @ok() { 1 }");
  const auto& all = reading.diagnostics.all();
  REQUIRE(all.size() == 4);
  CHECK(all[0].text.plain() == "expected a type, found `)`");
  CHECK(all[1].text.plain() == "expected `)`, `,` or `;`, found `2`");
  CHECK(all[2].text.plain() == "expected `:` or `=`, found `1`");
  CHECK(all[3].text.plain() == "expected `)`, found `def`");
  REQUIRE(all[3].labels.size() == 1);
  CHECK(all[3].labels[0].text.plain() == "`(` opened here");
  CHECK(reading.source->position(all[3].labels[0].range.begin).line == 3);
  REQUIRE(reading.file->definitions.size() == 3);
  CHECK(reading.file->definitions[2]->name.text == "ok");
}

TEST_CASE("the corpus reads without findings", "[parser][corpus]") {
  auto files = corpusFiles();
  REQUIRE(files.size() > 50);
  for (const auto& path : files) {
    Reading reading(contents(path));
    INFO(path.filename().string() << ": " << reading.firstMessage());
    CHECK(reading.isClean());
    CHECK(!reading.file->definitions.empty());
  }
}

TEST_CASE("every prefix of a text is survived", "[parser][corpus]") {
  std::string text = "#[version = \"0.0.5\"]\ntype L[A] { Nil, Cons(A, L[A]) }\n"
                     "def @f[A](%x: Tensor[(1, ?), float32], k=[1, \"s\"]) -> (A, B) {\n"
                     "  let %v: fn (A) -> B = let %y = (1.5f, -2i64);\n%y;\n"
                     "  %0 = nn.conv2d(%x, %v.0, a.b=None, c=meta[K][0]); /* c */\n"
                     "  match? (%0) { Cons(%h, _) => { 1 == 2 }, (Nil) => if (True) { 1 } "
                     "else { ref(2) } }\n}\n#[metadata]\n{}";
  REQUIRE(accepts(text));
  for (size_t length = 0; length < text.size(); ++length) {
    Reading reading(text.substr(0, length));
    CHECK((reading.file || reading.diagnostics.hasErrors()));
  }
}

TEST_CASE("mutations of texts are survived", "[parser][corpus]") {
  std::mt19937 random(1);
  std::string bytes = "(){}[],;:=+-*/<>!?%@.\"#0a \n\\\xff";
  for (const auto& path : corpusFiles()) {
    std::string original = contents(path).substr(0, 3000);
    for (int round = 0; round < 60; ++round) {
      std::string text = original;
      for (int change = 0; change <= round % 3; ++change) {
        size_t place = random() % text.size();
        if (change == 2)
          text.erase(place, 1 + random() % 40);
        else
          text[place] = bytes[random() % bytes.size()];
        if (text.empty())
          text = "x";
      }
      Reading reading(text);
      CHECK((reading.file || reading.diagnostics.hasErrors()));
    }
  }
}

TEST_CASE("long texts need no stack", "[parser][size]") {
  constexpr size_t many = 1000000;
  Reading bindings(repeated("let %x = add(%x, 1);\n", many) + "%x");
  CHECK(as<Sequence>(bindings.expr()).items.size() == many);
  Reading sum("1" + repeated(" + 1", many));
  size_t terms = 1;
  for (const Expr* at = sum.expr(); at->kind == ExprKind::Infix; at = as<Infix>(at).left)
    ++terms;
  CHECK(terms == many + 1);
  CHECK(sum.expr()->depth == 2);
  CHECK(accepts("%f" + repeated("(1).0", many)));
  CHECK(accepts("(1," + repeated("2 ", many) + ")"));
}

TEST_CASE("deep texts are refused", "[parser][size]") {
  constexpr size_t many = 100000;
  CHECK(accepts(repeated("(", 3999) + "1" + repeated(")", 3999)));
  CHECK(messageOf(repeated("(", many) + "1" + repeated(")", many)) ==
        "the nesting here is deeper than 4000 levels");
  CHECK(messageOf(repeated("if (True) { 1 } else ", many) + "{ 1 }") ==
        "this text is nested deeper than 4000 levels");
  CHECK(messageOf("let %x: " + repeated("fn () -> ", many) + "_ = 1; 1") ==
        "this text is nested deeper than 4000 levels");
  CHECK(messageOf(repeated("let %x = ", many) + "1;" + repeated("1;", many) + "1") ==
        "this text is nested deeper than 4000 levels");
  for (const char* part :
       {"(", "[",  "{",       "{(",   "([{",    "a=[",  ")",       "}", "/*", "#[", "\"",
        "%", "1 ", "let %x ", "def ", "((1 1;", "fn (", "match (", "-", ".",  "a ."})
    CHECK_FALSE(accepts(repeated(part, many)));
}
