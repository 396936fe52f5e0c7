// Copies, equality up to names, and rewriting, on all programs at hand and on IR built by hand.
#include "lang/ir/copy.h"

#include "driver/session/session.h"
#include "ir_builder.h"
#include "lang/ir/rewrite.h"
#include "lang/ir/verify.h"
#include "lang/ir/walk.h"
#include "lang/print/print.h"
#include "program_texts.h"
#include "stdlib/ops.h"
#include "tests/harness/alpha_equal.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using harness::alphaEqual;
using namespace lang;
using testing_ir::testOperators;

namespace {

using Problems = std::vector<std::string>;

struct Fixture {
  TypeContext types;
  Module module{types};
  Builder make{module, testOperators()};
};

std::string printed(const Module& module) {
  return printModule(module, stdlib::operatorTable()).text;
}

/// A module from a text without its header.
class Text {
public:
  explicit Text(const std::string& text) {
    auto loaded =
        session_.loadText("test", "#[version = \"0.0.5\"]\n" + text, driver::Stage::Resolved);
    REQUIRE(loaded);
    REQUIRE(loaded->isGood());
    module_ = std::move(loaded->module);
  }

  const Module& module() const { return *module_; }

private:
  driver::Session session_{stdlib::operatorTable()};
  std::unique_ptr<Module> module_;
};

} // namespace

TEST_CASE("a copied module is the same program in its own memory", "[copy][corpus]") {
  size_t count = 0;
  for (const auto& path : tests::programFiles()) {
    INFO(path.string());
    driver::Session session(stdlib::operatorTable());
    auto program = session.load(path.string(), driver::Stage::Resolved);
    REQUIRE(program);
    if (!program->isGood())
      continue;
    ++count;
    std::unique_ptr<Module> copy = copyModule(*program->module);
    CHECK(verify(*copy) == Problems{});
    CHECK(alphaEqual(*program->module, *copy));
    CHECK(copy->varCount <= program->module->varCount);
    Printed before = printModule(*program->module, session.operators());
    // Nothing of the copy lies in the original.
    program->module = nullptr;
    Printed after = printModule(*copy, session.operators());
    CHECK(before.text == after.text);
    CHECK(before.metadata.nodes.size() == after.metadata.nodes.size());
    CHECK(alphaEqual(*copy, *copyModule(*copy)));
  }
  CHECK(count > 60);
}

TEST_CASE("programs that differ are not equal", "[copy]") {
  const std::string base = "type Box[A] { Box(A) }\n"
                           "def @f(%x: Tensor[(n), float32], %b: Box[int32]) {\n"
                           "  let %y = %x + 1f;\n"
                           "  let %g = fn [A](%z: A) -> A { %z };\n"
                           "  let %c = ref(2);\n"
                           "  %0 = softmax_input(%y);\n"
                           "  if (match (%b) { Box(%k) => %k > 1, _ => True }) { %0 } else { %y }\n"
                           "}\n";
  auto text = [&](std::string from, std::string to) {
    std::string changed = base;
    if (size_t at = changed.find(from); !from.empty()) {
      REQUIRE(at != std::string::npos);
      changed.replace(at, from.size(), to);
    }
    for (std::string_view call : {"softmax_input(%y)"})
      if (size_t at = changed.find(call); at != std::string::npos)
        changed.replace(at, call.size(), "nn.softmax(%y, axis=0)");
    return changed;
  };
  auto isEqual = [&](std::string from, std::string to) {
    Text left(text("", "")), right(text(from, to));
    return alphaEqual(left.module(), right.module());
  };
  CHECK(isEqual("", ""));
  CHECK(isEqual("[A](%z: A) -> A { %z }", "[C](%q: C) -> C { %q }"));
  CHECK(isEqual("let %c = ref(2)", "let %other = ref(2)"));
  CHECK_FALSE(isEqual("1f", "2f"));
  CHECK_FALSE(isEqual("1f", "1"));
  CHECK_FALSE(isEqual("%x + 1f", "1f + %x"));
  CHECK_FALSE(isEqual("%x + 1f", "%x * 1f"));
  CHECK_FALSE(isEqual("(n)", "(m)"));
  CHECK_FALSE(isEqual("float32]", "float64]"));
  CHECK_FALSE(isEqual("-> A { %z }", "{ %z }"));
  CHECK_FALSE(isEqual("_ =>", "Box(_) =>"));
  CHECK_FALSE(isEqual("let %c = ref(2);", ""));
  CHECK_FALSE(isEqual("{ %0 } else { %y }", "{ %y } else { %0 }"));
  CHECK_FALSE(isEqual("{ %0 } else { %y }", "{ %x } else { %y }"));
  CHECK_FALSE(isEqual("%0 = softmax_input(%y)", "let %a = softmax_input(%y); %0 = %a"));
  CHECK_FALSE(isEqual("softmax_input(%y)", "nn.softmax(%y, axis=-1)"));
  CHECK_FALSE(isEqual("def @f", "def @g"));
  CHECK_FALSE(isEqual("type Box[A] { Box(A) }", "type Box[A] { Box(A), None2 }"));
}

TEST_CASE("a copy in the same module renames what it binds and keeps what is free", "[copy]") {
  Fixture f;
  const Var* free = f.make.var(VarOrigin::Parameter, "free");
  const Var* other = f.make.var(VarOrigin::Parameter, "other");
  const Var* x = f.make.var(VarOrigin::Parameter, "x");
  BlockBuilder body(f.make), outer(f.make);
  Atom sum = body.let("sum", f.make.call("add", {x, free}));
  Function* original = f.make.function({x}, body.finish(body.call("multiply", {sum, other})));
  const Constant* one = f.make.integer(runtime::Int32, 1);
  Function* copy = copyFunction(f.make, *original, {{free, one}});
  Function* again = copyFunction(f.make, *original);
  CHECK(alphaEqual(*original, *again));
  CHECK_FALSE(alphaEqual(*original, *copy));
  const auto& add = *copy->body->bindings[0].value->as<Call>();
  CHECK(add.arguments[0].value == copy->parameters[0]);
  CHECK(add.arguments[1].value == one);
  CHECK(copy->body->bindings[1].value->as<Call>()->arguments[1].value == other);
  Atom all = outer.tuple({outer.bind(original), outer.bind(copy), outer.bind(again)});
  f.make.define("main", f.make.function({free, other}, outer.finish(all)));
  CHECK(verify(f.module) == Problems{});
}

TEST_CASE("type parameters of a second copy are its own", "[copy]") {
  Fixture f;
  const auto* a = f.make.arena.make<TypeParameter>("A", ParameterKind::Type);
  const Var* x = f.make.var(VarOrigin::Parameter, "x", f.types.variable(a));
  Function* original = f.make.function({x}, f.make.block(x), f.types.variable(a), {a});
  Function* first = copyFunction(f.make, *original);
  Function* second = copyFunction(f.make, *original);
  CHECK(first->generics[0] != a);
  CHECK(first->generics[0] != second->generics[0]);
  CHECK(first->resultAnnotation == f.types.variable(first->generics[0]));
  CHECK(second->parameters[0]->annotation == f.types.variable(second->generics[0]));
  CHECK(alphaEqual(*first, *second));
}

TEST_CASE("attributes that hold variables follow them", "[copy]") {
  Text text("def @f(%x: int32) { let %y = %x + 1; @f(%y, device=%y, attrs_type_key=\"k\") }");
  std::unique_ptr<Module> copy = copyModule(text.module());
  const Block& body = *copy->globals.back()->function->body;
  const auto& call = *body.bindings.back().value->as<Call>();
  REQUIRE(call.named[0].value.kind == AttributeValueKind::Expr);
  CHECK(call.named[0].value.expr == body.bindings[0].var);
}

TEST_CASE("a pass says what becomes of bindings", "[rewrite]") {
  Text text("def @main(%x: float32) {\n"
            "  let %unused = %x * 2f;\n"
            "  let %y = (let %z = %x + 1f; %z * 3f) - 4f;\n"
            "  fn (%q: float32) { let %gone = %q * 5f; %q }\n"
            "}\n");
  /// Drops products with a name, splices blocks, and adds the negative of each difference.
  struct Pass : Rewriter {
    using Rewriter::Rewriter;
    Fate enter(const Binding& binding) override {
      if (binding.value->kind == ExprKind::Block)
        return Fate::Splice;
      bool isNamed = binding.var->name == "unused" || binding.var->name == "gone";
      return isNamed ? Fate::Drop : Fate::Copy;
    }
    Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
      Atom var = Rewriter::bind(old, value, out);
      return old.var->name == "y" ? out.let("n", make.call("negative", {var})) : var;
    }
  };
  Module module(text.module().types);
  Builder make(module, stdlib::operatorTable());
  Pass(text.module(), make).module();
  CHECK(verify(module) == Problems{});
  CHECK(printed(module) == "#[version = \"0.0.5\"]\n"
                           "def @main(%x: float32) {\n"
                           "  let %z = add(%x, 1f);\n"
                           "  %0 = multiply(%z, 3f);\n"
                           "  let %y = subtract(%0, 4f);\n"
                           "  let %n = negative(%y);\n"
                           "  fn (%q: float32) {\n"
                           "    %q\n"
                           "  }\n"
                           "}\n");
}

namespace {

/// Functions inside of functions, each of which adds a number to the one inside it, applied to the
/// outermost parameter.
void nestFunctions(Fixture& f, size_t depth) {
  const Var* outermost = f.make.var(VarOrigin::Parameter, "x");
  BlockBuilder innermost(f.make);
  const Block* block = innermost.finish(innermost.call("add", {outermost, outermost}));
  for (size_t i = 0; i < depth; ++i) {
    BlockBuilder around(f.make);
    Atom function = around.bind(f.make.function({}, block));
    block = around.finish(around.call(function, {}));
  }
  f.make.define("main", f.make.function({outermost}, block));
}

} // namespace

TEST_CASE("deep programs are copied, compared and searched without recursion", "[copy]") {
  Fixture f;
  nestFunctions(f, 50'000);
  std::unique_ptr<Module> copy = copyModule(f.module);
  CHECK(alphaEqual(f.module, *copy));
  CHECK(copy->varCount == f.module.varCount);
  CHECK(freeVariables(*copy).of.size() == 50'001);
}

TEST_CASE("long chains of data types are copied without recursion", "[copy]") {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += fmt::format("type T{} {{ C{}(T{}) }}\n", i, i, i + 1);
  text += "type T20000 { End }\ndef @main() { C19999(End) }\n";
  Text chain(text);
  CHECK(alphaEqual(chain.module(), *copyModule(chain.module())));
}

TEST_CASE("free variables are found in time for the program and the answer", "[walk]") {
  for (size_t depth : {500, 1000, 2000}) {
    Fixture f;
    nestFunctions(f, depth);
    FreeVariables free = freeVariables(f.module);
    size_t found = 0;
    for (const auto& variables : free.of)
      found += variables.size();
    CHECK(found == depth);
    CHECK(free.steps < 10 * depth);
  }
}

TEST_CASE("functions beside each other share nothing of the search", "[walk]") {
  Fixture f;
  const Var* x = f.make.var(VarOrigin::Parameter, "x");
  BlockBuilder body(f.make);
  std::vector<Atom> made;
  std::vector<const Function*> functions;
  for (int i = 0; i < 3; ++i) {
    const Var* y = f.make.var(VarOrigin::Parameter, "y");
    BlockBuilder inside(f.make), innermost(f.make);
    const Function* inner =
        f.make.function({}, innermost.finish(innermost.call("add", {x, i == 1 ? x : y})));
    functions.push_back(inner);
    functions.push_back(f.make.function({y}, inside.finish(inside.bind(inner))));
    made.push_back(body.bind(functions.back()));
  }
  f.make.define("main", f.make.function({x}, body.finish(body.tuple(made))));
  FreeVariables free = freeVariables(f.module);
  for (size_t i = 0; i < 6; ++i) {
    size_t expected = i % 2 == 0 && i != 2 ? 2 : 1;
    CHECK(free.of[functions[i]->number].size() == expected);
    CHECK(free.of[functions[i]->number][0] == x);
  }
}
