// How fast programs are laid out, as rows of a Markdown table: reading the text, making the layout,
// and holding it against the text, each in MB of the text a second of processor time.
//
// usage: layout_bench FILE...
// The files of each notation are put together, again and again, to a text of some size. What is
// laid out already is not compared.
#include "bench/processor_time.h"
#include "parser/baton/parse.h"
#include "parser/format/format.h"
#include "parser/relay/parse.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace {

using parser::surface::Notation;

constexpr size_t rounds = 9;
constexpr size_t length = 2'000'000;

bool parses(const lang::SourceFile& source, Notation notation) {
  runtime::Arena trees;
  lang::Diagnostics diagnostics;
  const auto* tree = notation == Notation::Baton
                         ? parser::baton::parseText(trees, source, diagnostics)
                         : parser::parseText(trees, source, diagnostics);
  return tree && !diagnostics.hasErrors();
}

/// The median of the rounds, in MB a second.
template <typename Work>
double speed(const std::string& text, Work work) {
  std::vector<double> times;
  for (size_t i = 0; i < rounds; ++i) {
    double begin = bench::processorSeconds();
    work();
    times.push_back(bench::processorSeconds() - begin);
  }
  std::ranges::sort(times);
  return double(text.size()) / 1e6 / times[rounds / 2];
}

void report(std::string_view name, const std::string& text, Notation notation) {
  lang::SourceMap sources;
  const lang::SourceFile& source = *sources.add("text", text);
  if (!parses(source, notation)) {
    fmt::print("| {} | cannot be read |\n", name);
    return;
  }
  parser::format::LaidOut result = parser::format::layOut(source, notation);
  const lang::SourceFile& after = *sources.add("result", result.text);
  double read = speed(text, [&] { parses(source, notation); });
  double laidOut = speed(text, [&] { parser::format::layOut(source, notation); });
  double compared = speed(text, [&] { parser::format::difference(result.tokens, after); });
  double all = 1 / (1 / read + 1 / laidOut + (result.text == text ? 0 : 1 / compared));
  fmt::print("| {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |\n", name,
             double(text.size()) / 1e6, read, laidOut, compared, all);
}

/// The text again and again.
std::string repeated(const std::string& text) {
  std::string result;
  while (!text.empty() && result.size() < length)
    result += text;
  return result;
}

} // namespace

int main(int count, char** arguments) {
  std::string own, relay;
  for (int i = 1; i < count; ++i) {
    std::ifstream stream(arguments[i], std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    bool isOwn = std::string_view(arguments[i]).ends_with(".baton");
    (isOwn ? own : relay) +=
        isOwn ? text : text.substr(text.starts_with("#[") ? text.find('\n') : 0);
  }
  fmt::print("| text | MB | read MB/s | lay out MB/s | compare MB/s | all MB/s |\n"
             "|---|--:|--:|--:|--:|--:|\n");
  for (auto [name, text, notation] : {std::tuple("Baton's notation", &own, Notation::Baton),
                                      {"Relay's text", &relay, Notation::Relay}}) {
    lang::SourceMap sources;
    std::string whole = repeated(*text);
    if (whole.empty())
      continue;
    report(fmt::format("{}, as written", name), whole, notation);
    report(fmt::format("{}, laid out", name),
           parser::format::layOut(*sources.add("text", whole), notation).text, notation);
  }
  return 0;
}
