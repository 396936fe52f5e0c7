// `baton check`: what is wrong with programs, for people or as one JSON object.
#include "driver/commands.h"

#include "driver/session/definition_text.h"
#include "driver/session/derive.h"
#include "driver/session/find_global.h"
#include "driver/session/load.h"
#include "driver/session/tests.h"
#include "lang/ir/differentiable.h"
#include "lang/source/render.h"
#include "lang/source/utf8.h"

#include <fmt/format.h>

namespace driver {

namespace {

/// The parts of the JSON object.
struct Report {
  std::string functions;
  std::string diagnostics;

  static void add(std::string& list, const std::string& item) {
    list += (list.empty() ? "" : ",") + item;
  }
};

void addFunctions(Report& report, const Program& program, const std::string& prefix) {
  for (const lang::Global* global : ownGlobals(program)) {
    if (!global->function)
      continue;
    std::string type = lang::typeText(globalType(program, *global), program.notation());
    Report::add(report.functions, lang::jsonQuoted(prefix + std::string(global->name)) + ":" +
                                      lang::jsonQuoted(type));
  }
}

std::string goodText(const Program& program) {
  size_t count = ownGlobals(program).size(), tests = testsOf(program).size();
  std::string tested = tests == 0 ? "" : fmt::format(", {} test{}", tests, tests == 1 ? "" : "s");
  return fmt::format("{}: ok, {} function{}{}\n", lang::printable(program.source->name()), count,
                     count == 1 ? "" : "s", tested);
}

/// A file that cannot be read, in the form of a diagnostic without a code.
std::string unreadableJson(const std::string& path, const std::string& reason) {
  return fmt::format(R"({{"code":null,"severity":"error","message":{},"file":{},)"
                     R"("line":1,"column":1,"endLine":1,"endColumn":1}})",
                     lang::jsonQuoted(reason), lang::jsonQuoted(path));
}

/// Says which inputs have a gradient, and what stands in the way of those of all.
void checkGradients(Session& session, Program& program, const std::string& path, const Look& look,
                    Answer& answer) {
  const lang::Global* entry =
      findGlobal(program, "main", "baton grad --of", answer, ExitCode::Program);
  if (!entry)
    return;
  for (const lang::Var* parameter : entry->function->parameters) {
    const lang::Type* type = program.typing.of(*parameter);
    std::string_view obstacle = lang::holdsFunctions(type) ? "it holds functions or references"
                                : lang::holdsFloats(type)  ? ""
                                                           : "it holds no floats";
    answer.output +=
        fmt::format("  {}: `{}` {}{}\n",
                    lang::localName(lang::printable(parameter->name)).in(program.notation()),
                    lang::typeText(type, program.notation()),
                    obstacle.empty() ? "has a gradient" : "has no gradient: ", obstacle);
  }
  RunOptions options{.file = path, .grad = 1};
  writeOutDerivatives(session, program, transform::mainAlone, options, look, answer);
}

/// Checks one file into the report and, unless it is all that is wanted, the answer's texts.
void checkFile(Session& session, const std::string& path, const CheckOptions& options,
               const Look& look, Report& report, Answer& answer) {
  auto program = session.load(path);
  if (!program) {
    Report::add(report.diagnostics, unreadableJson(path, program.failure().message));
    return answer.fail(ExitCode::World, program.failure().message);
  }
  if (!program->isGood())
    answer.code = std::max(answer.code, ExitCode::Program);
  if (options.json) {
    for (const lang::Diagnostic& item : program->diagnostics.all())
      Report::add(report.diagnostics,
                  lang::diagnosticJson(item, session.sources(), sourceName(path)));
    if (program->isGood())
      addFunctions(report, *program, options.files.size() > 1 ? path + ":" : "");
    return;
  }
  answer.errors += findingsText(session, program->diagnostics, path, look);
  if (!program->isGood())
    return;
  if (options.types)
    answer.output += definitionLines(*program);
  answer.output += goodText(*program);
  if (options.grad)
    checkGradients(session, *program, path, look, answer);
}

} // namespace

Answer check(Session& session, const CheckOptions& options, const Look& look) {
  session.includeTests();
  if (!options.hover.empty())
    return hover(session, options, look);
  Answer answer;
  Report report;
  for (const std::string& path : options.files)
    checkFile(session, path, options, look, report, answer);
  if (options.json)
    answer.output =
        fmt::format("{{\"ok\":{},\"functions\":{{{}}},\"diagnostics\":[{}]}}\n",
                    answer.code == ExitCode::Good, report.functions, report.diagnostics);
  return answer;
}

} // namespace driver
