// Texts with other layouts, and damaged ones: whatever still reads must keep what `baton fmt`
// promises. Comments, line ends and blanks are put between tokens and taken away, and tokens are
// left out, doubled and exchanged, the same ones on every run.
//
// usage: layout_mutations_test ROUNDS PATH...
#include "tests/fuzz/layout.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <vector>

namespace {

namespace fs = std::filesystem;
using parser::surface::Notation;

constexpr size_t longestSeed = 3'000;

struct LayoutSeed {
  std::string name;
  Notation notation;
  std::vector<std::string> pieces;
};

/// Words, numbers, runs of marks that belong together, blanks.
std::vector<std::string> piecesOf(const std::string& text) {
  auto kindOf = [](char c) {
    bool isWord =
        std::isalnum(uint8_t(c)) != 0 || std::string_view("_%@.").find(c) != std::string_view::npos;
    bool isMark = std::string_view("=-><&|*/!").find(c) != std::string_view::npos;
    return isWord ? 0 : std::isspace(uint8_t(c)) != 0 ? 1 : isMark ? 2 : 3;
  };
  std::vector<std::string> pieces;
  for (size_t i = 0; i < text.size(); ++i) {
    bool goesOn = i > 0 && kindOf(text[i]) == kindOf(text[i - 1]) && kindOf(text[i]) < 3;
    if (goesOn)
      pieces.back() += text[i];
    else
      pieces.emplace_back(1, text[i]);
  }
  return pieces;
}

Notation notationOf(const fs::path& path) {
  return path.extension() == ".baton" ? Notation::Baton : Notation::Relay;
}

void addSeed(std::vector<LayoutSeed>& seeds, const fs::path& path) {
  bool isProgram = path.extension() == ".baton" || path.extension() == ".rly";
  if (!isProgram || fs::file_size(path) > longestSeed)
    return;
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  seeds.push_back({path.generic_string(), notationOf(path), piecesOf(text)});
}

class LayoutMutation {
public:
  LayoutMutation(const LayoutSeed& seed, unsigned number) : pieces_(seed.pieces), random_(number) {}

  std::string text() {
    if (below(8) == 0)
      std::erase_if(pieces_, [&](const std::string& piece) {
        return std::isspace(uint8_t(piece[0])) != 0 && below(3) == 0;
      });
    for (size_t i = 1 + below(6); i > 0 && !pieces_.empty(); --i)
      step();
    std::string all;
    for (const std::string& piece : pieces_)
      all += piece;
    return all;
  }

private:
  size_t below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  void step() {
    constexpr std::string_view gaps[] = {" // note\n",
                                         "\n// own\n",
                                         " /* inline */ ",
                                         "\n/* own */\n",
                                         "\n/// doc\n",
                                         "\n\n\n",
                                         "\r\n",
                                         "\t",
                                         "\n",
                                         " /* two\n  lines */ ",
                                         "//\n",
                                         "\n\n// apart\n\n",
                                         "/* a *//* b */\n",
                                         "  ",
                                         "\n   /* begins */ "};
    size_t at = below(pieces_.size());
    auto place = pieces_.begin() + ptrdiff_t(at);
    switch (below(8)) {
    case 0:
      pieces_.erase(place);
      return;
    case 1:
      std::swap(*place, pieces_[below(pieces_.size())]);
      return;
    case 2:
      pieces_.insert(place, pieces_[below(pieces_.size())] + " ");
      return;
    default:
      pieces_.insert(place, std::string(gaps[below(std::size(gaps))]));
    }
  }

  std::vector<std::string> pieces_;
  std::mt19937 random_;
};

} // namespace

int main(int count, char** arguments) {
  if (count < 3)
    return 2;
  size_t rounds = std::stoul(arguments[1]);
  std::vector<LayoutSeed> seeds;
  for (int i = 2; i < count; ++i)
    for (const auto& entry : fs::recursive_directory_iterator(arguments[i]))
      addSeed(seeds, entry.path());
  std::ranges::sort(seeds, {}, &LayoutSeed::name);
  size_t read = 0, broken = 0;
  for (size_t which = 0; which < seeds.size(); ++which)
    for (size_t round = 0; round < rounds; ++round) {
      std::string text = LayoutMutation(seeds[which], unsigned(which * 7919 + round)).text();
      fuzz::LayoutOutcome outcome = fuzz::tryLayout(text, seeds[which].notation);
      read += outcome.isRead ? 1 : 0;
      if (outcome.broken.empty())
        continue;
      if (++broken <= 5)
        std::cout << seeds[which].name << ", round " << round << ": " << outcome.broken << '\n';
    }
  size_t texts = seeds.size() * rounds;
  std::cout << seeds.size() << " programs, " << texts << " texts, " << read << " read, " << broken
            << " broken\n";
  // Else nothing much was asked.
  bool isEnough = read > texts / 4;
  return broken > 0 || !isEnough ? 1 : 0;
}
