// `baton test`: runs the tests of programs, each on its own, and tells which hold.
#include "driver/commands.h"
#include "driver/engines.h"
#include "driver/executable_file.h"
#include "driver/running.h"
#include "driver/session/budget.h"
#include "driver/session/derive.h"
#include "driver/session/fault_text.h"
#include "driver/session/load.h"
#include "driver/session/tests.h"
#include "driver/values/text.h"
#include "lang/source/utf8.h"
#include "parser/resolve/tests.h"
#include "runtime/formats/quote.h"

#include <algorithm>

namespace driver {

namespace {

/// What was found of all files.
struct Count {
  size_t held = 0;
  size_t failed = 0;
  size_t others = 0;
};

bool isAllTrue(const runtime::Value& value) {
  const runtime::Tensor& tensor = value.tensor();
  const auto* bytes = reinterpret_cast<const uint8_t*>(tensor.bytes());
  return std::all_of(bytes, bytes + tensor.size(), [](uint8_t byte) { return byte != 0; });
}

class FileTests {
public:
  FileTests(Session& session, Program& program, const TestOptions& options, const Look& look)
      : session_(session), program_(program), options_(options), look_(look) {}

  Answer run(Count& count) {
    Answer answer;
    // What passes make of the program has other functions, of the same names.
    struct Named {
      const parser::surface::TestDefinition* surface;
      std::string name;
    };
    std::vector<Named> chosen;
    for (const Test& test : testsOf(program_))
      if (std::string_view name = test.surface->name.text;
          name.find(options_.only) != std::string_view::npos)
        chosen.push_back({test.surface, std::string(test.global->name)});
      else
        ++count.others;
    if (chosen.empty() || !prepare(chosen, answer))
      return answer;
    auto engine = engineOf(options_.calling, answer.errors);
    if (!engine) {
      answer.fail(ExitCode::World, engine.failure().message);
      return answer;
    }
    for (const Named& test : chosen) {
      Answer said;
      bool holds = runOne(*test.surface, test.name, *engine, said);
      (holds ? count.held : count.failed) += 1;
      tell(answer, fmt::format("{} {}\n{}", holds ? "ok    " : "failed",
                               lang::printable(test.surface->name.text), holds ? "" : said.errors));
      answer.code = std::max(answer.code, holds ? ExitCode::Good : said.code);
      if (said.code == ExitCode::Interrupted)
        break;
    }
    return answer;
  }

private:
  template <typename Named>
  bool prepare(const std::vector<Named>& tests, Answer& answer) {
    std::vector<std::string_view> names;
    for (const Named& test : tests)
      names.push_back(test.name);
    bool isGood = false;
    auto work = [&] {
      isGood = writeOutDerivatives(session_, program_, names, options_.calling, look_, answer);
      if (isGood && isOnMachine(options_.calling))
        prepareForMachine(session_, program_, names, false);
    };
    return withinLimits(options_.calling.limits, session_, look_, answer, work) && isGood;
  }

  /// What it shows while it runs is told only where it fails.
  bool runOne(const parser::surface::TestDefinition& test, const std::string& name,
              const tensor::TensorEngine& engine, Answer& said) {
    RunOptions calling = options_.calling;
    calling.limits.since = std::chrono::steady_clock::now();
    Look look{.colour = look_.colour};
    Running running(session_, program_, calling, look, said);
    auto outcome = running.call(*program_.module->find(name), {}, engine);
    const runtime::Value* value = running.end(outcome, engine);
    if (!value)
      return false;
    std::span<const runtime::Value> fields = value->fields();
    if (isAllTrue(fields[0]))
      return true;
    said.code = ExitCode::Program;
    runtime::RunFault fault;
    fault.problem = "this does not hold";
    fault.range = parser::resultOf(test.body)->range;
    constexpr std::string_view sides[] = {"left", "right"};
    for (size_t i = 1; i < fields.size(); ++i)
      fault.notes.push_back(fmt::format(
          "{}: {}", sides[i - 1],
          valueText(fields[i], session_.types(), program_.typing, {program_.isBare()})));
    said.errors += faultText(fault, session_.sources(), look);
    return false;
  }

  void tell(Answer& answer, const std::string& text) {
    look_.tell ? look_.tell(text) : void(answer.output += text);
  }

  Session& session_;
  Program& program_;
  const TestOptions& options_;
  const Look& look_;
};

std::string summary(const Count& count) {
  size_t all = count.held + count.failed;
  return fmt::format("{} test{}{}{}\n", all, all == 1 ? "" : "s",
                     count.failed > 0 ? fmt::format(", {} failed", count.failed)
                     : all > 0        ? ", all hold"
                                      : "",
                     count.others > 0 ? fmt::format(", {} left out", count.others) : "");
}

void add(Answer& all, Answer one) {
  all.output += one.output;
  all.errors += one.errors;
  all.code = std::max(all.code, one.code);
}

} // namespace

Answer test(Session& session, const TestOptions& options, const Look& look) {
  Answer answer;
  Count count;
  session.includeTests();
  for (const std::string& path : options.files)
    if (auto program = loadGood(session, path, look, answer))
      add(answer, FileTests(session, *program, options, look).run(count));
  if (answer.code == ExitCode::Good && count.held == 0 && count.others > 0)
    answer.fail(ExitCode::World,
                fmt::format("no test has {} in its name", formats::backquoted(options.only)));
  answer.output += summary(count);
  return answer;
}

} // namespace driver
