// The verifier and the walker, on IR built by hand.
#include "lang/ir/verify.h"

#include "ir_builder.h"
#include "lang/ir/walk.h"

#include <catch2/catch.hpp>

using namespace testing_ir;

namespace {

std::vector<std::string> problems(const IrBuilder& ir) {
  return verify(ir.module);
}

} // namespace

TEST_CASE("a sound module has no problems", "[verify]") {
  IrBuilder ir;
  const Var* x = ir.parameter("x");
  const Var* n = ir.parameter("n");
  const Var* loop = ir.var("loop", VarOrigin::Let);
  Bindings b, inner;
  Atom again = ir.temporary(inner, ir.call(loop, {n}));
  b.list.push_back({loop, ir.function({n}, ir.block(inner, again))});
  Atom soft = ir.temporary(b, ir.call("nn.softmax", {x}, {intAttribute(0)}));
  Atom result = ir.temporary(b, ir.branch(x, ir.block(soft), ir.block(x)));
  ir.define("main", ir.function({x}, ir.block(b, result)));
  CHECK(problems(ir) == std::vector<std::string>{});
}

TEST_CASE("variables out of scope", "[verify]") {
  IrBuilder ir;
  const Var* x = ir.parameter("x");
  Bindings b, then;
  Atom local = ir.let(then, "y", ir.integer(1));
  ir.let(b, "r", ir.branch(x, ir.block(then, local), ir.block(local)));
  Atom self = ir.var("z", VarOrigin::Let);
  b.list.push_back({static_cast<const Var*>(self), self});
  ir.define("main", ir.function({x}, ir.block(b, x)));
  ir.define("other", ir.function({}, ir.block(x)));
  CHECK(problems(ir) == std::vector<std::string>{"in `@main`: `%y` is used outside of its scope",
                                                 "in `@main`: `%z` is used before it is bound",
                                                 "in `@other`: `%x` is used outside of its scope"});
}

TEST_CASE("faults of form", "[verify]") {
  IrBuilder ir;
  const Var* x = ir.parameter("x");
  Bindings b;
  b.list.push_back({x, ir.integer(1)});
  Expr* call = ir.call("add", {x, x});
  ir.let(b, "n", ir.call("negative", {call}));
  ir.let(b, "s", ir.call("nn.softmax", {x}));
  ir.let(b, "c", ir.call("conv", {x}, {intAttribute(1)}));
  Function* f = ir.function({x}, ir.block(b, nullptr));
  f->number = 9;
  ir.define("f", f);
  CHECK(problems(ir) ==
        std::vector<std::string>{
            "in `@f`: a function has number 9 beyond those of the module",
            "in `@f`: `%x` is bound in a place that its origin does not allow",
            "in `@f`: `%x` is bound twice", "in `@f`: an operand is no atom",
            "in `@f`: a call of `nn.softmax` has 0 attribute values for 1 attributes",
            "in `@f`: a call of `conv` has 1 attribute values for 6 attributes",
            "in `@f`: an operand is missing"});
}

TEST_CASE("free variables in the order of use", "[walk]") {
  IrBuilder ir;
  const Var* a = ir.parameter("a");
  const Var* p = ir.parameter("p");
  const Var* q = ir.parameter("q");
  const Var* bound = ir.var("bound", VarOrigin::Pattern);
  auto* pattern = ir.arena.make<Pattern>(PatternKind::Var, SourceRange{}, bound);
  Bindings b, arm;
  Atom sum = ir.temporary(arm, ir.call("add", {bound, q}));
  Atom m = ir.temporary(b, ir.match(p, {{pattern, ir.block(arm, sum), {}}}));
  Atom t = ir.temporary(b, ir.tuple({a, m, q, p}));
  const Function* f = ir.function({a}, ir.block(b, t));
  Bindings outer;
  ir.define("main", ir.function({p, q}, ir.block(outer, ir.temporary(outer, f))));
  CHECK(freeVariables(ir.module).of[f->number] == std::vector<const Var*>{p, q});
}

TEST_CASE("the walk goes in the order of evaluation", "[walk]") {
  IrBuilder ir;
  const Var* x = ir.parameter("x");
  Bindings b, then;
  Atom inner = ir.let(then, "inner", x);
  Atom choice = ir.let(b, "choice", ir.branch(x, ir.block(then, inner), ir.block(x)));
  Atom last = ir.let(b, "last", ir.call("negative", {choice}));
  ir.define("main", ir.function({x}, ir.block(b, last)));
  std::string order;
  walk(
      ir.module, [&](const Binding& binding) { order += std::string(binding.var->name) + "= "; },
      [&](const Operand& operand) {
        if (const auto* var = operand.value->as<Var>())
          order += std::string(var->name) + " ";
      });
  CHECK(order == "choice= x inner= x inner x last= choice last ");
}
