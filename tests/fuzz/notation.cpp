// The promises: a text without a meaning has an error that can be shown; what is printed of one
// that has a meaning, in its own notation, reads back as the same module; and a run ends within
// limits.
#include "tests/fuzz/notation.h"

#include "driver/commands.h"
#include "driver/large_stack.h"
#include "driver/session/own_notation.h"
#include "lang/ir/verify.h"
#include "lang/print/print.h"
#include "lang/source/render.h"
#include "parser/metadata/metadata.h"
#include "stdlib/ops.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <map>

#include <unistd.h>

namespace fuzz {

namespace {

using driver::Program;
using driver::Session;

/// The program without the names of locals, which are others where they hide each other.
std::string printed(Session& session, const Program& program) {
  std::string text = parser::wholeText(lang::printModule(*program.module, session.operators(), {}));
  std::map<std::string, size_t> numbers;
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (text[i] == '%' && end < text.size() && (std::isalnum(text[end]) || text[end] == '_'))
      ++end;
    std::string word = text.substr(i, end - i);
    bool isLocal = word.size() > 1 && (std::isalpha(word[1]) || word[1] == '_');
    result += isLocal ? fmt::format("%v{}", numbers.try_emplace(word, numbers.size()).first->second)
                      : word;
    i = end;
  }
  return result;
}

std::string shown(const Session& session, const Program& program) {
  return lang::renderDiagnostics(program.diagnostics, session.sources(), "text", {});
}

/// What `print --notation=baton` gives, read back.
std::string brokenReturn(Session& session, const Program& program) {
  std::string text = driver::ownNotation(session, program, false);
  auto again = session.loadText("printed.baton", text);
  if (!again || !again->isGood())
    return fmt::format("what is printed is refused:\n{}\n{}",
                       again ? shown(session, *again) : again.failure().message, text);
  std::string before = printed(session, program), after = printed(session, *again);
  return before == after
             ? std::string()
             : fmt::format("what is printed is another program:\n{}\nfrom\n{}\nand before\n{}",
                           after, text, before);
}

std::string brokenReading(const std::string& text, bool& isGood) {
  Session session(stdlib::operatorTable());
  session.includeTests();
  auto program = session.loadText("text.baton", text);
  if (!program)
    return "";
  isGood = program->isGood();
  if (!isGood)
    return program->diagnostics.hasErrors() && !shown(session, *program).empty()
               ? ""
               : "refused without an error";
  for (const std::string& problem : lang::verify(*program->module))
    return "the verifier says: " + problem;
  Session plain(stdlib::operatorTable());
  auto alone = plain.loadText("text.baton", text);
  bool isProgram =
      alone && alone->isGood() && alone->module->globals.size() > alone->module->preludeGlobals;
  return isProgram ? brokenReturn(plain, *alone) : "";
}

/// Whether a run gave a value; it may end in a fault, but not in one of Baton's.
bool runs(const std::string& text, std::string& broken) {
  auto path = std::filesystem::temp_directory_path() / fmt::format("notation-{}.baton", getpid());
  std::ofstream(path, std::ios::binary) << text;
  driver::RunOptions options{.file = path.string()};
  options.seed = 3;
  options.limits.steps = 10'000;
  options.limits.memory = 64 << 20;
  options.limits.seconds = 2;
  options.engine = "vm";
  Session session(stdlib::operatorTable());
  driver::Answer answer = driver::run(session, options, {});
  std::filesystem::remove(path);
  if (answer.code == driver::ExitCode::Fault)
    broken = "the run ends in a fault of Baton: " + answer.errors;
  return answer.code == driver::ExitCode::Good;
}

} // namespace

Outcome readNotation(const std::string& text) {
  Outcome outcome;
  std::string broken;
  driver::runOnLargeStack([&] {
    broken = brokenReading(text, outcome.isAccepted);
    if (broken.empty() && outcome.isAccepted)
      outcome.ran = runs(text, broken);
  });
  if (!broken.empty()) {
    std::cout << broken << "\nThe text is\n" << text << std::endl;
    std::_Exit(1);
  }
  return outcome;
}

} // namespace fuzz
