// The program of a comparison is written with the notation of the rules themselves: forward at
// three points, the rule at the middle one, and the quotients, all under one precision.
#include "tests/harness/gradient_check.h"

#include "interp/interpret.h"
#include "interp/reference.h"
#include "lang/ir/verify.h"
#include "lang/ir/walk.h"
#include "stdlib/ops.h"
#include "stdlib/ops/gradient.h"
#include "tests/harness/draw.h"
#include "tests/harness/gradient_data.h"
#include "tests/harness/run_operator.h"
#include "tests/harness/types.h"
#include "typecheck/check.h"

#include <cmath>
#include <fmt/format.h>
#include <map>

namespace harness {

using namespace lang;
using runtime::Value;
using stdlib::operator+, stdlib::operator-, stdlib::operator*;

const GradientRule* gradientRule(const OperatorRow& row) {
  return std::get_if<GradientRule>(&row.gradient);
}

namespace {

std::vector<const Type*> leavesOf(const Type* type) {
  std::vector<const Type*> leaves;
  appendTensors(type, leaves);
  return leaves;
}

bool hasFloat(const Type* type) {
  return anyPart(type, [](const Type* part) { return part->isTensor() && part->dtype.isFloat(); });
}

/// What the checker finds wrong with a module; empty when nothing.
std::string checkedProblem(const Module& module, Typing* typing = nullptr) {
  for (const std::string& problem : verify(module))
    return "ill-formed: " + problem;
  Diagnostics diagnostics;
  Typing found = typecheck::checkModule(module, stdlib::operatorTable(), diagnostics);
  if (typing)
    *typing = std::move(found);
  for (const Diagnostic& diagnostic : diagnostics.all())
    if (diagnostic.severity() == Severity::Error)
      return "ill-typed: " + diagnostic.text;
  return "";
}

/// Runs a checked module; nothing when it faults.
std::optional<Value> runModule(const Module& module, const Typing& typing, const Global& entry,
                               std::vector<Value> arguments, unsigned digits) {
  interp::Options options{.engine = interp::referenceEngine(digits)};
  auto outcome = interp::interpret(module, typing, stdlib::operatorTable(), entry,
                                   std::move(arguments), options);
  auto* value = std::get_if<Value>(&outcome);
  return value ? std::optional(*value) : std::nullopt;
}

bool usesNative(const Module& module) {
  bool found = false;
  walk(
      module, [](const Binding&) {},
      [&](const Operand& operand) {
        const auto* op = operand.value->as<OperatorRef>();
        found |= op && op->row->native;
      });
  return found;
}

} // namespace

bool isDifferentiable(const OperatorRow& row, Types operands, const Type* output) {
  return gradientRule(row) && hasFloat(output) && std::ranges::any_of(operands, hasFloat);
}

std::string gradientTypeProblem(TypeContext& types, const OperatorRow& row, Types operands,
                                const Type* output, const Attributes& attributes) {
  try {
    return checkedProblem(
        *gradientFunction(types, stdlib::operatorTable(), row, operands, output, attributes)
             .module);
  } catch (const std::logic_error& fault) {
    return fault.what();
  }
}

namespace {

/// A parameter that holds a tensor of random numbers.
struct Point {
  Atom atom;
  const Type* type;
};

/// The module of a comparison in the making.
class Comparison {
public:
  Comparison(TypeContext& types, const OperatorSample& call, int exponent, bool isNamed)
      : module(types), call_(call), exponent_(exponent), isNamed_(isNamed),
        make_(module, stdlib::operatorTable()), body_(make_) {
    write();
  }

  Module module;
  const Global* entry = nullptr;
  /// The operands that the rule gives nothing: steps may be in them.
  std::vector<bool> isStepwise = {};

  /// Types of the parameters: the operands, a direction for each float tensor of them, and a weight
  /// for each float tensor of the result.
  std::vector<const Type*> parameterTypes() const {
    std::vector<const Type*> types;
    for (const Var* parameter : parameters_)
      types.push_back(parameter->annotation);
    return types;
  }

  size_t directionCount() const {
    size_t count = 0;
    for (const std::vector<Atom>& leaves : directions_)
      count += leaves.size() - size_t(std::ranges::count(leaves, nullptr));
    return count;
  }

private:
  const Var* parameter(const Type* type) {
    parameters_.push_back(
        make_.var(VarOrigin::Parameter, fmt::format("p{}", parameters_.size()), type));
    return parameters_.back();
  }

  /// Parameters for the float tensors inside a type; null for others.
  std::vector<Atom> floatParameters(const Type* type) {
    std::vector<Atom> made;
    for (const Type* leaf : leavesOf(type))
      made.push_back(leaf->dtype.isFloat() ? parameter(leaf) : nullptr);
    return made;
  }

  /// The step in a float type, exact under a precision: a power of two.
  Term step(GradientCall& d, runtime::DType dtype, double sign) {
    Term power = d.call("power", {d.number(dtype, 2), d.number(dtype, -exponent_)});
    return sign < 0 ? -power : power;
  }

  /// An operand moved along its direction.
  Term moved(GradientCall& d, size_t i, double sign) {
    std::vector<Term> leaves;
    for (size_t field = 0; field < directions_[i].size(); ++field) {
      Term leaf = d.operand(i).type()->isTuple() ? d.field(i, field) : d.operand(i);
      Atom direction = directions_[i][field];
      leaves.push_back(
          direction ? leaf + step(d, leaf.dtype(), sign) * Term(&d, direction, leaf.type()) : leaf);
    }
    return d.operand(i).type()->isTuple() ? d.tuple(leaves) : leaves.front();
  }

  Term asReal(GradientCall& d, const Term& total) {
    return d.call("cast", {total}, {{"dtype", "float64"}});
  }

  /// The sum of products, or of their magnitudes.
  Term product(GradientCall& d, const Term& a, const Term& b, bool isMagnitude = false) {
    Term total = isMagnitude ? stdlib::map("abs", a * b) : a * b;
    return asReal(d, total.rank() == 0 ? total : d.call("sum", {total}));
  }

  /// The weighted sum of the float tensors of a result.
  Term weighed(GradientCall& d, const Term& value, bool isMagnitude = false) {
    Term total = d.number(runtime::Float64, 0);
    for (size_t field = 0; field < weights_.size(); ++field)
      if (weights_[field]) {
        Term leaf = value.type()->isTuple() ? d.project(value, field) : value;
        total = total + product(d, leaf, Term(&d, weights_[field], leaf.type()), isMagnitude);
      }
    return total;
  }

  /// The weighted result after a move.
  Term forward(GradientCall& d, double sign) {
    std::vector<Atom> atoms;
    for (size_t i = 0; i < call_.operands.size(); ++i)
      atoms.push_back(moved(d, i, sign).atom());
    return weighed(d, Term(&d, called(atoms), call_.output));
  }

  /// The call itself; attributes are those of the sample.
  Atom called(const std::vector<Atom>& atoms) {
    return body_.call(*call_.row, atoms, std::span<const Setting>(settings_));
  }

  Term slope(GradientCall& d) {
    Term total = d.number(runtime::Float64, 0);
    for (size_t i = 0; i < directions_.size(); ++i)
      for (size_t field = 0; field < directions_[i].size(); ++field)
        if (Atom cotangent = d.cotangents()[i][field]) {
          const Type* type = leavesOf(call_.operands[i])[field];
          total =
              total + product(d, Term(&d, cotangent, type), Term(&d, directions_[i][field], type));
        }
    return total;
  }

  /// Weights are parameters, or numbers that vary with the place where only the data says how many
  /// there are, and over names.
  void weigh(GradientCall& d) {
    std::vector<const Type*> leaves = leavesOf(call_.output);
    for (size_t field = 0; field < leaves.size(); ++field) {
      const Type* type = leaves[field];
      if (!type->dtype.isFloat())
        continue;
      auto isNumber = [](const Dim* dim) { return dim->isConstant(); };
      if (!isNamed_ && std::ranges::all_of(type->shape, isNumber)) {
        weights_[field] = parameter(type);
        continue;
      }
      Term leaf = call_.output->isTuple() ? d.result(field) : d.result();
      Term places = stdlib::castTo(stdlib::placesLike(leaf), type->dtype);
      weights_[field] = stdlib::map("cos", places + 1).atom();
    }
  }

  void write() {
    for (size_t i = 0; i < call_.attributes.rows.size(); ++i)
      settings_.emplace_back(call_.attributes.rows[i].name, call_.attributes.values[i]);
    std::vector<Atom> operands;
    for (const Type* type : call_.operands)
      operands.push_back(parameter(type));
    for (const Type* type : call_.operands)
      directions_.push_back(floatParameters(type));
    Atom result = called(operands);
    weights_.resize(leavesOf(call_.output).size());
    GradientCall d(body_,
                   {call_.operands, call_.output, call_.attributes, operands, result, weights_});
    weigh(d);
    gradientRule(*call_.row)->build(d);
    for (const std::vector<Atom>& given : d.cotangents())
      isStepwise.push_back(std::ranges::all_of(given, [](Atom atom) { return !atom; }));
    Term middle = weighed(d, Term(&d, result, call_.output)), given = slope(d);
    Term before = forward(d, -1), after = forward(d, 1);
    Term perStep =
        d.call("power", {d.number(runtime::Float64, 2), d.number(runtime::Float64, exponent_)});
    Term left = (middle - before) * perStep, right = (after - middle) * perStep;
    Term error = (left + right) * d.number(runtime::Float64, 0.5) - given;
    Term size = weighed(d, Term(&d, result, call_.output), true);
    Term answer = d.tuple({error, left, right, given, size});
    entry = make_.define("main", make_.function(parameters_, body_.finish(answer.atom())));
  }

  const OperatorSample& call_;
  int exponent_;
  bool isNamed_;
  Builder make_;
  BlockBuilder body_;
  std::vector<Setting> settings_;
  std::vector<const Var*> parameters_;
  std::vector<std::vector<Atom>> directions_;
  std::vector<Atom> weights_;
};

double numberOf(const Value& value) {
  return value.tensor().elements<double>()[0];
}

/// What the quotients say of the rule's slope.
GradientVerdict judge(const Value& answer, bool isExact, bool isSingle) {
  double error = numberOf(answer.fields()[0]), left = numberOf(answer.fields()[1]);
  double right = numberOf(answer.fields()[2]), given = numberOf(answer.fields()[3]);
  double size = numberOf(answer.fields()[4]);
  bool isJump = std::max(std::abs(left), std::abs(right)) > 1e12;
  if (isJump || !std::isfinite(left) || !std::isfinite(right) || !std::isfinite(size))
    return {};
  if (!std::isfinite(given))
    return {true, false, fmt::format("the rule gives {}, not {}", given, (left + right) / 2)};
  double scale = 1 + std::abs(left) + std::abs(right) + size;
  double tolerance = scale * (isExact ? 1e-18 : 1e-6);
  if (std::abs(error) <= tolerance)
    return {true};
  bool isKink = std::abs(left - right) > scale * (isExact ? 1e-12 : 1e-4);
  // A sum over elements has no bounds at kinks of several.
  if (isKink && (!isSingle || !isExact))
    return {};
  double slack = scale * 1e-12;
  if (isKink && given >= std::min(left, right) - slack && given <= std::max(left, right) + slack)
    return {true, true};
  return {true, isKink,
          fmt::format("the rule gives {} along the direction, the differences {} and {}", given,
                      left, right)};
}

/// The call with all its floats as float64, for native functions; nothing when it is refused then.
std::optional<OperatorSample> inFloat64(TypeContext& types, const OperatorSample& call,
                                        Arena& arena) {
  OperatorSample wide = call;
  std::function<const Type*(const Type*)> widen = [&](const Type* type) {
    if (type->isTensor())
      return type->dtype.isFloat() ? types.tensor(type->shape, runtime::Float64) : type;
    std::vector<const Type*> parts;
    for (const Type* part : type->parts)
      parts.push_back(widen(part));
    return types.tuple(parts);
  };
  for (const Type*& operand : wide.operands)
    operand = widen(operand);
  std::vector<AttributeValue> values(call.attributes.values.begin(), call.attributes.values.end());
  for (size_t i = 0; i < values.size(); ++i)
    if (call.attributes.rows[i].kind == AttributeKind::DType && values[i].text.starts_with("float"))
      values[i] = stringAttribute("float64");
  wide.attributes.values = arena.copy(values);
  RelationResult answer = applyRelation(*call.row, {types, wide.operands, wide.attributes});
  if (answer.outcome != RelationResult::Outcome::Solved)
    return std::nullopt;
  wide.output = answer.output;
  return wide;
}

/// The call with names in place of some of the numbers among the extents, the same one for equal
/// numbers, if a few trials find one that the relation takes. Data fits it as it fits the call.
std::optional<OperatorSample> overNames(TypeContext& types, const OperatorSample& call,
                                        Random& random) {
  for (int trial = 0; trial < 4; ++trial) {
    OperatorSample named = call;
    std::map<const Dim*, const Dim*> names;
    for (const Type*& operand : named.operands)
      operand = changeDims(types, operand, [&](const Dim* dim) {
        auto [known, isNew] = names.try_emplace(dim, dim);
        if (isNew && dim->isConstant() && random.chance(60))
          known->second = types.symbol(fmt::format("n{}", dim->value));
        return known->second;
      });
    RelationResult answer = relateAdopting(*call.row, types, named.operands, named.attributes);
    named.output = answer.output;
    if (answer.outcome == RelationResult::Outcome::Solved)
      return named;
  }
  return std::nullopt;
}

/// Whether the quotient along all directions is the sum of that along the first one and that along
/// the others. Where it is not, as at (0, 0) for x^2 / y, no rule can be right.
bool isLinear(const std::function<std::optional<Value>(std::vector<Value>)>& run,
              const std::vector<Value>& values, size_t first, size_t count) {
  auto alongDirections = [&](bool isFirst) {
    std::vector<Value> some = values;
    for (size_t i = 0; i < count; ++i)
      if ((i == 0) != isFirst)
        some[first + i] = runtime::tensorValue(runtime::Tensor(values[first + i].tensor().dtype(),
                                                               values[first + i].tensor().shape()));
    return run(std::move(some));
  };
  auto all = run(values), one = alongDirections(true), others = alongDirections(false);
  if (!all || !one || !others)
    return true;
  double sum = numberOf(one->fields()[1]) + numberOf(others->fields()[1]);
  double whole = numberOf(all->fields()[1]);
  return std::abs(sum - whole) <= 1e-9 * (1 + std::abs(whole));
}

constexpr int exactExponent = 66, nativeExponent = 20;
constexpr unsigned exactDigits = 50;

GradientVerdict compare(TypeContext& types, const OperatorSample& call, Random& random,
                        bool isNamed, bool isExact) {
  auto named = isNamed ? overNames(types, call, random) : std::nullopt;
  if (isNamed && !named)
    return {};
  int exponent = isExact ? exactExponent : nativeExponent;
  Comparison comparison(types, named ? *named : call, exponent, isNamed);
  if (isExact && usesNative(comparison.module)) {
    Arena arena;
    auto wide = inFloat64(types, call, arena);
    return wide ? compare(types, *wide, random, isNamed, false) : GradientVerdict{};
  }
  Typing typing;
  if (std::string problem = checkedProblem(comparison.module, &typing); !problem.empty())
    return {false, false, "the comparison is " + problem};
  // The types of the data, whose extents are numbers in both cases.
  std::vector<const Type*> parameters =
      named ? Comparison(types, call, exponent, true).parameterTypes()
            : comparison.parameterTypes();
  auto data = gradientData(call, parameters, random, isExact, comparison.isStepwise);
  auto run = [&](std::vector<Value> values) {
    return runModule(comparison.module, typing, *comparison.entry, std::move(values),
                     isExact ? exactDigits : 0);
  };
  auto answer = run(data.values);
  if (!answer)
    return {};
  GradientVerdict verdict = judge(*answer, isExact, data.isSingle);
  if (!verdict.problem.empty() &&
      !isLinear(run, data.values, call.operands.size(), comparison.directionCount()))
    return {};
  return verdict;
}

} // namespace

GradientVerdict compareGradient(TypeContext& types, const OperatorSample& call, Random& random,
                                bool isNamed) {
  try {
    return compare(types, call, random, isNamed, true);
  } catch (const std::logic_error& fault) {
    return {false, false, fault.what()};
  }
}

std::string callText(const OperatorSample& call) {
  std::string text = std::string(call.row->name) + "(";
  for (const Type* operand : call.operands)
    text += typeText(operand) + ", ";
  for (size_t i = 0; i < call.attributes.rows.size(); ++i)
    text += fmt::format("{}={}, ", call.attributes.rows[i].name,
                        attributeText(call.attributes.values[i]));
  return text + ") -> " + typeText(call.output);
}

} // namespace harness
