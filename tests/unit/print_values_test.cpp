// The printer's values, on IR built by hand: literals, attributes, types, and what goes to the
// metadata.
#include "lang/print/print.h"

#include "ir_builder.h"
#include "lang/print/literals.h"
#include "runtime/half.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

using namespace testing_ir;
using printing::floatLiteral;

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

TEST_CASE("literals", "[print]") {
  IrBuilder ir;
  using namespace runtime;
  auto text = [&](DType dtype, uint64_t bits) {
    return printExpr(ir.module, *ir.constant(dtype, bits), testOperators()).text;
  };
  auto single = [&](float value) { return text(Float32, std::bit_cast<uint32_t>(value)); };
  CHECK(single(1.0f) == "1f\n");
  CHECK(single(-0.0f) == "-0f\n");
  CHECK(single(0.5f) == "0.5f\n");
  CHECK(single(1e-5f) == "1e-05f\n");
  CHECK(single(2e-5f) == "2e-05f\n");
  CHECK(single(1e10f) == "1e+10f\n");
  CHECK(single(0.707107f) == "0.707107f\n");
  CHECK(single(0.123456789f) == "0.12345679f\n");
  CHECK(single(16777217.0f) == "16777216f\n");
  CHECK(single(std::numeric_limits<float>::infinity()) == "inff\n");
  CHECK(single(-std::numeric_limits<float>::infinity()) == "-inff\n");
  CHECK(single(std::numeric_limits<float>::quiet_NaN()) == "nanf\n");
  CHECK(text(Float16, Half(2.5f).bits) == "2.5f16\n");
  CHECK(text(Float16, 0x7C00) == "inff16\n");
  CHECK(text(Float64, std::bit_cast<uint64_t>(3.0)) == "3f64\n");
  CHECK(text(Float64, std::bit_cast<uint64_t>(3.14159265358979)) == "3.14159265358979f64\n");
  CHECK(text(Int16, 0xFFFD) == "-3i16\n");
  CHECK(text(Int32, 0xFFFFFFF9) == "-7\n");
  CHECK(text(Int64, uint64_t(1) << 63) == "-9223372036854775808i64\n");
  CHECK(text(Bool, 0) == "False\n");
  CHECK(text(UInt8, 3) == "meta[relay.Constant][0]\n");
}

TEST_CASE("floats read back exactly", "[print]") {
  uint32_t state = 12345;
  for (int i = 0; i < 20000; ++i) {
    state = state * 1664525u + 1013904223u;
    float value = std::bit_cast<float>(state);
    if (!std::isfinite(value))
      continue;
    std::string text = floatLiteral(double(value), 32);
    double read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    CHECK(std::bit_cast<uint32_t>(float(read)) == state);
    runtime::Half half;
    half.bits = uint16_t(state);
    std::string halfText = floatLiteral(double(float(half)), 16);
    std::from_chars(halfText.data(), halfText.data() + halfText.size(), read);
    if (std::isfinite(float(half)))
      CHECK(runtime::Half(float(read)).bits == half.bits);
  }
}

TEST_CASE("attributes of operators", "[print]") {
  IrBuilder ir;
  std::vector<AttributeValue> strides{intAttribute(2), intAttribute(2, 64)};
  std::vector<AttributeValue> same{intAttribute(1), intAttribute(1)};
  Bindings b;
  Atom x = ir.integer(0);
  Atom soft = ir.temporary(b, ir.call("nn.softmax", {x}, {intAttribute(-1)}));
  Atom first = ir.temporary(
      b, ir.call("conv", {soft},
                 {listAttribute(strides), intAttribute(3), floatAttribute(0.001),
                  boolAttribute(true), stringAttribute("a\"\\\n\x7f"), intAttribute(4, 64)}));
  Atom second = ir.temporary(
      b, ir.call("conv", {first},
                 {listAttribute(same), AttributeValue{}, intAttribute(2), boolAttribute(false),
                  stringAttribute("NCHW"), listAttribute(strides)}));
  Atom scan = ir.temporary(b, ir.call("cumsum", {second}, {intAttribute(0)}));
  ir.setExpression(b, scan);
  CHECK(body(ir) == "%0 = nn.softmax(0);\n"
                    "%1 = conv(%0, strides=[2, 2i64], channels=3, epsilon=0.001f, ceil_mode=True, "
                    "layout=\"a\\\"\\\\\\n\\x7F\", sections=4);\n"
                    "%2 = conv(%1, epsilon=2f, sections=[2, 2]);\n"
                    "cumsum(%2, axis=0, attrs_type_key=\"relay.attrs.ScanopAttrs\")");
}

TEST_CASE("attributes of functions", "[print]") {
  IrBuilder ir;
  const Var* x = ir.parameter("x");
  std::vector<AttributeValue> list{intAttribute(1), floatAttribute(1e-5), stringAttribute("a")};
  AttributeValue half = floatAttribute(0.1), global;
  half.width = 16;
  global.kind = AttributeValueKind::Expr;
  global.expr = ir.define("g", nullptr);
  ir.define("f", ir.function({x}, ir.block(x),
                             {{"virtual_device", {}},
                              {"Primitive", intAttribute(1)},
                              {"Flag", boolAttribute(true)},
                              {"l", listAttribute(list)},
                              {"h", half},
                              {"big", floatAttribute(1e300)},
                              {"exact", floatAttribute(0.123456789012)},
                              {"g", global}}));
  CHECK(body(ir) == "def @f(%x, Primitive=1, Flag=1, l=[1, 1e-05f, \"a\"], h=0.1f16, "
                    "big=1e+300f64, exact=0.123456789012f, g=@g, virtual_device=None) {\n  %x\n}");
}

TEST_CASE("types as text", "[print]") {
  TypeContext types;
  const Dim* n = types.symbol("n");
  const Dim* m = types.symbol("m");
  const Type* int8 = types.scalar(runtime::Int8);
  CHECK(typeText(int8) == "int8");
  CHECK(typeText(types.tensor({types.constant(5)}, runtime::Int8)) == "Tensor[(5), int8]");
  const Dim* extents[] = {types.constant(2), types.any(), n};
  CHECK(typeText(types.tensor(extents, runtime::Float32)) == "Tensor[(2, ?, n), float32]");
  CHECK(typeText(types.tensor(extents, runtime::Float32, true)) == "Tensor[(2i64, ?, n), float32]");
  CHECK(typeText(types.tensor({types.constant(2), types.constant(int64_t(1) << 31)},
                              int8->dtype)) == "Tensor[(2, 2147483648i64), int8]");
  CHECK(dimText(types.add(types.multiply(n, types.constant(2)), types.constant(1))) == "2 * n + 1");
  CHECK(dimText(types.subtract(types.subtract(m, n), types.constant(3))) == "m - n - 3");
  CHECK(dimText(types.subtract(types.constant(1), n)) == "1 - n");
  CHECK(typeText(types.tuple({})) == "()");
  CHECK(typeText(types.tuple(Types(&int8, 1))) == "(int8,)");
  CHECK(typeText(types.reference(int8)) == "ref(int8)");
  TypeParameter a{"A"};
  const TypeParameter* generic = &a;
  const Type* variable = types.variable(&a);
  const Type* identity = types.function(Types(&variable, 1), variable, std::span(&generic, 1));
  CHECK(typeText(identity) == "fn [A](A) -> A");
  std::vector<const Type*> two{int8, identity};
  CHECK(typeText(types.function(two, int8)) == "fn (int8, fn [A](A) -> A) -> int8");
  TypeDefinition nat{"nat", {}};
  CHECK(typeText(types.data(&nat, {})) == "nat[]");
  CHECK(typeText(types.unknown(3)) == "_");
}

TEST_CASE("a type that is exponentially long is left out", "[print]") {
  IrBuilder ir;
  const Type* type = ir.types.scalar(runtime::Int32);
  for (int i = 0; i < 200; ++i)
    type = ir.types.tuple(std::vector<const Type*>{type, type});
  CHECK(typeText(type).size() < 100000);
  Bindings b;
  Atom x = ir.let(b, "x", ir.integer(1));
  ir.typing.setType(static_cast<const Var&>(*x), type);
  ir.setExpression(b, x);
  CHECK(body(ir, true) == "let %x = 1 /* ty=int32 */;\n%x");
}

TEST_CASE("constants without a literal go to the metadata", "[print]") {
  IrBuilder ir;
  const Constant* weight = ir.tensor(runtime::Float32, {2});
  const Constant* again = ir.arena.make<Constant>(Expr{ExprKind::Constant, {}}, weight->type,
                                                  uint64_t(0), weight->tensor);
  Bindings b;
  Atom sum = ir.temporary(b, ir.call("add", {weight, weight}));
  Atom other = ir.temporary(b, ir.tuple({sum, again, ir.constant(runtime::UInt8, 7)}));
  ir.setExpression(b, other);
  Printed result = printed(ir);
  CHECK(result.needsMetadata);
  CHECK(result.text.substr(header.size()) ==
        "%0 = add(meta[relay.Constant][0], meta[relay.Constant][0]);\n"
        "(%0, meta[relay.Constant][1], meta[relay.Constant][2])\n");
  REQUIRE(result.metadata.nodes.size() == 4);
  CHECK(result.metadata.nodes[0].typeKey.empty());
  CHECK(result.metadata.roots.at("relay.Constant") == std::vector<size_t>{1, 2, 3});
  REQUIRE(result.metadata.tensors.size() == 2);
  CHECK(result.metadata.tensors[0].bytes() == weight->tensor->bytes());
  CHECK(result.metadata.tensors[1].elements<uint8_t>()[0] == 7);
  CHECK(result.metadata.nodes[2].fields[0] == std::pair<std::string, std::string>{"data", "0"});
  CHECK(result.metadata.nodes[3].fields[0] == std::pair<std::string, std::string>{"data", "1"});
}

TEST_CASE("objects of the module's metadata keep their numbers", "[print]") {
  IrBuilder ir;
  MetadataTable& table = ir.module.metadata;
  table.nodes.resize(6);
  table.nodes[1] = {"Map", {}, {"relay.Constant", "VirtualDevice"}, {2, 3}, {}};
  table.nodes[2] = {"Array", {}, {}, {}, {}};
  table.nodes[3] = {"Array", {}, {}, {4}, {}};
  table.nodes[4] = {"VirtualDevice",
                    {{"device_type_int", "1"}, {"target", "0"}, {"memory_scope", "5"}},
                    {},
                    {},
                    {}};
  table.nodes[5] = {"runtime.String", {}, {}, {}, "global"};
  auto* device = ir.arena.make<AttributeValue>();
  device->kind = AttributeValueKind::Meta;
  device->meta = &table.nodes[4];
  const Var* x = ir.parameter("x");
  const_cast<Var*>(x)->device = device;
  Bindings b;
  Atom sum = ir.temporary(b, ir.call("add", {x, ir.tensor(runtime::Int8, {3})}));
  ir.define("f", ir.function({x}, ir.block(b, sum)));
  Printed result = printed(ir);
  CHECK(result.text.substr(header.size()) ==
        "def @f(%x {virtual_device=meta[VirtualDevice][0]}) {\n"
        "  add(%x, meta[relay.Constant][0])\n}\n");
  REQUIRE(result.metadata.nodes.size() == 6);
  CHECK(result.metadata.roots.at("VirtualDevice") == std::vector<size_t>{4});
  CHECK(result.metadata.roots.at("relay.Constant") == std::vector<size_t>{1});
  CHECK(result.metadata.nodes[1].typeKey == "relay.Constant");
  CHECK(result.metadata.nodes[2].typeKey.empty());
  CHECK(result.metadata.nodes[5].repr == "global");
}
