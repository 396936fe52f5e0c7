// Suites over the operator table: a new row is tested by these without a line of test code.
#include "codegen/strips/compile/sized.h"
#include "driver/commands.h"
#include "driver/session/derive.h"
#include "driver/session/session.h"
#include "interp/interpret.h"
#include "interp/reference.h"
#include "lang/ir/walk.h"
#include "stdlib/gradient_reference.h"
#include "stdlib/operator_reference.h"
#include "stdlib/ops.h"
#include "tests/harness/samples.h"
#include "tests/unit/places.h"
#include "typecheck/check.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <sstream>

using namespace lang;

namespace {

using runtime::Value;
using runtime::ValueKind;

std::string findings(const driver::Program& program) {
  std::string text;
  for (const Diagnostic& diagnostic : program.diagnostics.all())
    text += diagnostic.text.plain() + "\n";
  return text;
}

/// A text as a checked program and the value of its `@main`.
struct Evaluated {
  driver::Program program;
  Value value;
};

Evaluated evaluate(driver::Session& session, std::string_view text,
                   const tensor::TensorEngine& engine = strips::stripsEngine()) {
  auto loaded = session.loadText("example", std::string(text));
  REQUIRE(loaded);
  Evaluated result{std::move(*loaded), {}};
  INFO(findings(result.program));
  REQUIRE(result.program.isGood());
  driver::Answer answer;
  REQUIRE(driver::writeOutDerivatives(session, result.program,
                                      std::array<std::string_view, 1>{"main"}, {}, {}, answer));
  auto value = interp::interpret(*result.program.module, result.program.typing, session.operators(),
                                 *result.program.module->find("main"), {}, {.engine = engine});
  if (auto* fault = std::get_if<interp::Fault>(&value))
    FAIL(fault->problem.plain());
  result.value = std::get<Value>(value);
  return result;
}

double elementOf(const runtime::Tensor& tensor, int64_t i) {
  using namespace runtime;
  DType dtype = tensor.dtype();
  if (dtype == Float32)
    return tensor.elements<float>()[size_t(i)];
  if (dtype == Float64)
    return tensor.elements<double>()[size_t(i)];
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes() + size_t(i) * dtype.bytes(), dtype.bytes());
  if (dtype.isFloat())
    return double(bits);
  if (!dtype.isSigned())
    return double(bits);
  unsigned shift = 64 - unsigned(dtype.bytes()) * 8;
  return double(int64_t(bits << shift) >> shift);
}

void compareTensors(const runtime::Tensor& left, const runtime::Tensor& right) {
  CHECK(dtypeName(left.dtype()) == dtypeName(right.dtype()));
  REQUIRE(left.shape() == right.shape());
  for (int64_t i = 0; i < left.size(); ++i) {
    double a = elementOf(left, i), b = elementOf(right, i);
    if (std::isnan(a) || std::isnan(b) || std::isinf(a) || std::isinf(b))
      CHECK(((std::isnan(a) && std::isnan(b)) || a == b));
    else
      CHECK(std::abs(a - b) <= 1e-5 * std::max(1.0, std::abs(b)));
  }
}

void compareValues(const Value& left, const Value& right) {
  REQUIRE(left.kind() == right.kind());
  if (left.kind() == ValueKind::Tensor) {
    compareTensors(left.tensor(), right.tensor());
    return;
  }
  REQUIRE(left.fields().size() == right.fields().size());
  for (size_t i = 0; i < left.fields().size(); ++i)
    compareValues(left.fields()[i], right.fields()[i]);
}

/// The static type must be that of the value; `?` stands for any extent.
void checkTypeOf(const Value& value, const Type* type) {
  if (value.kind() == ValueKind::Tuple) {
    REQUIRE(type->isTuple());
    REQUIRE(type->parts.size() == value.fields().size());
    for (size_t i = 0; i < type->parts.size(); ++i)
      checkTypeOf(value.fields()[i], type->parts[i]);
    return;
  }
  if (value.kind() == ValueKind::Constructor) {
    REQUIRE(type->kind == TypeKind::Data);
    return;
  }
  REQUIRE(value.kind() == ValueKind::Tensor);
  REQUIRE(type->isTensor());
  CHECK(dtypeName(type->dtype) == dtypeName(value.tensor().dtype()));
  REQUIRE(type->shape.size() == value.tensor().rank());
  for (size_t i = 0; i < type->shape.size(); ++i)
    if (type->shape[i]->isConstant())
      CHECK(type->shape[i]->value == value.tensor().shape()[i]);
}

/// The cotangents that a rule gives the operands of a written call.
Value gradientOf(driver::Session& session, const OperatorRow& row, const GradientExample& example) {
  auto loaded = session.loadText("example", std::string(example.expr));
  REQUIRE(loaded);
  REQUIRE(loaded->isGood());
  auto call = stdlib::writtenCall(*loaded->module, row);
  REQUIRE(call);
  GradientFunction made = gradientFunction(session.types(), session.operators(), row,
                                           call->operands, call->result, call->attributes);
  std::vector<Value> arguments;
  for (Atom atom : call->atoms)
    arguments.push_back(runtime::tensorValue(constantTensor(*atom->as<Constant>())));
  arguments.push_back(evaluate(session, example.expr).value);
  arguments.push_back(evaluate(session, example.cotangent).value);
  Diagnostics diagnostics;
  Typing typing = typecheck::checkModule(*made.module, session.operators(), diagnostics);
  REQUIRE_FALSE(diagnostics.hasErrors());
  auto value = interp::interpret(*made.module, typing, session.operators(), *made.global,
                                 std::move(arguments), {.engine = strips::stripsEngine()});
  REQUIRE(std::holds_alternative<Value>(value));
  return std::get<Value>(value);
}

} // namespace

TEST_CASE("two rows of one name are refused") {
  static constexpr OperatorRow first[] = {{.name = "abs"}, {.name = "twin"}};
  static constexpr OperatorRow second[] = {{.name = "cos"}, {.name = "sin"}, {.name = "twin"}};
  const OperatorFamily apart[] = {first, {second, 2}}, together[] = {first, second};
  CHECK(OperatorTable(apart).all().size() == 4);
  CHECK_THROWS_WITH(OperatorTable(together),
                    "two rows of the operator table are named `twin`: one in the family that "
                    "begins with `abs`, one in that with `cos`");
}

TEST_CASE("operators that compute an attribute have all else of the one that has it") {
  const lang::OperatorTable& table = stdlib::operatorTable();
  auto names = [](const auto& rows, std::string_view name) {
    return std::ranges::any_of(rows, [&](const auto& row) { return row.name == name; });
  };
  size_t count = 0;
  for (const lang::OperatorRow* row : table.all()) {
    if (row->fixed.name.empty())
      continue;
    INFO(row->name);
    const lang::OperatorRow* fixed = table.find(row->fixed.name);
    REQUIRE(fixed);
    CHECK(row->operands.size() > fixed->operands.size());
    for (const lang::OperandRow& operand : row->operands) {
      bool isOperand = names(fixed->operands, operand.name);
      CHECK(isOperand != names(fixed->attributes, operand.name));
      CHECK((isOperand || table.computing(*fixed, operand.name) == row));
    }
    ++count;
  }
  CHECK(count >= 9);
}

TEST_CASE("every operator is documented and complete") {
  for (const OperatorRow* row : stdlib::operatorTable().all()) {
    INFO(row->name);
    CHECK(row->doc.size() > 5);
    CHECK(row->relation != nullptr);
    bool computes = row->action == Action::Compute || row->action == Action::Allocate;
    CHECK(int(row->compute != nullptr) + int(bool(row->native)) == int(computes));
    CHECK_FALSE(row->examples.empty());
    CHECK((row->attributes.empty() || !row->attributesKey.empty()));
    for (const OperandRow& operand : row->operands)
      CHECK_FALSE(operand.doc.empty());
    for (const AttributeRow& attribute : row->attributes)
      CHECK_FALSE(attribute.doc.empty());
    if (const auto* none = std::get_if<NoGradient>(&row->gradient))
      CHECK(none->reason.size() > 5);
  }
}

TEST_CASE("what other libraries call an operator finds it") {
  const OperatorTable& table = stdlib::operatorTable();
  size_t count = 0;
  for (const OperatorRow* row : table.all()) {
    auto names = row->otherNames();
    for (std::string_view name : names) {
      INFO(row->name << " is called " << name);
      CHECK_FALSE(name.empty());
      CHECK(std::ranges::count(names, name) == 1);
      CHECK(table.find(name) == nullptr);
      CHECK(table.find("nn." + std::string(name)) == nullptr);
      std::string found = driver::operators(table, {.name = std::string(name)}).output;
      CHECK(("\n" + found).find("\n" + std::string(row->name) + " ") != std::string::npos);
      CHECK(stdlib::operatorReference(table, *row).find('`' + std::string(name) + '`') !=
            std::string::npos);
      ++count;
    }
  }
  CHECK(count > 100);
}

TEST_CASE("the examples of every operator hold") {
  driver::Session session(stdlib::operatorTable());
  for (const OperatorRow* row : stdlib::operatorTable().all()) {
    for (const Example& example : row->examples) {
      INFO(row->name << ": " << example.expr << " => " << example.value);
      Evaluated left = evaluate(session, example.expr);
      Evaluated right = evaluate(session, example.value);
      compareValues(left.value, right.value);
      compareValues(evaluate(session, example.expr, interp::referenceEngine()).value, right.value);
      checkTypeOf(left.value,
                  left.program.typing.result(*left.program.module->find("main")->function));
    }
  }
}

TEST_CASE("the examples of derivatives have the types of their values") {
  driver::Session session(stdlib::operatorTable());
  size_t count = 0;
  for (const OperatorRow* row : stdlib::operatorTable().all())
    for (const Example& example : row->examples) {
      if (row->derivative == Derivative::None)
        continue;
      INFO(row->name << ": " << example.expr << " => " << example.value);
      auto typeOf = [&](std::string_view text) {
        auto loaded = session.loadText("example", std::string(text), driver::Stage::Checked);
        REQUIRE(loaded);
        REQUIRE(loaded->isGood());
        return loaded->typing.result(*loaded->module->find("main")->function);
      };
      CHECK(typeText(typeOf(example.expr)) == typeText(typeOf(example.value)));
      ++count;
    }
  CHECK(count > 10);
}

TEST_CASE("gradients are what their examples say") {
  driver::Session session(stdlib::operatorTable());
  size_t count = 0;
  for (const OperatorRow* row : stdlib::operatorTable().all())
    if (const auto* rule = std::get_if<GradientRule>(&row->gradient))
      for (const GradientExample& example : rule->examples) {
        INFO(example.expr << " with " << example.cotangent << ": " << example.value);
        compareValues(gradientOf(session, *row, example), evaluate(session, example.value).value);
        ++count;
      }
  CHECK(count > 10);
}

TEST_CASE("the printed reference of operators is up to date") {
  std::ifstream file(tests::sourceFolder() / "docs/operators.md");
  std::stringstream text;
  text << file.rdbuf();
  bool isUpToDate = text.str() == stdlib::operatorReference(stdlib::operatorTable());
  INFO("run `baton operators --markdown > docs/operators.md`");
  CHECK(isUpToDate);
}
