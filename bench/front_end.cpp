// How long the front end takes: parse, resolve, check and print, as rows of a Markdown table.
//
// usage: front_end_bench [FILE...]
// Measures the given programs, then generated ones of growing length: as graph bindings, as lets,
// as lets over named sizes, and as many small definitions, all in Relay's text, and in Baton's
// notation as definitions of five lines, as an open definition with many uses, and as one long
// block. These are measured as Relay's text as well, which their row is compared with. Each figure
// is the median of the rounds; a round starts from nothing (new arena, types and module), and the
// operator table, which is made once in a process, is made before.
#include "bench/processor_time.h"
#include "lang/print/print.h"
#include "parser/baton/parse.h"
#include "parser/metadata/metadata.h"
#include "parser/relay/parse.h"
#include "parser/resolve/resolve.h"
#include "stdlib/ops.h"
#include "typecheck/check.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace {

constexpr size_t rounds = 9;

/// Milliseconds of one round, by stage.
struct Times {
  double parse = 0, resolve = 0, check = 0, print = 0;

  double read() const { return parse + resolve + check; }
};

/// Rows of a second table: what a program of Baton's notation takes, as parts of what its text in
/// Relay's takes.
std::string ratios;

/// Processor time in milliseconds. The front end has one thread, so on a quiet machine this is the
/// time that passes; on a busy one it is what can be compared.
double processorTime() {
  return bench::processorSeconds() * 1e3;
}

/// Measures from one call of `lap` to the next.
class Watch {
public:
  double lap() {
    double now = processorTime();
    return now - std::exchange(last_, now);
  }

private:
  double last_ = processorTime();
};

/// What a round is about.
struct Text {
  std::string name;
  std::string text;
  parser::surface::Notation notation = parser::surface::Notation::Relay;
};

const parser::surface::File* parsed(runtime::Arena& trees, parser::surface::Notation notation,
                                    const lang::SourceFile& source,
                                    lang::Diagnostics& diagnostics) {
  return notation == parser::surface::Notation::Baton
             ? parser::baton::parseText(trees, source, diagnostics)
             : parser::parseText(trees, source, diagnostics);
}

/// One round; no value when the program has errors. What is printed goes to `printed`.
std::optional<Times> measure(const lang::SourceFile& source, parser::surface::Notation notation,
                             std::string& printed) {
  const lang::OperatorTable& operators = stdlib::operatorTable();
  lang::TypeContext types;
  runtime::Arena trees;
  lang::Diagnostics diagnostics;
  Times times;
  Watch watch;
  const auto* file = parsed(trees, notation, source, diagnostics);
  times.parse = watch.lap();
  if (!file || diagnostics.hasErrors())
    return std::nullopt;
  lang::MetadataTable metadata;
  if (file->metadata.isValid())
    if (auto table = parser::readMetadata(source, file->metadata, diagnostics))
      metadata = std::move(*table);
  auto module =
      parser::resolve(*file, source, std::move(metadata), {types, operators, {}}, diagnostics);
  times.resolve = watch.lap();
  if (diagnostics.hasErrors())
    return std::nullopt;
  auto checked = typecheck::checkAndComplete(std::move(module), operators, diagnostics);
  times.check = watch.lap();
  if (diagnostics.hasErrors())
    return std::nullopt;
  printed = lang::printModule(*checked.module, operators, {.types = &checked.typing}).text;
  times.print = watch.lap();
  return printed.empty() ? std::nullopt : std::optional(times);
}

double median(std::vector<Times>& times, double Times::*stage) {
  std::ranges::nth_element(times, times.begin() + rounds / 2, {}, stage);
  return times[rounds / 2].*stage;
}

/// Measures one program and prints its row; no value when it has errors. Its text as it prints goes
/// to `printed`.
std::optional<Times> report(const Text& program, std::string& printed) {
  double lines = double(std::ranges::count(program.text, '\n'));
  lang::SourceMap sources;
  const lang::SourceFile* source = sources.add(program.name, program.text);
  std::vector<Times> all;
  for (size_t round = 0; round < rounds; ++round) {
    auto times = source ? measure(*source, program.notation, printed) : std::nullopt;
    if (!times) {
      fmt::print(stderr, "{} has errors\n", program.name);
      return std::nullopt;
    }
    all.push_back(*times);
  }
  Times typical;
  for (auto stage : {&Times::parse, &Times::resolve, &Times::check, &Times::print})
    typical.*stage = median(all, stage);
  double read = typical.read(), whole = read + typical.print;
  fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.0f} | {:.0f} |\n",
             program.name, lines, typical.parse, typical.resolve, typical.check, typical.print,
             whole, 1e3 * lines / read, 1e3 * lines / whole);
  std::fflush(stdout);
  return typical;
}

/// Measures a program of Baton's notation, and as it prints as Relay's text. False when either has
/// errors.
bool compare(const std::string& name, std::string text) {
  std::string relay, again;
  auto own = report({name, std::move(text), parser::surface::Notation::Baton}, relay);
  auto other = own ? report({name + ", Relay's", std::move(relay)}, again) : std::nullopt;
  if (other)
    ratios += fmt::format("| {} | {:.2f} | {:.2f} | {:.2f} |\n", name,
                          (own->parse + own->resolve) / (other->parse + other->resolve),
                          own->check / other->check, own->read() / other->read());
  return other.has_value();
}

/// A network of `count` bindings over a few operators, as graph bindings or as lets, over `rows`
/// rows: a number or a name.
std::string network(size_t count, bool asLets, std::string_view rows) {
  std::string text = fmt::format("#[version = \"0.0.5\"]\n"
                                 "def @main(%x: Tensor[({}, 64), float32], "
                                 "%w: Tensor[(64, 64), float32], %b: Tensor[(64), float32]) {{\n",
                                 rows);
  auto name = [&](size_t i) { return fmt::format("%{}{}", asLets ? "v" : "", i); };
  for (size_t i = 0; i < count; ++i) {
    std::string before = i == 0 ? "%x" : name(i - 1), other = i < 8 ? "%x" : name(i - 8);
    text += fmt::format("  {}{} = ", asLets ? "let " : "", name(i));
    switch (i % 6) {
    case 0:
      text += fmt::format("nn.dense({}, %w, units=64);\n", before);
      break;
    case 1:
      text += fmt::format("nn.bias_add({}, %b, axis=-1);\n", before);
      break;
    case 2:
      text += fmt::format("nn.relu({});\n", before);
      break;
    case 3:
      text += fmt::format("add({}, {});\n", before, other);
      break;
    case 4:
      text += fmt::format("multiply({}, 0.5f);\n", before);
      break;
    default:
      text += fmt::format("reshape({}, newshape=[-1, 64]);\n", before);
    }
  }
  return text + fmt::format("  {}\n}}\n", name(count - 1));
}

/// `count` functions, each of which calls one before it, so all sizes are instantiated anew.
std::string definitions(size_t count) {
  std::string text = "#[version = \"0.0.5\"]\ndef @f0(%x: Tensor[(n, 64), float32]) { %x }\n";
  for (size_t i = 1; i < count; ++i)
    text += fmt::format("def @f{}(%x: Tensor[(n, 64), float32]) {{ nn.relu(@f{}(%x)) }}\n", i,
                        i < 8 ? 0 : i - 8);
  return text;
}

/// Definitions of five lines, with numbers whose type their use decides.
std::string layers(size_t lines) {
  std::string text;
  for (size_t i = 0; i < lines / 5; ++i)
    text += fmt::format("def layer{}(x: f32[8, 16], w: f32[16, 16], b: f32[16]) -> f32[8, 16] {{\n"
                        "  let h = x @ w + b;\n"
                        "  let g = 0.5 * h * (1 + tanh(h / sqrt(2.0)));\n"
                        "  g + x\n}}\n",
                        i);
  return text;
}

/// A block of uses of one open definition at one type.
std::string uses(size_t lines) {
  std::string text = "def gelu(x) = 0.5 * x * (1 + erf(x / sqrt(2)))\n"
                     "def main(x: f32[8, 16]) {\n";
  for (size_t i = 0; i < lines; ++i)
    text += "  let x = gelu(x);\n";
  return text + "  x\n}\n";
}

/// A block of sums with numbers.
std::string block(size_t lines) {
  std::string text = "def main(x: f32[8, 16]) {\n  let v0 = x;\n";
  for (size_t i = 1; i < lines; ++i)
    text += fmt::format("  let v{} = 2 * v{} + v{};\n", i, i - 1, i < 8 ? 0 : i - 8);
  return text + fmt::format("  v{}\n}}\n", lines - 1);
}

/// One program whose text is generated, by the number of its lines.
struct Generated {
  std::string_view name;
  std::string (*text)(size_t lines);
};

constexpr Generated programs[] = {
    {"graph", [](size_t lines) { return network(lines, false, "8"); }},
    {"lets", [](size_t lines) { return network(lines, true, "8"); }},
    {"named sizes", [](size_t lines) { return network(lines, true, "n"); }},
    {"definitions", definitions},
};

constexpr Generated ownPrograms[] = {{"layers", layers}, {"open uses", uses}, {"block", block}};

constexpr size_t lengths[] = {1'000, 3'000, 10'000, 30'000, 100'000, 300'000};
constexpr size_t ownLengths[] = {1'000, 10'000, 100'000};

std::string contents(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

int main(int count, char** arguments) {
  stdlib::operatorTable();
  fmt::print("| program | lines | parse ms | resolve ms | check ms | print ms | all ms | "
             "lines/s read | lines/s with print |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  bool isGood = true;
  std::string printed;
  for (int i = 1; i < count; ++i) {
    std::filesystem::path path = arguments[i];
    isGood &= path.extension() == ".baton"
                  ? compare(path.stem().string(), contents(arguments[i]))
                  : report({path.stem().string(), contents(arguments[i])}, printed).has_value();
  }
  for (const Generated& program : programs)
    for (size_t lines : lengths)
      isGood &= report({fmt::format("{} {}", program.name, lines), program.text(lines)}, printed)
                    .has_value();
  for (const Generated& program : ownPrograms)
    for (size_t lines : ownLengths)
      isGood &= compare(fmt::format("{} {}", program.name, lines), program.text(lines));
  fmt::print("\n| Baton's notation : Relay's text | parse and resolve | check | read |\n"
             "|---|--:|--:|--:|\n{}",
             ratios);
  return isGood ? 0 : 1;
}
