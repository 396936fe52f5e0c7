// Core IR by the builder: it verifies, prints and carries what reading the same text would.
#include "lang/ir/builder.h"

#include "ir_builder.h"
#include "lang/ir/verify.h"
#include "lang/print/print.h"

#include <catch2/catch.hpp>

using namespace lang;
using testing_ir::testOperators;

namespace {

struct Fixture {
  TypeContext types;
  Module module{types};
  Builder make{module, testOperators()};

  std::string text() {
    CHECK(verify(module) == std::vector<std::string>{});
    return printModule(module, testOperators(), {}).text;
  }
};

} // namespace

TEST_CASE("a function, written binding by binding", "[builder]") {
  Fixture f;
  const Type* float32 = f.types.scalar(runtime::Float32);
  const Var* x = f.make.var(VarOrigin::Parameter, "x", float32);
  BlockBuilder body(f.make);
  Atom square = body.let("square", f.make.call("multiply", {x, x}));
  Atom sum = body.call("add", {square, f.make.scalar(runtime::Float32, 0.5)});
  Atom pair = body.tuple({sum, body.call("nn.softmax", {sum}, {{"axis", 0}})});
  f.make.define("main", f.make.function({x}, body.finish(body.project(pair, 1)), float32));
  CHECK(f.text() == "#[version = \"0.0.5\"]\n"
                    "def @main(%x: float32) -> float32 {\n"
                    "  let %square = multiply(%x, %x);\n"
                    "  %0 = add(%square, 0.5f);\n"
                    "  %1 = nn.softmax(%0, axis=0);\n"
                    "  %2 = (%0, %1);\n"
                    "  %2.1\n"
                    "}\n");
}

TEST_CASE("branches, matches, references and recursion", "[builder]") {
  Fixture f;
  Builder& make = f.make;
  Global* loop = make.declare("loop");
  const Var* n = make.var(VarOrigin::Parameter, "n");
  BlockBuilder body(make), again(make), arm(make);
  const Var* part = make.var(VarOrigin::Pattern, "part");
  Atom cell = body.let("cell", make.refNew(n));
  body.let("", make.refWrite(cell, make.integer(runtime::Int32, -3)));
  Atom next = again.call(loop, {again.bind(make.refRead(cell))});
  Atom half = body.bind(make.branch(n, again.finish(next), make.block(n)));
  Atom both = body.tuple({half, half});
  Atom result = body.bind(
      make.match(both, {make.arm(make.tuplePattern({make.varPattern(part), make.anyPattern()}),
                                 arm.finish(arm.call("negative", {part})))}));
  make.define(loop, make.function({n}, body.finish(result)));
  CHECK(f.text() == "#[version = \"0.0.5\"]\n"
                    "def @loop(%n) {\n"
                    "  let %cell = ref(%n);\n"
                    "  let %v = ref_write(%cell, -3);\n"
                    "  %1 = if (%n) {\n"
                    "    %0 = ref_read(%cell);\n"
                    "    @loop(%0)\n"
                    "  } else {\n"
                    "    %n\n"
                    "  };\n"
                    "  %2 = (%1, %1);\n"
                    "  match (%2) {\n"
                    "    (%part, _) => {\n"
                    "      negative(%part)\n"
                    "    },\n"
                    "  }\n"
                    "}\n");
}

TEST_CASE("calls of operators carry every attribute", "[builder]") {
  Fixture f;
  Atom x = f.make.scalar(runtime::Float32, 1);
  std::vector<int64_t> strides{2, 3};
  const Call* call = f.make.call("conv", {x},
                                 {{"sections", f.make.integers(strides)},
                                  {"epsilon", 2},
                                  {"ceil_mode", true},
                                  {"layout", std::string("NHWC")},
                                  {"channels", int64_t(1) << 40}});
  const Attributes& attributes = *call->attributes;
  REQUIRE(attributes.values.size() == 6);
  CHECK(attributes.integers("strides") == std::vector<int64_t>{1, 1});
  CHECK(attributes.integers("sections") == strides);
  CHECK(attributes.get("epsilon") == floatAttribute(2));
  CHECK(attributes.get("ceil_mode") == boolAttribute(true));
  CHECK(attributes.text("layout") == "NHWC");
  CHECK(attributes.get("channels") == intAttribute(int64_t(1) << 40, 64));
  CHECK_THROWS_AS(f.make.call("conv", {x}), std::logic_error);
  CHECK_THROWS_AS(f.make.call("nn.softmax", {x}, {{"axes", 1}}), std::logic_error);
  CHECK_THROWS_AS(f.make.call("nn.softmax", {x}, {{"axis", "one"}}), std::logic_error);
  CHECK_THROWS_AS(f.make.call("frobnicate", {x}), std::logic_error);
}

TEST_CASE("scalars of every type", "[builder]") {
  Fixture f;
  auto text = [&](const Constant* constant) {
    return printExpr(f.module, *constant, testOperators()).text;
  };
  CHECK(text(f.make.scalar(runtime::Float16, 2.5)) == "2.5f16\n");
  CHECK(text(f.make.scalar(runtime::Float64, 0.1)) == "0.1f64\n");
  CHECK(text(f.make.scalar(runtime::Int16, -7)) == "-7i16\n");
  CHECK(text(f.make.scalar(runtime::Bool, 1)) == "True\n");
  CHECK(text(f.make.integer(runtime::Int64, INT64_MIN)) == "-9223372036854775808i64\n");
  CHECK(f.make.scalar(runtime::UInt64, 18446744073709549568.0)->bits == 0xFFFFFFFFFFFFF800u);
  CHECK(f.make.scalar(runtime::BFloat16, 1)->bits == 0x3F80);
  CHECK(f.make.scalar(runtime::Int32, -1)->bits == 0xFFFFFFFFu);
}

TEST_CASE("what the builder makes stands at its range", "[builder]") {
  Fixture f;
  f.make.range = {3, 9};
  BlockBuilder body(f.make);
  const Var* x = body.call("negative", {f.make.integer(runtime::Int32, 1)});
  const Binding& binding = body.bindings()[0];
  CHECK(x->range == SourceRange{3, 9});
  CHECK(binding.place == SourceRange{3, 9});
  CHECK(binding.value->range == SourceRange{3, 9});
  CHECK(binding.value->as<Call>()->arguments[0].range == SourceRange{3, 9});
}
