// Simplification rules of operators: each does what its examples say, and no rule changes a value,
// on its examples and on random calls with other calls, fills and equal operands inside.
#include "driver/session/session.h"
#include "interp/interpret.h"
#include "interp/reference.h"
#include "lang/calls/same_value.h"
#include "lang/ir/builder.h"
#include "lang/op/leaves.h"
#include "lang/print/print.h"
#include "stdlib/ops.h"
#include "tests/harness/alpha_equal.h"
#include "tests/harness/check_types.h"
#include "tests/harness/operand_data.h"
#include "tests/harness/samples.h"
#include "tests/harness/values.h"
#include "transform/run_passes.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using harness::alphaEqual;
using namespace lang;
using runtime::Value;
using transform::TypedModule;

namespace {

/// The module with all types declared, simplified if asked for.
TypedModule declared(const Module& module, const Typing& typing, bool simplifies) {
  const transform::PassRow* pass = transform::findPass("simplify");
  auto result = transform::runPasses(
      module, typing, std::span(&pass, simplifies ? 1 : 0),
      {.operators = stdlib::operatorTable(), .check = harness::checkTypes, .verify = true});
  REQUIRE(result);
  return std::move(*result);
}

std::string textOf(const Module& module) {
  return printModule(module, stdlib::operatorTable()).text;
}

/// Random arguments of a kind, of types over numbers.
std::vector<Value> argumentsOf(Types parameters, harness::Data data, uint64_t seed) {
  harness::Random random(seed);
  std::vector<Value> arguments;
  for (const runtime::Tensor& leaf : harness::operandLeaves(parameters, data, random))
    arguments.push_back(runtime::tensorValue(leaf));
  return arguments;
}

/// The types of the parameters of `@main`, with 2 for sizes that are left open.
std::vector<const Type*> parameterTypes(TypeContext& types, const TypedModule& program) {
  std::vector<const Type*> result;
  for (const Var* parameter : program.module->find("main")->function->parameters) {
    std::vector<const Dim*> shape;
    for (const Dim* dim : program.typing.of(*parameter)->shape)
      shape.push_back(dim->isConstant() ? dim : types.constant(2));
    result.push_back(types.tensor(shape, program.typing.of(*parameter)->dtype));
  }
  return result;
}

std::optional<Value> valueOf(const TypedModule& program, std::vector<Value> arguments) {
  static const interp::Options options{.engine = interp::referenceEngine()};
  auto result = interp::interpret(*program.module, program.typing, stdlib::operatorTable(),
                                  *program.module->find("main"), std::move(arguments), options);
  auto* value = std::get_if<Value>(&result);
  return value ? std::optional(*value) : std::nullopt;
}

/// Checks that two programs have the same value wherever the first one has a value.
void demandSameValues(Types parameters, const TypedModule& before, const TypedModule& after,
                      uint64_t seed) {
  for (harness::Data data : harness::allData) {
    auto arguments = argumentsOf(parameters, data, seed);
    auto value = valueOf(before, arguments);
    if (!value)
      continue;
    INFO("data " << int(data) << "\n" << textOf(*before.module) << textOf(*after.module));
    auto other = valueOf(after, arguments);
    REQUIRE(other);
    CHECK(sameNumbers(*value, *other));
  }
}

/// A function of the variables that examples speak of.
std::string exampleText(std::string_view expr) {
  return fmt::format("#[version = \"0.0.5\"]\n"
                     "def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32], "
                     "%i: Tensor[(2, 3), int32], %t: Tensor[(4, 2, 3), float32], "
                     "%n: Tensor[(n, 3), float32]) {{\n  {}\n}}\n",
                     expr);
}

TypedModule example(driver::Session& session, std::string_view expr, bool simplifies) {
  auto program = session.loadText("example", exampleText(expr));
  REQUIRE(program);
  REQUIRE(program->isGood());
  return declared(*program->module, program->typing, simplifies);
}

} // namespace

TEST_CASE("simplification rules do what their examples say") {
  size_t count = 0;
  for (const OperatorRow* row : stdlib::operatorTable().all()) {
    if (!row->simplify.rewrite)
      continue;
    INFO(row->name);
    ++count;
    CHECK_FALSE(row->simplify.examples.empty());
    for (const SimplifyExample& each : row->simplify.examples) {
      INFO(each.expr);
      driver::Session session(stdlib::operatorTable());
      TypedModule before = example(session, each.expr, false);
      TypedModule after = example(session, each.expr, true);
      TypedModule wanted = example(session, each.simpler, false);
      CHECK(textOf(*after.module) == textOf(*wanted.module));
      CHECK(textOf(*declared(*after.module, after.typing, true).module) == textOf(*after.module));
      demandSameValues(parameterTypes(session.types(), before), before, after, count);
    }
  }
  CHECK(count > 20);
}

namespace {

bool isWritable(const harness::OperatorSample& sample) {
  std::vector<const Type*> leaves;
  for (const Type* type : sample.operands)
    if (!appendTensors(type, leaves))
      return false;
  auto isKnown = [](const Type* leaf) {
    return leaf->dtype.isComputable() &&
           std::ranges::all_of(leaf->shape, [](const Dim* dim) { return dim->isConstant(); });
  };
  return std::ranges::all_of(leaves, isKnown);
}

/// What becomes of the sizes of parameters: equal ones get one name, or some of them are `?`.
enum class Sizes : uint8_t { Numbers, Names, Open };

/// A program around one random call, whose operands are parameters, other calls, and fills.
class RandomCall {
public:
  RandomCall(TypeContext& types, const harness::SamplePool& pool, harness::Random& random)
      : module(types), pool_(pool), random_(random),
        sizes_(random.pick(std::array{Sizes::Numbers, Sizes::Names, Sizes::Open})),
        make_(module, stdlib::operatorTable()), body_(make_) {}

  Module module;
  /// What the parameters get: their types over numbers.
  std::vector<const Type*> parameterTypes;

  void write(const harness::OperatorSample& sample) {
    Atom result = call(sample, 3);
    make_.define("main", make_.function(parameters_, body_.finish(result)));
  }

private:
  Atom call(const harness::OperatorSample& sample, int depth) {
    std::vector<Atom> operands;
    for (const Type* type : sample.operands)
      operands.push_back(operand(type, depth - 1));
    std::vector<Setting> settings;
    for (size_t i = 0; i < sample.attributes.rows.size(); ++i)
      settings.emplace_back(sample.attributes.rows[i].name, sample.attributes.values[i]);
    return body_.call(*sample.row, operands, settings);
  }

  Atom operand(const Type* type, int depth) {
    if (type->isTuple()) {
      std::vector<Atom> fields;
      for (const Type* part : type->parts)
        fields.push_back(operand(part, depth));
      return body_.tuple(fields);
    }
    auto makers = pool_.byOutput.find(type);
    if (depth > 0 && makers != pool_.byOutput.end() && random_.chance(60))
      if (const auto* sample = simplifiable(makers->second))
        return call(*sample, depth);
    if (type->dtype.isComputable() && random_.chance(25))
      return filled(type);
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (parameterTypes[i] == type && random_.chance(60))
        return parameters_[i];
    parameters_.push_back(make_.var(VarOrigin::Parameter, "p", declared(type)));
    parameterTypes.push_back(type);
    return parameters_.back();
  }

  const Type* declared(const Type* type) {
    std::vector<const Dim*> shape;
    for (const Dim* dim : type->shape) {
      bool isNamed = sizes_ == Sizes::Names && dim->value > 1;
      bool isOpen = sizes_ == Sizes::Open && random_.chance(40);
      shape.push_back(isNamed  ? module.types.symbol(fmt::format("n{}", dim->value))
                      : isOpen ? module.types.any()
                               : dim);
    }
    return module.types.tensor(shape, type->dtype);
  }

  /// Mostly one that has a rule.
  const harness::OperatorSample*
  simplifiable(const std::vector<const harness::OperatorSample*>& samples) {
    for (int i = 0; i < 20; ++i) {
      const harness::OperatorSample* sample = random_.pick(samples);
      bool isWanted = sample->row->simplify.rewrite || random_.chance(10);
      if (isWanted && sample->row->action == Action::Compute && isWritable(*sample))
        return sample;
    }
    return nullptr;
  }

  Atom filled(const Type* type) {
    double number = double(random_.integer(-1, 1));
    const Constant* scalar = make_.scalar(type->dtype, number);
    if (type->shape.empty())
      return scalar;
    runtime::Tensor one = constantTensor(*scalar), tensor(type->dtype, shapeOf(type));
    for (int64_t i = 0; i < tensor.size(); ++i)
      std::memcpy(tensor.bytes() + size_t(i) * one.byteSize(), one.bytes(), one.byteSize());
    return make_.tensor(std::move(tensor));
  }

  const harness::SamplePool& pool_;
  harness::Random& random_;
  Sizes sizes_;
  Builder make_;
  BlockBuilder body_;
  std::vector<const Var*> parameters_;
};

} // namespace

TEST_CASE("no simplification rule changes the value of a random call") {
  TypeContext types;
  harness::Reader reader(types);
  harness::SamplePool pool;
  uint64_t seed = harness::mixSeed(31, Catch::rngSeed());
  harness::fillSamples(pool, reader, seed, {.perRow = 40});
  size_t simplified = 0, written = 0;
  for (size_t at = 0; at < pool.byRow.size(); ++at)
    for (size_t i = 0; i < 5 * pool.byRow[at].size(); ++i) {
      const harness::OperatorSample& sample = *pool.byRow[at][i / 5];
      if (!sample.row->simplify.rewrite || !isWritable(sample))
        continue;
      INFO(sample.row->name << " " << i);
      harness::Random random(harness::mixSeed(seed, 1000 * at + i));
      RandomCall call(types, pool, random);
      call.write(sample);
      Diagnostics diagnostics;
      Typing typing = harness::checkTypes(call.module, diagnostics);
      if (diagnostics.hasErrors())
        continue;
      TypedModule before = declared(call.module, typing, false);
      TypedModule after = declared(call.module, typing, true);
      ++written;
      if (alphaEqual(*before.module, *after.module))
        continue;
      ++simplified;
      demandSameValues(call.parameterTypes, before, after, i);
    }
  CAPTURE(simplified, written);
  CHECK(simplified > 1000);
}
