// One program is forward at three points, the rule at the middle one, and the quotients, all under
// one precision; the other one is the rule alone, which is differentiated and run at three points.
#include "tests/harness/gradient_check.h"

#include "interp/interpret.h"
#include "interp/reference.h"
#include "lang/ir/verify.h"
#include "lang/ir/walk.h"
#include "lang/op/leaves.h"
#include "stdlib/ops.h"
#include "tests/harness/check_types.h"
#include "tests/harness/draw.h"
#include "tests/harness/float_sum.h"
#include "tests/harness/gradient_data.h"
#include "tests/harness/gradient_program.h"
#include "tests/harness/run_operator.h"
#include "tests/harness/types.h"
#include "transform/differentiate/entry_gradient.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <variant>

namespace harness {

using namespace lang;
using interp::Real;
using runtime::Value;

const GradientRule* gradientRule(const OperatorRow& row) {
  return std::get_if<GradientRule>(&row.gradient);
}

namespace {

bool hasFloat(const Type* type) {
  return anyPart(type, [](const Type* part) { return part->isTensor() && part->dtype.isFloat(); });
}

/// What the checker finds wrong with a module; empty when nothing.
std::string checkedProblem(const Module& module, Typing* typing = nullptr) {
  for (const std::string& problem : verify(module))
    return "ill-formed: " + problem;
  Diagnostics diagnostics;
  Typing found = checkTypes(module, diagnostics);
  if (typing)
    *typing = std::move(found);
  for (const Diagnostic& diagnostic : diagnostics.all())
    if (diagnostic.severity() == Severity::Error)
      return "ill-typed: " + diagnostic.text.plain();
  return "";
}

/// Runs a checked module; nothing when it faults, which `fault` tells.
std::optional<Value> runModule(const Module& module, const Typing& typing, const Global& entry,
                               std::vector<Value> arguments, unsigned digits,
                               std::string* fault = nullptr) {
  interp::Options options{.engine = interp::referenceEngine(digits)};
  auto outcome = interp::interpret(module, typing, stdlib::operatorTable(), entry,
                                   std::move(arguments), options);
  if (auto* value = std::get_if<Value>(&outcome))
    return std::move(*value);
  if (fault)
    *fault = std::get<interp::Fault>(outcome).problem.plain();
  return std::nullopt;
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
  GradientProgram program(types, named ? *named : call, isNamed);
  program.writeQuotients(isExact ? exactExponent : nativeExponent);
  if (isExact && usesNative(program.module)) {
    Arena arena;
    auto wide = inFloat64(types, call, arena);
    return wide ? compare(types, *wide, random, isNamed, false) : GradientVerdict{};
  }
  Typing typing;
  if (std::string problem = checkedProblem(program.module, &typing); !problem.empty())
    return {false, false, "the comparison is " + problem};
  // The types of the data, whose extents are numbers in both cases.
  std::vector<const Type*> parameters = GradientProgram(types, call, isNamed).parameterTypes();
  auto data = gradientData(call, parameters, random, isExact, program.isStepwise);
  auto run = [&](std::vector<Value> values) {
    return runModule(program.module, typing, *program.entry, std::move(values),
                     isExact ? exactDigits : 0);
  };
  auto answer = run(data.values);
  if (!answer)
    return {};
  GradientVerdict verdict = judge(*answer, isExact, data.isSingle);
  if (!verdict.problem.empty() &&
      !isLinear(run, data.values, call.operands.size(), program.directionCount()))
    return {};
  return verdict;
}

/// A module with a derivative, which is its last global.
struct Derived {
  std::unique_ptr<Module> module;
  Typing typing = {};
};

/// The derivatives of the slope by how far it goes, backwards and forwards; or why there is none.
std::variant<std::array<Derived, 2>, std::string> derivedSlope(const GradientProgram& program,
                                                               const Typing& typing) {
  Diagnostics findings;
  const transform::TypeCheck check = checkTypes;
  const transform::PassContext context{stdlib::operatorTable(), typing, check, findings};
  const size_t last = program.parameterTypes().size() - 1;
  std::array<Derived, 2> made{
      Derived{transform::withDerivative(program.module, context, "main",
                                        transform::Reverse::Gradient, {{last}})},
      Derived{transform::withTangent(program.module, context, "main", {last})}};
  if (findings.hasErrors())
    return findings.all().front().text.plain();
  for (Derived& each : made)
    if (std::string problem = checkedProblem(*each.module, &each.typing); !problem.empty())
      return problem;
  return made;
}

/// What the quotients of a slope say of its derivatives backwards and forwards.
GradientVerdict judgeAgain(const Real& left, const Real& right, const Real& backwards,
                           const Real& forwards, bool isExact) {
  using boost::multiprecision::isfinite;
  if (!isfinite(left) || !isfinite(right) || abs(left) > 1e12 || abs(right) > 1e12)
    return {};
  Real scale = 1 + abs(left) + abs(right);
  if (abs(left - right) > scale * (isExact ? 1e-12 : 1e-4))
    return {};
  Real tolerance = scale * (isExact ? 1e-15 : 1e-5), slope = (left + right) / 2;
  // Of what is no number no comparison holds.
  if (abs(backwards - slope) <= tolerance && abs(forwards - slope) <= tolerance)
    return {true};
  return {true, false,
          fmt::format("differentiated again it gives {} backwards and {} forwards, the differences "
                      "{} and {}",
                      backwards.str(20), forwards.str(20), left.str(20), right.str(20))};
}

bool hasEmpty(const std::vector<Value>& values) {
  return std::ranges::any_of(values, [](const Value& value) {
    std::vector<Value> leaves;
    appendTensors(value, leaves);
    return std::ranges::any_of(leaves, [](const Value& leaf) { return leaf.tensor().size() == 0; });
  });
}

/// Whether what a call gives is finite; `data` begins with what the quotients of it take.
bool isFiniteCall(TypeContext& types, const OperatorSample& call, bool isNamed,
                  std::vector<Value> data, unsigned digits) {
  GradientProgram program(types, call, isNamed);
  program.writeQuotients(exactExponent);
  Typing typing;
  if (!checkedProblem(program.module, &typing).empty())
    return false;
  data.resize(program.parameterTypes().size(), runtime::tupleValue({}));
  auto answer = runModule(program.module, typing, *program.entry, std::move(data), digits);
  return answer && std::isfinite(numberOf(answer->fields()[4]));
}

/// What the parameters of a slope are given, but for how far it goes.
std::vector<Value> slopeData(TypeContext& types, const OperatorSample& call, Random& random,
                             const std::vector<bool>& isStepwise, bool isNamed, bool isExact) {
  std::vector<const Type*> parameters = GradientProgram(types, call, isNamed).parameterTypes();
  auto data = gradientData(call, parameters, random, isExact, isStepwise).values;
  auto steps = gradientData(call, parameters, random, false, isStepwise).values;
  data.insert(data.end(), steps.begin() + ptrdiff_t(call.operands.size()), steps.end());
  return data;
}

GradientVerdict compareAgain(TypeContext& types, const OperatorSample& call, Random& random,
                             bool isNamed, bool isExact) {
  auto named = isNamed ? overNames(types, call, random) : std::nullopt;
  if (isNamed && !named)
    return {};
  GradientProgram program(types, named ? *named : call, isNamed);
  program.writeSlope();
  Typing typing;
  if (std::string problem = checkedProblem(program.module, &typing); !problem.empty())
    return {false, false, "the slope is " + problem};
  auto derived = derivedSlope(program, typing);
  if (const auto* problem = std::get_if<std::string>(&derived))
    return {false, false, "differentiated again: " + *problem};
  const auto& [back, there] = std::get<std::array<Derived, 2>>(derived);
  if (isExact && (usesNative(*back.module) || usesNative(*there.module))) {
    Arena arena;
    auto wide = inFloat64(types, call, arena);
    return wide ? compareAgain(types, *wide, random, isNamed, false) : GradientVerdict{};
  }
  const std::vector<Value> data =
      slopeData(types, call, random, program.isStepwise, isNamed, isExact);
  const unsigned digits = isExact ? exactDigits : 0;
  std::string fault;
  auto run = [&](const Module& module, const Typing& typingOf, std::vector<double> more) {
    std::vector<Value> values = data;
    for (double number : more)
      values.push_back(runtime::tensorValue(runtime::Tensor::scalar(runtime::Float64, number)));
    return runModule(module, typingOf, *module.globals.back(), std::move(values), digits, &fault);
  };
  const double step = std::ldexp(1, -(isExact ? exactExponent : nativeExponent));
  auto before = run(program.module, typing, {-step}), middle = run(program.module, typing, {0});
  auto after = run(program.module, typing, {step});
  auto backwards = run(*back.module, back.typing, {0});
  auto forwards = run(*there.module, there.typing, {0, 1});
  if (!before || !middle || !after || !isFiniteCall(types, call, isNamed, data, digits))
    return {};
  // Some rules use operators that take no empty tensors, where the call takes them.
  if (!backwards || !forwards)
    return hasEmpty(data) ? GradientVerdict{}
                          : GradientVerdict{false, false, "its derivative faults: " + fault};
  interp::RealDigits precision(exactDigits);
  Real from = floatSum(*middle);
  return judgeAgain((from - floatSum(*before)) / step, (floatSum(*after) - from) / step,
                    floatSum(*backwards), floatSum(forwards->fields()[1]), isExact);
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

GradientVerdict compareSecondGradient(TypeContext& types, const OperatorSample& call,
                                      Random& random, bool isNamed) {
  try {
    return compareAgain(types, call, random, isNamed, true);
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
