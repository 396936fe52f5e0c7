// What derivatives cost in additions and multiplications (tests/harness/operation_counts.h). Rows
// of a Markdown table: the definition, what a run of it does, and how many times what `@loss` does.
//
// usage: operation_counts FILE [DEFINITION[<=RATIO]]...
// `@loss` is run as simplification leaves it, then with gradients of all its inputs, as
// `baton run --grad` does, then the definitions; a definition that is over its ratio is said to be
// so, and makes the exit status 1. Inputs are random. Each definition is made the `@main` of the
// program for its turn: passes take what is beside `@main` for a library, and keep it whole.
#include "codegen/strips/compile/sized.h"
#include "driver/arguments.h"
#include "driver/session/derive.h"
#include "interp/interpret.h"
#include "stdlib/ops.h"
#include "tests/harness/operation_counts.h"

#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

namespace {

using harness::OperationCounts;

/// Ends the program: there is nothing to count.
void require(bool holds, std::string_view what) {
  if (holds)
    return;
  fmt::print(stderr, "error: {}\n", what);
  exit(2);
}

/// The program in which a definition is called `@main`.
std::string textWithMain(const std::string& file, const std::string& definition) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(stream), {});
  const std::string name = '@' + definition, inPlace = "@main";
  require(text.find("def " + name + '(') != std::string::npos,
          fmt::format("{} has no {}", file, name));
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    char next = text[at + name.size()];
    if (std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '_')
      text.replace(at, name.size(), inPlace);
  }
  return text;
}

/// What a run of a definition does; of `grad` order 1, with the gradients of its inputs.
OperationCounts countsOf(const std::string& file, const std::string& definition, unsigned grad) {
  driver::Session session(stdlib::operatorTable());
  driver::RunOptions options{.file = file, .inputs = {}, .dims = {}, .seed = 1, .output = {}};
  options.grad = grad;
  auto program = session.loadText(file, textWithMain(file, definition));
  require(program && program->isGood(), "the program is wrong");
  driver::Derivation derivation(session, *program);
  // Without derivatives the passes are run all the same, so that all is counted as they leave it.
  if (grad == 0)
    require(derivation.writeOut(transform::mainAlone), "derivatives can't be written out");
  driver::Answer answer;
  const lang::Global* entry = program->module->find(options.entry);
  require(driver::writeOutDerivatives(session, *program, transform::mainAlone, options, {}, answer),
          answer.errors);
  entry = grad != 0 ? program->module->globals.back() : program->module->find(options.entry);
  driver::Arguments arguments =
      driver::readArguments(*entry, *program, session.types(), options);
  require(arguments.problems.empty(), "an input can't be filled");
  OperationCounts counts;
  interp::Options how;
  how.engine = harness::countingEngine(strips::stripsEngine(), counts);
  auto result = interp::interpret(*program->module, program->typing, session.operators(), *entry,
                                  std::move(arguments.values), how);
  require(std::holds_alternative<runtime::Value>(result), "the run ended in a fault");
  return counts;
}

struct Wanted {
  std::string definition;
  double mostRatio = 0;
};

Wanted wantedOf(std::string_view word) {
  size_t sign = word.find("<=");
  Wanted wanted{std::string(word.substr(0, sign))};
  if (sign != std::string_view::npos) {
    std::string_view number = word.substr(sign + 2);
    auto read = std::from_chars(number.data(), number.data() + number.size(), wanted.mostRatio);
    require(read.ec == std::errc(), "a ratio is a number");
  }
  return wanted;
}

double report(const std::string& program, const std::string& name, const OperationCounts& counts,
              const OperationCounts& forward) {
  double ratio = double(counts.total()) / double(forward.total());
  fmt::print("| {} | {} | {} | {} | {:.2f} |\n", program, name, counts.additions,
             counts.multiplications, ratio);
  return ratio;
}

} // namespace

int main(int count, char** arguments) {
  require(count > 1, "usage: operation_counts FILE [DEFINITION[<=RATIO]]...");
  const std::string file = arguments[1];
  const std::string program = std::filesystem::path(file).stem().string();
  OperationCounts forward = countsOf(file, "loss", 0);
  fmt::print("| program | definition | additions | multiplications | ratio |\n"
             "|---|---|--:|--:|--:|\n");
  report(program, "loss", forward, forward);
  report(program, "loss --grad", countsOf(file, "loss", 1), forward);
  bool isGood = true;
  for (int i = 2; i < count; ++i) {
    Wanted wanted = wantedOf(arguments[i]);
    double ratio =
        report(program, wanted.definition, countsOf(file, wanted.definition, 0), forward);
    if (wanted.mostRatio == 0 || ratio <= wanted.mostRatio)
      continue;
    fmt::print(stderr, "{}: @{} does {:.3f} times what @loss does, and at most {} was wanted\n",
               program, wanted.definition, ratio, wanted.mostRatio);
    isGood = false;
  }
  return isGood ? 0 : 1;
}
