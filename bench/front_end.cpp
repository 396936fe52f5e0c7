// How long the front end takes: parse, resolve, check and print, as rows of a Markdown table.
//
// usage: front_end_bench [FILE...]
// Measures the given programs, then generated ones of growing length: as graph bindings, as lets,
// as lets over named sizes, and as many small definitions. Each figure is the median of the rounds;
// a round starts from nothing (new arena, types and module), and the operator table, which is made
// once in a process, is made before.
#include "bench/processor_time.h"
#include "lang/print/print.h"
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
};

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

/// One round; no value when the program has errors.
std::optional<Times> measure(const lang::SourceFile& source) {
  const lang::OperatorTable& operators = stdlib::operatorTable();
  lang::TypeContext types;
  runtime::Arena trees;
  lang::Diagnostics diagnostics;
  Times times;
  Watch watch;
  const auto* file = parser::parseText(trees, source, diagnostics);
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
  lang::Typing typing = typecheck::checkModule(*module, operators, diagnostics);
  times.check = watch.lap();
  if (diagnostics.hasErrors())
    return std::nullopt;
  auto printed = lang::printModule(*module, operators, {.types = &typing});
  times.print = watch.lap();
  return printed.text.empty() ? std::nullopt : std::optional(times);
}

double median(std::vector<Times>& times, double Times::*stage) {
  std::ranges::nth_element(times, times.begin() + rounds / 2, {}, stage);
  return times[rounds / 2].*stage;
}

/// Measures one program and prints its row. False when it has errors.
bool report(const std::string& name, std::string text) {
  double lines = double(std::ranges::count(text, '\n'));
  lang::SourceMap sources;
  const lang::SourceFile* source = sources.add(name, std::move(text));
  std::vector<Times> all;
  for (size_t round = 0; round < rounds; ++round) {
    auto times = source ? measure(*source) : std::nullopt;
    if (!times) {
      fmt::print(stderr, "{} has errors\n", name);
      return false;
    }
    all.push_back(*times);
  }
  double parse = median(all, &Times::parse), resolve = median(all, &Times::resolve),
         check = median(all, &Times::check), print = median(all, &Times::print);
  double read = parse + resolve + check;
  fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.0f} | {:.0f} |\n", name,
             lines, parse, resolve, check, print, read + print, 1e3 * lines / read,
             1e3 * lines / (read + print));
  std::fflush(stdout);
  return true;
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
  for (int i = 1; i < count; ++i)
    isGood &= report(std::filesystem::path(arguments[i]).stem().string(), contents(arguments[i]));
  for (const Generated& program : programs)
    for (size_t lines : {1'000, 3'000, 10'000, 30'000, 100'000, 300'000})
      isGood &= report(fmt::format("{} {}", program.name, lines), program.text(lines));
  return isGood ? 0 : 1;
}
