// The printer, on IR built by hand: numbering and placing of temporaries, names, comments, and
// programs that are long or deep.
#include "lang/print/print.h"

#include "ir_builder.h"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace testing_ir;

namespace {

constexpr std::string_view header = "#[version = \"0.0.5\"]\n";

Printed printed(const IrBuilder& ir, bool types = false) {
  return printModule(ir.module, testOperators(), {types ? &ir.typing : nullptr});
}

/// The text without its header and last line break.
std::string body(const IrBuilder& ir, bool types = false) {
  std::string text = printed(ir, types).text;
  REQUIRE(text.starts_with(header));
  REQUIRE(text.ends_with('\n'));
  return text.substr(header.size(), text.size() - header.size() - 1);
}

} // namespace

TEST_CASE("temporaries are numbered in the order of need", "[print]") {
  IrBuilder ir;
  Bindings b;
  // 1 + 2 == 3 + 4 * 5 < 6
  Atom sum = ir.temporary(b, ir.call("add", {ir.integer(1), ir.integer(2)}));
  Atom product = ir.temporary(b, ir.call("multiply", {ir.integer(4), ir.integer(5)}));
  Atom right = ir.temporary(b, ir.call("add", {ir.integer(3), product}));
  Atom less = ir.temporary(b, ir.call("less", {right, ir.integer(6)}));
  Atom equal = ir.temporary(b, ir.call("equal", {sum, less}));
  ir.setExpression(b, equal);
  CHECK(body(ir) == "%0 = multiply(4, 5);\n"
                    "%1 = add(3, %0);\n"
                    "%2 = add(1, 2);\n"
                    "%3 = less(%1, 6);\n"
                    "equal(%2, %3)");
}

TEST_CASE("a callee is finished first and needed last", "[print]") {
  IrBuilder ir;
  Bindings b, inner;
  const Var* x = ir.parameter("x");
  Atom square = ir.temporary(inner, ir.call("multiply", {x, x}));
  Atom sum = ir.temporary(inner, ir.call("add", {square, ir.integer(1)}));
  Atom six = ir.temporary(b, ir.call("multiply", {ir.integer(2), ir.integer(3)}));
  Atom function = ir.temporary(b, ir.function({x}, ir.block(inner, sum)));
  Atom result = ir.temporary(b, ir.call(function, {six}));
  ir.setExpression(b, result);
  CHECK(body(ir) == "%1 = multiply(2, 3);\n"
                    "%2 = fn (%x) {\n"
                    "  %0 = multiply(%x, %x);\n"
                    "  add(%0, 1)\n"
                    "};\n"
                    "%2(%1)");
}

TEST_CASE("a shared temporary goes to the block that needs it first", "[print]") {
  IrBuilder ir;
  Bindings b, then;
  Atom c = ir.let(b, "c", ir.constant(runtime::Bool, 1));
  Atom sum = ir.temporary(b, ir.call("add", {ir.integer(1), ir.integer(2)}));
  Atom square = ir.temporary(then, ir.call("multiply", {sum, sum}));
  Atom result = ir.temporary(b, ir.branch(c, ir.block(then, square), ir.block(sum)));
  ir.setExpression(b, result);
  CHECK(body(ir) == "let %c = True;\n"
                    "if (%c) {\n"
                    "  %0 = add(1, 2);\n"
                    "  multiply(%0, %0)\n"
                    "} else {\n"
                    "  %0\n"
                    "}");
}

TEST_CASE("an `if` as operand, and a write whose operands are needed one by one", "[print]") {
  IrBuilder ir;
  Bindings b;
  Atom choice = ir.temporary(b, ir.branch(ir.constant(runtime::Bool, 1), ir.block(ir.integer(1)),
                                          ir.block(ir.integer(2))));
  Atom sum = ir.temporary(b, ir.call("add", {choice, ir.integer(3)}));
  Atom cell = ir.temporary(b, ir.arena.make<RefNew>(Expr{ExprKind::RefNew, {}}, ir.operand(sum)));
  Atom result = ir.temporary(
      b, ir.arena.make<RefWrite>(Expr{ExprKind::RefWrite, {}}, ir.operand(cell), ir.operand(sum)));
  ir.setExpression(b, result);
  CHECK(body(ir) == "%0 = if (True) {\n  1\n} else {\n  2\n};\n"
                    "%1 = add(%0, 3);\n"
                    "%2 = ref(%1);\n"
                    "ref_write(%2, %1)");
}

TEST_CASE("let form and graph form", "[print]") {
  IrBuilder ir;
  const Type* int32 = ir.types.scalar(runtime::Int32);
  const Var* x = ir.parameter("x", int32);
  Bindings b;
  Atom a = ir.let(b, "a", ir.call("add", {x, ir.integer(1)}), int32);
  Atom s = ir.let(b, "b", ir.call("multiply", {a, a}), int32);
  Atom r = ir.temporary(b, ir.call("subtract", {s, a}));
  Function* anf = ir.function({x}, ir.block(b, r));
  anf->resultAnnotation = int32;
  ir.define("main", anf);

  const Var* y = ir.parameter("x", int32);
  Bindings g;
  Atom a2 = ir.temporary(g, ir.call("add", {y, ir.integer(1)}));
  Atom s2 = ir.temporary(g, ir.call("multiply", {a2, a2}));
  Atom r2 = ir.temporary(g, ir.call("subtract", {s2, a2}));
  Function* graph = ir.function({y}, ir.block(g, r2));
  graph->resultAnnotation = int32;
  ir.define("graph", graph);
  CHECK(body(ir) == "def @graph(%x: int32) -> int32 {\n"
                    "  %0 = add(%x, 1);\n"
                    "  %1 = multiply(%0, %0);\n"
                    "  subtract(%1, %0)\n"
                    "}\n\n"
                    "def @main(%x: int32) -> int32 {\n"
                    "  let %a: int32 = add(%x, 1);\n"
                    "  let %b: int32 = multiply(%a, %a);\n"
                    "  subtract(%b, %a)\n"
                    "}");
}

TEST_CASE("tuples, projections and function values in lets", "[print]") {
  IrBuilder ir;
  Bindings b;
  const Var* x = ir.parameter("x");
  Atom function = ir.temporary(b, ir.function({x}, ir.block(x)));
  Atom t = ir.let(b, "t", ir.tuple({ir.integer(1), function}));
  Atom second = ir.temporary(b, ir.project(t, 1));
  Atom result = ir.temporary(b, ir.call(second, {ir.integer(3)}));
  ir.setExpression(b, result);
  CHECK(body(ir) == "%0 = fn (%x) {\n  %x\n};\nlet %t = (1, %0);\n%1 = %t.1;\n%1(3)");

  IrBuilder small;
  Bindings s;
  Atom unit = small.temporary(s, small.tuple({}));
  Atom one = small.temporary(s, small.tuple({unit}));
  small.setExpression(s, one);
  CHECK(body(small) == "%0 = ();\n(%0,)");
}

TEST_CASE("blocks and matches in parentheses", "[print]") {
  IrBuilder ir;
  Bindings b, inner;
  Atom y = ir.let(inner, "y", ir.call("negative", {ir.integer(2)}));
  Atom sum = ir.temporary(inner, ir.call("add", {y, ir.integer(1)}));
  Atom value = ir.temporary(b, ir.blockExpr(ir.block(inner, sum)));
  Atom twice = ir.temporary(b, ir.call("add", {value, value}));
  const Var* z = ir.var("z", VarOrigin::Pattern);
  auto pattern = [&](PatternKind kind, const Var* var) {
    return ir.arena.make<Pattern>(kind, SourceRange{}, var);
  };
  Atom m = ir.let(b, "m",
                  ir.match(twice, {{pattern(PatternKind::Var, z), ir.block(z), {}},
                                   {pattern(PatternKind::Wildcard, nullptr), ir.block(y), {}}}));
  Bindings nested;
  Atom one = ir.let(nested, "one", ir.integer(1));
  ir.let(b, "n", ir.blockExpr(ir.block(nested, one)));
  Atom empty = ir.temporary(b, ir.match(m, {}));
  ir.setExpression(b, empty);
  CHECK(body(ir) == "%0 = (\n  let %y = negative(2);\n  add(%y, 1)\n);\n"
                    "%1 = add(%0, %0);\n"
                    "let %m = (match (%1) {\n  %z => {\n    %z\n  },\n  _ => {\n    %y\n  },\n});\n"
                    "let %n = (\n  let %one = 1;\n  %one\n);\n"
                    "match (%m) {\n  \n}");
}

TEST_CASE("what the first let of a nested block needs stands outside", "[print]") {
  IrBuilder ir;
  Bindings b, inner;
  Atom first = ir.temporary(inner, ir.call("add", {ir.integer(1), ir.integer(2)}));
  Atom y = ir.let(inner, "y", ir.call("negative", {first}));
  Atom second = ir.temporary(inner, ir.call("add", {y, y}));
  Atom z = ir.let(inner, "z", ir.call("negative", {second}));
  Atom value = ir.temporary(b, ir.blockExpr(ir.block(inner, z)));
  Atom twice = ir.temporary(b, ir.call("add", {value, value}));
  ir.setExpression(b, twice);
  CHECK(body(ir) == "%0 = add(1, 2);\n"
                    "%2 = (\n"
                    "  let %y = negative(%0);\n"
                    "  %1 = add(%y, %y);\n"
                    "  let %z = negative(%1);\n"
                    "  %z\n"
                    ");\n"
                    "add(%2, %2)");
}

TEST_CASE("a nested block at the end of a block is not wrapped", "[print]") {
  IrBuilder ir;
  Bindings b, inner;
  ir.let(b, "x", ir.integer(1));
  Atom y = ir.let(inner, "y", ir.integer(2));
  Atom value = ir.temporary(b, ir.blockExpr(ir.block(inner, y)));
  ir.setExpression(b, value);
  CHECK(body(ir) == "let %x = 1;\nlet %y = 2;\n%y");
}

TEST_CASE("a shared value of a let, and a renamed atom", "[print]") {
  IrBuilder ir;
  Bindings b;
  Atom sum = ir.temporary(b, ir.call("add", {ir.integer(1), ir.integer(2)}));
  Atom renamed = ir.temporary(b, ir.integer(7));
  ir.temporary(b, ir.call("negative", {sum}));
  Atom x = ir.let(b, "x", sum);
  Atom once = ir.temporary(b, ir.call("negative", {x}));
  Atom y = ir.let(b, "y", once);
  Atom result = ir.temporary(b, ir.tuple({sum, y, renamed}));
  ir.setExpression(b, result);
  CHECK(body(ir) == "%0 = add(1, 2);\nlet %x = %0;\nlet %y = negative(%x);\n(%0, %y, 7)");
}

TEST_CASE("names of locals", "[print]") {
  IrBuilder ir;
  Bindings b;
  for (std::string_view name :
       {"a1", "a", "a", "_", "_a", "", "", "1", "if", "inffx", "a.b", "a/b"})
    ir.let(b, name, ir.integer(0));
  ir.setExpression(b, ir.integer(1));
  CHECK(body(ir) == "let %a1 = 0;\nlet %a = 0;\nlet %a2 = 0;\nlet %v_ = 0;\nlet %v_a = 0;\n"
                    "let %v = 0;\nlet %v1 = 0;\nlet %v11 = 0;\nlet %vif = 0;\nlet %vinffx = 0;\n"
                    "let %a_b = 0;\nlet %a/b = 0;\n1");
}

TEST_CASE("free variables are announced where they are met", "[print]") {
  IrBuilder ir;
  const Var* x = ir.var("x", VarOrigin::Free, ir.types.scalar(runtime::Int32));
  const Var* unused = ir.var("u", VarOrigin::Free);
  Bindings b;
  Atom one = ir.temporary(b, ir.call("negative", {ir.integer(1)}));
  Atom two = ir.temporary(b, ir.call("negative", {one}));
  Atom sum = ir.temporary(b, ir.call("add", {two, x}));
  ir.setExpression(b, sum, {x, unused});
  CHECK(body(ir) == "free_var %u;\n%0 = negative(1);\n%1 = negative(%0);\n"
                    "free_var %x: int32;\nadd(%1, %x)");
}

TEST_CASE("globals are sorted, and repaired names stay apart", "[print]") {
  IrBuilder ir;
  const Global* dotted = ir.define("a.b", ir.function({}, ir.block(ir.integer(1))));
  ir.define("a_b", ir.function({}, ir.block(dotted)));
  CHECK(body(ir) == "def @a_b() {\n  @a_b1\n}\n\ndef @a_b1() {\n  1\n}");
}

TEST_CASE("data types and constructors", "[print]") {
  IrBuilder ir;
  auto* a = ir.arena.make<TypeParameter>("A");
  auto* list = ir.arena.make<TypeDefinition>("List", SourceRange{});
  const Type* element = ir.types.variable(a);
  const Type* self = ir.types.data(list, Types(&element, 1));
  std::vector<const Type*> fields{element, self};
  auto base = Expr{ExprKind::Constructor, {}};
  auto* cons = ir.arena.make<Constructor>(base, "Cons", ir.arena.copy(fields), list, 0u);
  auto* nil = ir.arena.make<Constructor>(base, "Nil", Types{}, list, 1u);
  list->generics = ir.arena.copy(std::vector<const TypeParameter*>{a});
  list->constructors = ir.arena.copy(std::vector<const Constructor*>{cons, nil});
  auto* never = ir.arena.make<TypeDefinition>("Never", SourceRange{});
  ir.module.typeDefinitions = {never, list};

  const Var* x = ir.parameter("x", self);
  const Var* h = ir.var("h", VarOrigin::Pattern);
  auto variable = ir.arena.make<Pattern>(PatternKind::Var, SourceRange{}, h);
  auto wildcard = ir.arena.make<Pattern>(PatternKind::Wildcard, SourceRange{});
  std::vector<const Pattern*> parts{variable, wildcard};
  auto* consPattern = ir.arena.make<Pattern>(PatternKind::Constructor, SourceRange{}, nullptr, cons,
                                             ir.arena.copy(parts));
  auto* nilPattern = ir.arena.make<Pattern>(PatternKind::Constructor, SourceRange{}, nullptr, nil);
  Bindings b, arm;
  Atom empty = ir.temporary(arm, ir.call(nil, {}));
  Atom made = ir.temporary(arm, ir.call(cons, {h, empty}));
  Atom result = ir.temporary(
      b, ir.match(x, {{consPattern, ir.block(arm, made), {}}, {nilPattern, ir.block(x), {}}}));
  Function* f = ir.function({x}, ir.block(b, result));
  f->generics = list->generics;
  ir.define("f", f);
  CHECK(body(ir) == "type List[A] {\n  Cons(A, List[A]),\n  Nil,\n}\n\n"
                    "type Never {\n  \n}\n\n"
                    "def @f[A](%x: List[A]) {\n"
                    "  match (%x) {\n"
                    "    Cons(%h, _) => {\n"
                    "      %0 = Nil;\n"
                    "      Cons(%h, %0)\n"
                    "    },\n"
                    "    Nil => {\n"
                    "      %x\n"
                    "    },\n"
                    "  }\n"
                    "}");
}

TEST_CASE("the prelude's definitions are left out", "[print]") {
  IrBuilder ir;
  ir.define("id", ir.function({}, ir.block(ir.integer(1))));
  ir.define("main", ir.function({}, ir.block(ir.integer(2))));
  ir.module.preludeGlobals = 1;
  CHECK(body(ir) == "def @main() {\n  2\n}");
}

TEST_CASE("comments with types", "[print]") {
  IrBuilder ir;
  const Type* int32 = ir.types.scalar(runtime::Int32);
  const Type* pair = ir.types.tuple(std::vector<const Type*>{int32, int32});
  const Var* x = ir.parameter("x");
  const Var* y = ir.parameter("y");
  ir.typing.setType(*x, int32);
  ir.typing.setType(*y, int32);
  Bindings b;
  Function* literal = ir.function({y}, ir.block(y));
  ir.typing.setResult(*literal, int32);
  std::vector<const Type*> parameters{int32};
  Atom f = ir.let(b, "f", literal);
  ir.typing.setType(static_cast<const Var&>(*f), ir.types.function(parameters, int32));
  Atom p = ir.temporary(b, ir.tuple({x, ir.integer(1)}), pair);
  Atom q = ir.temporary(b, ir.project(p, 0), int32);
  Atom unknown = ir.temporary(b, ir.call("negative", {q}), ir.types.unknown(0));
  Atom r = ir.temporary(b, ir.call(f, {unknown}), int32);
  Function* main = ir.function({x}, ir.block(b, r));
  ir.typing.setResult(*main, int32);
  ir.define("main", main);
  CHECK(body(ir, true) == "def @main(%x: int32 /* ty=int32 */) -> int32 {\n"
                          "  let %f: fn (int32) -> int32 /* ty=fn (int32) -> int32 */ = "
                          "fn (%y: int32 /* ty=int32 */) -> int32 {\n"
                          "    %y\n"
                          "  } /* ty=fn (int32) -> int32 */;\n"
                          "  %0 = (%x, 1 /* ty=int32 */) /* ty=(int32, int32) */;\n"
                          "  %1 = %0.0 /* ty=int32 */;\n"
                          "  %2 = negative(%1);\n"
                          "  %f(%2) /* ty=int32 */\n"
                          "}");
}

TEST_CASE("one definition and one expression for tools", "[print]") {
  IrBuilder ir;
  const Var* x = ir.parameter("x");
  Bindings b;
  const Expr* call = ir.call("negative", {x});
  const Global* f = ir.define("f", ir.function({x}, ir.block(b, ir.temporary(b, call))));
  CHECK(printExpr(ir.module, *call, testOperators()).text == "free_var %x;\nnegative(%x)\n");
  CHECK(printGlobal(ir.module, *f, testOperators()).text == "def @f(%x) {\n  negative(%x)\n}\n");
}

TEST_CASE("a chain of a million temporaries", "[print]") {
  constexpr int length = 1000000;
  IrBuilder ir;
  const Var* x = ir.parameter("x");
  Bindings b;
  Atom last = x;
  for (int i = 0; i < length; ++i)
    last = ir.temporary(b, ir.call("add", {last, last}));
  ir.define("main", ir.function({x}, ir.block(b, last)));
  std::string text = body(ir);
  CHECK(std::ranges::count(text, '\n') == length + 1);
  CHECK(text.ends_with("  %999998 = add(%999997, %999997);\n  add(%999998, %999998)\n}"));
}

TEST_CASE("a chain of conditions, and a deep nest of functions", "[print]") {
  IrBuilder ir;
  Bindings b;
  Atom last = ir.constant(runtime::Bool, 1);
  for (int i = 0; i < 100000; ++i)
    last = ir.temporary(b, ir.branch(last, ir.block(last), ir.block(last)));
  ir.setExpression(b, last);
  CHECK(body(ir).ends_with("%99998 = if (%99997) {\n  %99997\n} else {\n  %99997\n};\n"
                           "if (%99998) {\n  %99998\n} else {\n  %99998\n}"));

  IrBuilder deep;
  const Block* inner = deep.block(deep.integer(1));
  for (int i = 0; i < 4000; ++i) {
    Bindings outer;
    Atom f = deep.let(outer, "f", deep.function({}, inner));
    inner = deep.block(outer, f);
  }
  deep.define("main", deep.function({}, inner));
  std::string text = body(deep);
  CHECK(text.find("\n" + std::string(8002, ' ') + "1\n") != std::string::npos);
}
