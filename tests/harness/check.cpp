// Read, run, compare; a verdict ends at the first law that does not hold.
#include "tests/harness/check.h"

#include "codegen/native/kernel.h"
#include "codegen/strips/compile/sized.h"
#include "interp/interpret.h"
#include "lang/calls/same_value.h"
#include "lang/ir/verify.h"
#include "lang/ir/walk.h"
#include "lang/print/print.h"
#include "parser/baton/write.h"
#include "parser/metadata/metadata.h"
#include "parser/restore/restore.h"
#include "stdlib/ops.h"
#include "stdlib/panels.h"
#include "stdlib/rows_at_once.h"
#include "tests/harness/agreement.h"
#include "tests/harness/alpha_equal.h"
#include "tests/harness/check_types.h"
#include "tests/harness/notation.h"
#include "tests/harness/notation_plan.h"
#include "tests/harness/random.h"
#include "tests/harness/shared_work.h"
#include "tests/harness/through_file.h"
#include "tests/harness/types.h"
#include "tests/harness/values.h"
#include "transform/run_passes.h"
#include "vm/bytecode/run.h"
#include "vm/native/runner.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace harness {

using namespace lang;
using runtime::Value;

namespace {

constexpr uint64_t mostCalls = 50'000;
constexpr size_t mostDepth = 20'000;

struct GivenUp {};

/// Whether a dimension that is no number occurs in an inferred type, so that a shape may turn out
/// wrong at run time: `?` proves nothing, and some sizes are too small for some windows.
bool isGradual(const ReadText& read) {
  bool found = false;
  auto look = [&](const Var* var) {
    const Type* type = read.typing.of(*var);
    found |= type && hasOpenDims(type);
  };
  for (const Global* global : read.module->globals)
    if (global->function)
      for (const Var* parameter : global->function->parameters)
        look(parameter);
  walk(
      *read.module, [&](const Binding& binding) { look(binding.var); }, [](const Operand&) {});
  return found;
}

std::string firstCode(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all())
    if (diagnostic.severity() == Severity::Error)
      return std::string(messageRow(diagnostic.message).code);
  return "";
}

/// Where the inferred type says less or something else than the known one, by text.
std::string typeDifference(const Type* inferred, const Type* known, bool isDynamic) {
  std::string difference = fmt::format("`@main` is inferred as\n  {}\nand its type is\n  {}",
                                       typeText(inferred), typeText(known));
  if (inferred->kind != known->kind || inferred->dtype != known->dtype ||
      inferred->shape.size() != known->shape.size() ||
      inferred->parts.size() != known->parts.size() ||
      bool(inferred->result) != bool(known->result) ||
      (known->definition && inferred->definition->name != known->definition->name))
    return difference;
  for (size_t i = 0; i < known->shape.size(); ++i) {
    const Dim *a = inferred->shape[i], *b = known->shape[i];
    bool isOpen = b->isAny() || (isDynamic && (a->isAny() || !b->isConstant()));
    if (!isOpen && dimText(a) != dimText(b))
      return difference;
  }
  for (size_t i = 0; i < known->parts.size(); ++i)
    if (!typeDifference(inferred->parts[i], known->parts[i], isDynamic).empty())
      return difference;
  return known->result ? typeDifference(inferred->result, known->result, isDynamic) : "";
}

/// Whether a part of a type has not been inferred.
bool hasHoles(const Type* type) {
  return anyPart(type, [](const Type* part) { return part->isUnknown() || part->isError(); });
}

/// The sizes that the argument types give to the open dimensions of the parameters.
std::map<std::string, int64_t> argumentSizes(const Function& main, const Typing& typing,
                                             const std::vector<const Type*>& arguments) {
  std::map<std::string, int64_t> sizes;
  for (size_t i = 0; i < std::min(main.parameters.size(), arguments.size()); ++i) {
    const Type *type = typing.of(*main.parameters[i]), *given = arguments[i];
    if (!type || type->shape.size() != given->shape.size())
      continue;
    for (size_t j = 0; j < type->shape.size(); ++j)
      if (!type->shape[j]->isConstant() && !type->shape[j]->isAny())
        sizes[dimText(type->shape[j])] = given->shape[j]->value;
  }
  return sizes;
}

/// The types of the program's own functions, whose names printing may change. What they require is
/// no part of it: what operators require is also required by the sizes that are declared then.
std::multiset<std::string> signatures(const ReadText& read) {
  const Module& module = *read.module;
  std::multiset<std::string> found;
  for (const Global* global : std::span(module.globals).subspan(module.preludeGlobals))
    found.insert(typeText(functionType(module.types, *global->function, read.typing)));
  return found;
}

} // namespace

std::optional<std::vector<Value>> argumentsOf(const Function& main, const Typing& typing,
                                              const Program& program, uint64_t seed) {
  auto sizes = argumentSizes(main, typing, program.arguments);
  std::vector<Value> values;
  for (size_t i = 0; i < main.parameters.size(); ++i) {
    const Type* type = typing.of(*main.parameters[i]);
    bool isOpen = type && hasOpenDims(type) && i < program.arguments.size() &&
                  typeDifference(type, program.arguments[i], true).empty();
    auto value =
        type ? argumentValue(isOpen ? program.arguments[i] : type, sizes, seed + i) : std::nullopt;
    if (!value)
      return std::nullopt;
    values.push_back(std::move(*value));
  }
  return values;
}

namespace {

/// Whether a pass has changed a program that may round floats otherwise.
struct RoundingWatch {
  const Module* last = nullptr;
  bool hasRounded = false;

  void operator()(std::string_view pass, const Module& module, const Typing&) {
    hasRounded |= transform::findPass(pass)->rounds && last != &module;
    last = &module;
  }
};

class Check {
public:
  Check(Bench& bench, const Program& program, uint64_t seed)
      : bench_(bench), program_(program), seed_(seed) {}

  Verdict verdict;
  /// Whether faults of shapes are the program's own when `?` occurs in it.
  bool mayBeGradual = false;

  /// Runs `@main` of a good module; nothing when there is no value, for a reason in the verdict.
  std::optional<Value> run(const ReadText& read) {
    const Global* entry = read.module->find("main");
    if (!entry || !entry->function)
      return std::nullopt;
    auto arguments = argumentsOf(*entry->function, read.typing, program_, seed_);
    if (!arguments)
      return std::nullopt;
    interp::Options options{.engine = comparedLoops([&](const std::string& found) {
                              if (!verdict.finding)
                                fail("engines", found);
                            })};
    options.limits.depth = mostDepth;
    options.progress = [](uint64_t calls) {
      if (calls > mostCalls)
        throw GivenUp{};
    };
    try {
      auto result = interp::interpret(*read.module, read.typing, stdlib::operatorTable(), *entry,
                                      *arguments, options);
      verdict.hasRun = true;
      demandMachine(read, *entry, std::move(*arguments), result);
      if (auto* value = std::get_if<Value>(&result))
        return std::move(*value);
      const auto& fault = std::get<interp::Fault>(result);
      if (isExcused(read, fault))
        verdict.dataFault = fault.problem.plain();
      else
        fail("fault", "the run ends with: " + fault.problem.plain());
    } catch (const GivenUp&) {
      verdict.isEndless = true;
    }
    return std::nullopt;
  }

  /// The machine ends as the reference does.
  void demandMachine(const ReadText& read, const Global& entry, std::vector<Value> arguments,
                     const std::variant<Value, interp::Fault>& expected) {
    bytecode::Options options{.engine = strips::stripsEngine()};
    options.run.limits.depth = mostDepth;
    options.run.progress = [](uint64_t calls) {
      if (calls > 2 * mostCalls)
        throw GivenUp{};
    };
    // A file takes as long again, so not every program goes through one.
    constexpr uint64_t throughFileEvery = 8, threadedEvery = 4;
    std::variant<Value, interp::Fault> result;
    try {
      result = bytecode::run(*read.module, read.typing, stdlib::operatorTable(), entry, arguments,
                             options);
      demandMachinePasses(read, arguments, options, result);
      if (bench_.nativeEvery && seed_ % bench_.nativeEvery == 0)
        demandNative(read, entry, arguments, options, result);
      if (seed_ % threadedEvery == 1)
        demandSame("machine in threads", runInThreads(read, entry, arguments, options), result);
      if (seed_ % throughFileEvery == 0)
        demandSame("executable",
                   runThroughFile(read, entry, std::move(arguments), options, bench_.reader).result,
                   result);
    } catch (const std::exception& error) {
      return fail("machine refused", error.what());
    }
    demandSame("machine", result, expected);
  }

  /// Native code gives what the machine's loop and strips do, but for roundings.
  void demandNative(const ReadText& read, const Global& entry, const std::vector<Value>& arguments,
                    bytecode::Options options, const std::variant<Value, interp::Fault>& expected) {
    auto native = codegen::nativeEngine({});
    if (!native)
      return;
    options.engine = *native;
    auto compiler = std::make_shared<const vm::native::ControlCompiler>(std::nullopt);
    options.makeRunner = [&](const vm::Program& program) {
      return vm::native::runnerOf(*compiler, program);
    };
    if (seed_ / bench_.nativeEvery % 2 == 1) {
      // Code takes over behind some calls of the loop.
      options.run.callsOfOneGo = 1 + seed_ % 7;
      const vm::native::Patience patience{{seed_ % 40}, {seed_ % 40}, true};
      options.makeRunner = [=](const vm::Program& program) {
        return vm::native::lateRunnerOf(compiler, program, patience);
      };
    }
    demandSame("native machine",
               bytecode::run(*read.module, read.typing, stdlib::operatorTable(), entry, arguments,
                             options),
               expected, true);
  }

  static std::variant<Value, interp::Fault> runInThreads(const ReadText& read, const Global& entry,
                                                         std::vector<Value> arguments,
                                                         const bytecode::Options& options) {
    SharedWork shared;
    return bytecode::run(*read.module, read.typing, stdlib::operatorTable(), entry,
                         std::move(arguments), options);
  }

  /// What passes make of a program for the machine ends like the program, but for what calls and
  /// data that are gone took.
  void demandMachinePasses(const ReadText& read, const std::vector<Value>& arguments,
                           const bytecode::Options& options,
                           const std::variant<Value, interp::Fault>& expected) {
    tensor::TensorEngine engine = strips::stripsEngine();
    RoundingWatch watch;
    transform::TypedModule made =
        *transform::runPasses(*read.module, read.typing, transform::machinePipeline,
                              {.operators = stdlib::operatorTable(),
                               .check = checkTypes,
                               .declaring = transform::Declaring::WhenNeeded,
                               .after = std::ref(watch),
                               .engine = &engine,
                               .readPanels = stdlib::weightsFromPanels,
                               .rowsAtOnce = {stdlib::joinedRows, stdlib::splitRows},
                               .needsBoxes = bytecode::needsBoxes});
    const auto* fault = std::get_if<interp::Fault>(&expected);
    bool isOfLimits = fault && (fault->kind == runtime::FaultKind::Depth ||
                                fault->kind == runtime::FaultKind::Memory);
    if (!made.module || isOfLimits)
      return;
    demandSame("machine after passes",
               bytecode::run(*made.module, made.typing, stdlib::operatorTable(),
                             *made.module->find("main"), arguments, options),
               expected, watch.hasRounded);
  }

  /// Two runs end alike.
  void demandSame(const std::string& law, const std::variant<Value, interp::Fault>& result,
                  const std::variant<Value, interp::Fault>& expected, bool mayRound = false) {
    if (verdict.finding)
      return;
    const auto *fault = std::get_if<interp::Fault>(&result),
               *expectedFault = std::get_if<interp::Fault>(&expected);
    if (fault && !expectedFault)
      return fail(law + " fault", "the run ends with: " + fault->problem.plain());
    if (expectedFault && (!fault || fault->problem.plain() != expectedFault->problem.plain()))
      return fail(law + " fault", fmt::format("the run ends with: {}\nand should with: {}",
                                              fault ? fault->problem.plain() : "a value",
                                              expectedFault->problem.plain()));
    auto isSame = mayRound ? nearNumbers : sameNumbers;
    if (!fault && !isSame(std::get<Value>(result), std::get<Value>(expected)))
      fail(law + " value", "it is another value");
  }

  void fail(std::string law, std::string detail) {
    verdict.finding = {std::move(law), std::move(detail)};
  }

  /// The laws of running, for a module without errors.
  std::optional<Value> demandRun(const ReadText& read) {
    for (const std::string& problem : verify(*read.module)) {
      fail("verify", "the verifier says: " + problem);
      return std::nullopt;
    }
    demandSameTypes(read);
    if (verdict.finding)
      return std::nullopt;
    auto value = run(read);
    if (!value)
      return std::nullopt;
    const Type* type = resultOfMain(read);
    std::string problem = typeProblem(bench_.types, *value, type);
    if (!problem.empty())
      fail("value",
           fmt::format("the value is {}\nand the inferred type is\n  {}", problem, typeText(type)));
    return value;
  }

  /// The types obey the rules, and checking only reads a module: checked again, it has them again.
  void demandSameTypes(const ReadText& read) {
    for (const std::string& problem : verifyTypes(*read.module, read.typing))
      return fail("verify types", "the verifier says: " + problem);
    Diagnostics diagnostics;
    Typing again = checkTypes(*read.module, diagnostics);
    if (diagnostics.hasErrors())
      fail("checked again", "checked again, it is refused: " + firstCode(diagnostics));
    else if (again != read.typing)
      fail("checked again", "checked again, it has other types");
  }

  void demandKnownType(const ReadText& read) {
    const Type* inferred = resultOfMain(read);
    const Type* known = program_.functionOf(program_.definitions.back()).type->result;
    std::string difference = typeDifference(inferred, known, program_.isDynamic);
    if (!difference.empty())
      fail(hasHoles(inferred) ? "type unknown" : "type", difference);
  }

  static const Type* resultOfMain(const ReadText& read) {
    return read.typing.result(*read.module->find("main")->function);
  }

  std::string printed(const ReadText& read, bool types) {
    return parser::wholeText(
        printModule(*read.module, stdlib::operatorTable(), {types ? &read.typing : nullptr}));
  }

  /// Reads a printed text; nothing, and a finding, when it is refused.
  std::optional<ReadText> readAgain(const std::string& text) {
    ReadText again = bench_.reader.read(text);
    if (again.isGood())
      return again;
    fail("reprint refused " + firstCode(again.diagnostics),
         "the printed program is refused:\n" + bench_.reader.errorText(again) + text);
    return std::nullopt;
  }

  /// In Baton's notation and read again, a program is the same, up to names of locals.
  void demandOwnNotation(const ReadText& read) {
    lang::Arena arena;
    const OperatorTable& operators = stdlib::operatorTable();
    parser::Restored own = parser::restore(arena, *read.module, operators, &read.typing);
    std::string text = parser::wholeText(
        {parser::baton::write(*own.file), std::move(own.metadata), own.needsMetadata});
    ReadText again = bench_.reader.read(text, true, parser::surface::Notation::Baton);
    if (!again.isGood())
      return fail("notation refused " + firstCode(again.diagnostics),
                  "in Baton's notation the program is refused:\n" + bench_.reader.errorText(again) +
                      text);
    std::string first = printed(read, false), second = printed(again, false);
    if (first != second && !alphaEqual(*read.module, *again.module) && !sameButNames(first, second))
      fail("notation", "from Baton's notation comes another program:\n" + first + text + second);
  }

  /// Written in Baton's notation as people write, a program has the same type and value. Of one
  /// that fails the text is kept that has the fewest forms.
  void demandSpelling(const std::optional<Value>& value) {
    Spelling spelling(seed_);
    verdict.finding = spellingFinding(spelling, value);
    verdict.forms = spelling.counts();
    if (!verdict.finding)
      return;
    for (size_t i = 0; i < formCount; ++i) {
      Spelling fewer = spelling;
      fewer.forbid(Form(i));
      if (auto finding = spellingFinding(fewer, value);
          finding && finding->law == verdict.finding->law) {
        spelling = fewer;
        verdict.finding = finding;
      }
    }
  }

  std::optional<Finding> spellingFinding(Spelling& spelling, const std::optional<Value>& value) {
    if (givesIntegersForReals(program_))
      return std::nullopt;
    NotationTexts texts = notationTexts(program_, spelling);
    std::string text = texts.program;
    if (!texts.imported.empty())
      text += "\n// parts.baton\n" + texts.imported;
    ReadText read;
    try {
      read = texts.imported.empty()
                 ? bench_.reader.read(texts.program, true, parser::surface::Notation::Baton)
                 : bench_.reader.readImporting(texts.program, texts.imported);
    } catch (const std::logic_error& fault) {
      return Finding{"spelling unsound", fault.what() + ("\n" + text)};
    }
    if (!read.isGood())
      return Finding{"spelling refused " + firstCode(read.diagnostics),
                     bench_.reader.errorText(read) + text};
    Check check(bench_, program_, seed_);
    check.mayBeGradual = true;
    check.demandKnownType(read);
    std::optional<Value> other;
    if (!check.verdict.finding)
      other = check.demandRun(read);
    if (!check.verdict.finding && seed_ % 4 == 2)
      check.demandOwnNotation(read);
    if (!check.verdict.finding && seed_ % 4 == 3)
      check.demandReprint(read, other);
    if (check.verdict.finding)
      return Finding{"spelling " + check.verdict.finding->law,
                     check.verdict.finding->detail + text};
    if (value && check.verdict.dataFault.empty() && !check.verdict.isEndless &&
        (!other || !sameValue(*value, *other)))
      return Finding{"spelling value", "another value\n" + text};
    return std::nullopt;
  }

  /// Printed and read again, a program prints the same text, and has the same types and value.
  void demandReprint(const ReadText& read, const std::optional<Value>& value) {
    bool types = seed_ % 2 == 1;
    std::string first = printed(read, types);
    auto again = readAgain(first);
    if (!again)
      return;
    if (types && signatures(read) != signatures(*again))
      return fail("reprint type", "the printed program has other types:\n" + first);
    if (std::string second = printed(*again, types); first != second)
      return fail("reprint", "printing again gives another text:\n" + first + second);
    auto other = run(*again);
    if (!verdict.finding && value && (!other || !sameValue(*value, *other)))
      fail("reprint value", "the printed program has another value:\n" + first);
  }

  /// The laws of passes: what passes give is sound and well typed, `@main` has the type that it
  /// had, and with a value it gives the same one, also printed and read again.
  void demandPasses(const ReadText& read, const std::optional<Value>& value) {
    std::vector<const transform::PassRow*> passes;
    for (const transform::PassRow& row : transform::passRows())
      passes.push_back(&row);
    Random random(seed_);
    demandPasses(read, value, {passes[seed_ % passes.size()]});
    for (size_t i = passes.size(); i > 1; --i)
      std::swap(passes[i - 1], passes[random.index(i)]);
    if (!verdict.finding)
      demandPasses(read, value, passes);
  }

private:
  /// Whether a well-typed program may end so: for want of memory, by data that stop the operator,
  /// and, where `?` proves nothing of them, by sizes.
  bool isExcused(const ReadText& read, const interp::Fault& fault) const {
    switch (fault.kind) {
    case runtime::FaultKind::Memory:
      return true;
    case runtime::FaultKind::Data:
      return bench_.dataFaults.contains(stdlib::operatorTable().find(fault.op));
    case runtime::FaultKind::Sizes:
      return mayBeGradual && isGradual(read);
    default:
      return false;
    }
  }

  void demandPasses(const ReadText& read, const std::optional<Value>& value,
                    const std::vector<const transform::PassRow*>& passes) {
    std::string names;
    for (const transform::PassRow* pass : passes)
      names += " " + std::string(pass->name);
    ReadText after;
    RoundingWatch watch;
    try {
      tensor::TensorEngine engine = strips::stripsEngine();
      auto result = transform::runPasses(*read.module, read.typing, passes,
                                         {.operators = stdlib::operatorTable(),
                                          .check = checkTypes,
                                          .verify = true,
                                          .after = std::ref(watch),
                                          .engine = &engine});
      if (!result)
        return fail("pass needs", result.failure().text);
      after = {std::move(result->module), std::move(result->typing)};
    } catch (const std::logic_error& fault) {
      return fail("pass unsound", names + ": " + fault.what());
    }
    demandSame(read, after, value, "pass", names, watch.hasRounded);
    if (verdict.finding || seed_ % 2 == 0)
      return;
    if (auto again = readAgain(printed(after, false)))
      demandSame(read, *again, value, "pass printed", names, watch.hasRounded);
  }

  /// What became of a program has its type and its value.
  void demandSame(const ReadText& before, const ReadText& after, const std::optional<Value>& value,
                  const std::string& law, const std::string& names, bool mayRound) {
    std::string text = "after" + names + "\n" + printed(after, false);
    std::string from = typeText(resultOfMain(before)), to = typeText(resultOfMain(after));
    if (from != to && !program_.isDynamic && from.find('?') == std::string::npos)
      return fail(law + " type", from + " becomes " + to + text);
    if (!value)
      return;
    auto other = run(after);
    if (!other)
      fail(law + " fault", (verdict.finding ? verdict.finding->detail : verdict.dataFault) + text);
    else if (!(mayRound ? nearNumbers : sameNumbers)(*value, *other))
      fail(law + " value", "another value " + text);
  }

  Bench& bench_;
  const Program& program_;
  uint64_t seed_;
};

} // namespace

Verdict checkProgram(Bench& bench, const Program& program, uint64_t seed, bool reprint) {
  Check check(bench, program, seed);
  ReadText read = bench.reader.read(programText(program));
  if (!read.isGood()) {
    check.fail("refused " + firstCode(read.diagnostics), bench.reader.errorText(read));
    return check.verdict;
  }
  check.verdict.isAccepted = true;
  check.demandKnownType(read);
  if (check.verdict.finding)
    return check.verdict;
  auto value = check.demandRun(read);
  if (!check.verdict.finding && reprint)
    check.demandOwnNotation(read);
  if (!check.verdict.finding && reprint)
    check.demandReprint(read, value);
  if (!check.verdict.finding && reprint)
    check.demandSpelling(value);
  if (!check.verdict.finding && reprint)
    check.demandPasses(read, value);
  return check.verdict;
}

Verdict checkMutant(Bench& bench, const Program& program, uint64_t seed) {
  Check check(bench, program, seed);
  ReadText read = bench.reader.read(programText(program));
  if (!read.isGood()) {
    if (!read.diagnostics.hasErrors())
      check.fail("refused without an error", "");
    return check.verdict;
  }
  check.verdict.isAccepted = true;
  check.mayBeGradual = true;
  check.demandRun(read);
  return check.verdict;
}

} // namespace harness
