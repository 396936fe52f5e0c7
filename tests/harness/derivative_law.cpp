// The step is far below what the functions at hand turn in, and far above the digits; a failure
// that quotients of another step do not confirm is none.
#include "tests/harness/derivative_law.h"

#include "interp/interpret.h"
#include "interp/real.h"
#include "interp/reference.h"
#include "lang/ir/verify.h"
#include "lang/print/print.h"
#include "parser/metadata/metadata.h"
#include "stdlib/ops.h"
#include "tests/harness/check_types.h"
#include "tests/harness/float_sum.h"
#include "tests/harness/line.h"
#include "transform/differentiate/entry_gradient.h"

#include <fmt/format.h>

namespace harness {

using namespace lang;
using interp::Real;
using runtime::Value;
using transform::TypedModule;

namespace {

constexpr unsigned digits = 80;
constexpr double step = 0x1p-100, otherStep = 0x1p-80;
constexpr uint64_t mostCalls = 50'000;
constexpr size_t mostDepth = 20'000;

/// Why the laws say nothing of a program.
struct Skipped {
  DerivativeOutcome outcome;
  std::string reason = {};
};

/// A law that does not hold.
struct Broken {
  Finding finding;
};

/// What is done to a program before and after it is differentiated.
struct Preparation {
  const transform::Pipeline& before;
  const transform::Pipeline* after;
};

constexpr transform::Step fewSteps[] = {
    {"lambda-lifting"}, {"specialise"}, {"unused-definitions"}, {"graph-form"}, {"derivatives"}};
constexpr transform::Step fewestSteps[] = {
    {"lambda-lifting"}, {"specialise"}, {"unused-definitions"}, {"derivatives"}};
constexpr transform::Pipeline few{"few", "Inlines nothing.", fewSteps};
constexpr transform::Pipeline fewest{"fewest", "Moves nothing either.", fewestSteps};

/// As a run does it, with less inlining, and with none; constants are not computed, for that would
/// round them.
const Preparation& preparation(uint64_t seed) {
  static const Preparation ways[] = {
      {transform::derivativePipeline, &transform::gradientPipeline},
      {few, nullptr},
      {fewest, &transform::gradientPipeline},
  };
  return ways[seed % std::size(ways)];
}

TypedModule afterPasses(const TypedModule& program, const transform::Pipeline& pipeline,
                        std::string_view entry) {
  Diagnostics findings;
  auto made = transform::runPasses(*program.module, program.typing, pipeline,
                                   {.operators = stdlib::operatorTable(),
                                    .check = checkTypes,
                                    .verify = true,
                                    .findings = &findings,
                                    .entries = std::array{entry}});
  if (findings.hasErrors())
    throw Skipped{DerivativeOutcome::Refused, findings.all().front().text.plain()};
  if (!made)
    throw std::logic_error(made.failure().text);
  return {std::move(made->module), std::move(made->typing)};
}

/// A module that a derivative was added to, its last global.
TypedModule checkedDerivative(std::unique_ptr<Module> module, const Diagnostics& findings) {
  if (findings.hasErrors())
    throw Skipped{DerivativeOutcome::Refused, findings.all().front().text.plain()};
  for (const std::string& problem : verify(*module))
    throw std::logic_error("ill-formed: " + problem);
  Diagnostics diagnostics;
  Typing typing = checkTypes(*module, diagnostics);
  if (diagnostics.hasErrors())
    throw std::logic_error("ill-typed: " + diagnostics.all().front().text.plain());
  return {std::move(module), std::move(typing)};
}

std::string lastName(const TypedModule& program) {
  return std::string(program.module->globals.back()->name);
}

/// With a function that gives the value of `entry` and its gradients.
TypedModule withGradient(const TypedModule& program, const std::string& entry, unsigned order) {
  Diagnostics findings;
  const transform::TypeCheck check = checkTypes;
  const transform::PassContext context{stdlib::operatorTable(), program.typing, check, findings};
  const bool mayGoForward = !transform::hasOwnRules(*program.module);
  auto made =
      transform::withEntryGradient(*program.module, context, entry, mayGoForward && order > 1);
  for (unsigned i = 1; i < order && !findings.hasErrors(); ++i) {
    Diagnostics diagnostics;
    const Typing typing = checkTypes(*made, diagnostics);
    made = transform::withNextGradient(*made, {stdlib::operatorTable(), typing, check, findings},
                                       made->globals.back()->name, mayGoForward,
                                       /*isLast=*/i + 1 == order);
  }
  return checkedDerivative(std::move(made), findings);
}

/// With a function that takes one parameter more than `entry`, the tangent of the last one, and
/// gives its value and the tangent of it.
TypedModule withTangent(const TypedModule& program, const std::string& entry) {
  Diagnostics findings;
  const transform::TypeCheck check = checkTypes;
  const size_t last = program.module->find(entry)->function->parameters.size() - 1;
  auto current = transform::withTangent(
      *program.module, {stdlib::operatorTable(), program.typing, check, findings}, entry, {last});
  return checkedDerivative(std::move(current), findings);
}

Value scalar(double number) {
  return runtime::tensorValue(runtime::Tensor::scalar(runtime::Float64, number));
}

bool isFinite(const Real& number) {
  return boost::multiprecision::isfinite(number);
}

std::string text(const Real& number) {
  return number.str(24);
}

bool isNear(const Real& a, const Real& b, double tolerance) {
  return abs(a - b) <= tolerance * (1 + abs(a) + abs(b));
}

/// Whether derivatives take what an operator passes on for a constant.
bool isConstantMaker(const OperatorRow& row) {
  return row.action == Action::Pass && row.derivative == Derivative::None &&
         std::holds_alternative<NoGradient>(row.gradient);
}

/// The values that a run took for constants, in their order. A run at another point takes the same
/// ones: so quotients see them as derivatives do.
class Constants {
public:
  /// Begins a run, which keeps its own values or takes those of the last one that kept them.
  void begin(bool keeps) {
    keeps_ = keeps;
    next_ = 0;
    if (keeps)
      values_.clear();
  }

  Value passed(const OperatorRow& row, const Value& value) {
    if (!isConstantMaker(row))
      return value;
    if (keeps_)
      return values_.emplace_back(value);
    if (next_ == values_.size())
      throw Skipped{DerivativeOutcome::NotSmooth};
    return values_[next_++];
  }

private:
  bool keeps_ = true;
  std::vector<Value> values_;
  size_t next_ = 0;
};

/// Runs functions of modules at points of the line.
class Runner {
public:
  explicit Runner(std::vector<Value> arguments) : arguments_(std::move(arguments)) {}

  bool hasFewDigits = false;

  /// The value at a point; `tangent` is one argument more. Beside the middle of the line, constants
  /// are those of the last run in the middle.
  Value run(const TypedModule& program, const std::string& entry, double t,
            std::optional<double> tangent = std::nullopt) {
    std::vector<Value> arguments = arguments_;
    arguments.push_back(scalar(t));
    if (tangent)
      arguments.push_back(scalar(*tangent));
    interp::Options options{.engine = interp::referenceEngine(digits)};
    options.rounding = [&](const OperatorRow&, SourceRange) { hasFewDigits = true; };
    constants_.begin(/*keeps=*/t == 0);
    options.passed = [&](const OperatorRow& row, const Value& value) {
      return constants_.passed(row, value);
    };
    options.limits.depth = mostDepth;
    options.progress = [](uint64_t calls) {
      if (calls > mostCalls)
        throw Skipped{DerivativeOutcome::NotRun};
    };
    auto result = interp::interpret(*program.module, program.typing, stdlib::operatorTable(),
                                    *program.module->find(entry), std::move(arguments), options);
    if (auto* value = std::get_if<Value>(&result))
      return std::move(*value);
    const auto& fault = std::get<interp::Fault>(result);
    bool isMemory =
        fault.kind == runtime::FaultKind::Memory || fault.kind == runtime::FaultKind::Depth;
    if (isMemory || entry == lineName)
      throw Skipped{DerivativeOutcome::NotRun};
    throw Broken{{"derivative fault", fault.problem.plain()}};
  }

private:
  std::vector<Value> arguments_;
  Constants constants_;
};

/// The slope of a function by its quotients.
struct Quotients {
  Real middle, left, right;

  Real slope() const { return (left + right) / 2; }
  bool isFinite() const {
    return harness::isFinite(middle) && harness::isFinite(left) && harness::isFinite(right);
  }
  bool isSmooth() const { return isNear(left, right, 1e-12); }
};

Quotients quotients(const std::function<Real(double)>& function, double h) {
  Real middle = function(0), before = function(-h), after = function(h);
  return {middle, (middle - before) / h, (after - middle) / h};
}

/// A message without what stands in backquotes.
std::string withoutNames(const std::string& message) {
  std::string kept;
  bool isName = false;
  for (char letter : message) {
    if (letter == '`')
      isName = !isName;
    if (!isName)
      kept += letter;
  }
  return kept;
}

class Laws {
public:
  Laws(Bench& bench, const Program& program, uint64_t seed)
      : bench_(bench), program_(program), seed_(seed), way_(preparation(seed)) {}

  DerivativeVerdict verdict;

  void run(unsigned orders) {
    ReadText read = bench_.reader.read(programText(program_));
    const Global* main = read.isGood() ? read.module->find("main") : nullptr;
    if (!main || !main->function)
      return;
    auto arguments = argumentsOf(*main->function, read.typing, program_, seed_);
    auto line = arguments ? withLine(*read.module, read.typing) : std::nullopt;
    if (!line)
      return;
    Random random(seed_);
    Runner runner(lineArguments(*arguments, random));
    const std::string entry(lineName);
    stage_ = "preparation";
    TypedModule prepared = afterPasses(*line, way_.before, entry);
    runFirst(*line, prepared, entry, runner);
    for (unsigned order = 2; order <= orders; ++order)
      if (!runHigher(prepared, entry, runner, order))
        return;
  }

  /// The part of the work that was in progress.
  const std::string& stage() const { return stage_; }
  /// The module that was in progress, for people.
  std::string moduleText() const {
    return current_.module
               ? parser::wholeText(printModule(*current_.module, stdlib::operatorTable()))
               : "";
  }

private:
  using Number = std::function<Real(double)>;

  TypedModule cleaned(TypedModule program) {
    return way_.after ? afterPasses(program, *way_.after, lastName(program)) : std::move(program);
  }

  void runFirst(const TypedModule& line, const TypedModule& prepared, const std::string& entry,
                Runner& runner) {
    verdict.outcome = DerivativeOutcome::NotRun;
    Number value = [&](double t) { return floatSum(runner.run(line, entry, t)); };
    Quotients found = quotients(value, step);
    stage_ = "reverse mode";
    current_ = cleaned(withGradient(prepared, entry, 1));
    Value both = runner.run(current_, lastName(current_), 0);
    Real reverse = floatSum(both.fields()[1].fields().back());
    demandValue(floatSum(both.fields()[0]), found.middle, runner);
    stage_ = "forward mode";
    current_ = cleaned(withTangent(prepared, entry));
    Value pushed = runner.run(current_, lastName(current_), 0, 1.0);
    demandValue(floatSum(pushed.fields()[0]), found.middle, runner);
    Real forward = floatSum(pushed.fields()[1]);
    verdict.outcome = judged(reverse, forward, value, found, runner);
    verdict.hasSlope = verdict.outcome == DerivativeOutcome::Compared && abs(reverse) > 1e-12;
  }

  /// Whether the derivatives of that order, above the first one, were compared.
  bool runHigher(const TypedModule& prepared, const std::string& entry, Runner& runner,
                 unsigned order) {
    stage_ = fmt::format("reverse mode, order {}", order);
    current_ = cleaned(withGradient(prepared, entry, order));
    Value all = runner.run(current_, lastName(current_), 0);
    Real reverse = floatSum(all.fields()[1].fields().back());
    stage_ = fmt::format("forward mode over reverse mode, order {}", order);
    TypedModule gradient = withGradient(prepared, entry, order - 1);
    current_ = cleaned(withTangent(gradient, lastName(gradient)));
    Value pushed = runner.run(current_, lastName(current_), 0, 1.0);
    Real forward = floatSum(pushed.fields()[1].fields()[1]);
    Number value = [&](double t) {
      return floatSum(runner.run(gradient, lastName(gradient), t).fields()[1]);
    };
    auto outcome = judged(reverse, forward, value, quotients(value, step), runner);
    if (outcome != DerivativeOutcome::Compared)
      return false;
    verdict.comparedOrder = order;
    return true;
  }

  void demandValue(const Real& found, const Real& wanted, const Runner& runner) const {
    if (!isFinite(found) || !isFinite(wanted) ||
        isNear(found, wanted, runner.hasFewDigits ? 1e-8 : 1e-30))
      return;
    throw Broken{
        {stage_ + ": value", fmt::format("the value is {}, not {}\n", text(found), text(wanted))}};
  }

  /// Compares the slopes that both modes and the quotients give.
  DerivativeOutcome judged(const Real& reverse, const Real& forward, const Number& value,
                           const Quotients& found, const Runner& runner) const {
    std::string all = fmt::format("backwards {}, forwards {}, quotients {} and {}\n", text(reverse),
                                  text(forward), text(found.left), text(found.right));
    if (!isFinite(reverse) || !isFinite(forward))
      return DerivativeOutcome::NotFinite;
    if (!isNear(reverse, forward, runner.hasFewDigits ? 1e-8 : 1e-18))
      throw Broken{{stage_ + ": modes differ", all}};
    if (runner.hasFewDigits)
      return DerivativeOutcome::FewDigits;
    if (!found.isFinite())
      return DerivativeOutcome::NotFinite;
    if (!found.isSmooth())
      return DerivativeOutcome::NotSmooth;
    if (isNear(reverse, found.slope(), 1e-18))
      return DerivativeOutcome::Compared;
    Quotients other = quotients(value, otherStep);
    if (!other.isFinite() || !isNear(other.slope(), found.slope(), 1e-12))
      return DerivativeOutcome::NotSmooth;
    throw Broken{{stage_ + ": quotients differ", all}};
  }

  Bench& bench_;
  const Program& program_;
  uint64_t seed_;
  const Preparation& way_;
  std::string stage_ = "the line";
  TypedModule current_ = {};
};

} // namespace

DerivativeVerdict checkDerivatives(Bench& bench, const Program& program, uint64_t seed,
                                   unsigned orders) {
  interp::RealDigits precision(digits);
  Laws laws(bench, program, seed);
  DerivativeVerdict& verdict = laws.verdict;
  try {
    laws.run(orders);
  } catch (const Skipped& skipped) {
    if (verdict.outcome <= DerivativeOutcome::NotRun)
      verdict.outcome = skipped.outcome;
    verdict.reason = withoutNames(skipped.reason);
  } catch (const Broken& broken) {
    verdict.finding = broken.finding;
    verdict.finding->detail += laws.moduleText();
  } catch (const std::logic_error& fault) {
    verdict.finding = {laws.stage() + ": unsound", fault.what()};
  }
  return std::move(verdict);
}

} // namespace harness
