// Damaged texts in Baton's notation: each must end in a diagnostic or a result, and one that is
// good must come back from what `print` makes of it. Tokens are left out, doubled, exchanged and
// taken from other programs, and texts are cut at any byte; the same ones on every run.
//
// usage: notation_mutations_test ROUNDS FOLDER...
//        notation_mutations_test show NAME ROUND FOLDER...
// ROUNDS are tried for each program, in a child process with bounds on memory and time. The text of
// a round that ends it is shown by the name of the program and the number of the round.
#include "tests/fuzz/children.h"
#include "tests/fuzz/notation.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

namespace {

namespace fs = std::filesystem;

/// Longer programs have nothing that shorter ones have not, and cost time.
constexpr size_t longest = 3'000;

struct Seed {
  std::string name;
  std::vector<std::string> tokens;
};

/// Words, marks and what is between them.
std::vector<std::string> tokensOf(const std::string& text) {
  auto kindOf = [](char c) {
    bool isWord = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    return isWord ? 0 : std::isspace(static_cast<unsigned char>(c)) != 0 ? 1 : 2;
  };
  std::vector<std::string> tokens;
  for (size_t i = 0; i < text.size(); ++i) {
    bool isSame = i > 0 && kindOf(text[i]) == kindOf(text[i - 1]) && kindOf(text[i]) < 2;
    if (isSame)
      tokens.back() += text[i];
    else
      tokens.emplace_back(1, text[i]);
  }
  return tokens;
}

std::vector<Seed> seedsIn(int count, char** folders) {
  std::vector<fs::path> files;
  for (int i = 0; i < count; ++i)
    for (const auto& entry : fs::recursive_directory_iterator(folders[i]))
      if (entry.path().extension() == ".baton" && entry.file_size() <= longest)
        files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<Seed> seeds;
  for (const fs::path& path : files) {
    std::ifstream stream(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    seeds.push_back({path.generic_string(), tokensOf(text)});
  }
  return seeds;
}

class Mutations {
public:
  Mutations(const std::vector<Seed>& seeds, size_t which, size_t round)
      : seeds_(seeds), tokens_(seeds[which].tokens), random_(unsigned(which * 7919 + round)) {}

  std::string text() {
    for (size_t i = 1 + below(3); i > 0 && !tokens_.empty(); --i)
      step();
    std::string all;
    for (const std::string& token : tokens_)
      all += token;
    if (below(10) == 0)
      all.resize(below(all.size() + 1));
    return all;
  }

private:
  size_t below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  const std::string& foreign() {
    const auto& other = seeds_[below(seeds_.size())].tokens;
    return other.empty() ? tokens_[0] : other[below(other.size())];
  }

  void step() {
    size_t at = below(tokens_.size());
    auto place = tokens_.begin() + ptrdiff_t(at);
    size_t length = std::min(1 + below(8), tokens_.size() - at);
    switch (below(6)) {
    case 0:
      tokens_.erase(place, place + ptrdiff_t(below(2) ? 1 : length));
      return;
    case 1: {
      std::vector<std::string> copy(place, place + ptrdiff_t(length));
      tokens_.insert(place, copy.begin(), copy.end());
      return;
    }
    case 2:
      std::swap(*place, tokens_[below(tokens_.size())]);
      return;
    case 3:
      tokens_.insert(place, foreign() + " ");
      return;
    default:
      *place = foreign();
    }
  }

  const std::vector<Seed>& seeds_;
  std::vector<std::string> tokens_;
  std::mt19937 random_;
};

/// The program as it is, then its mutations.
std::string textOf(const std::vector<Seed>& seeds, size_t which, size_t round) {
  if (round > 0)
    return Mutations(seeds, which, round).text();
  std::string text;
  for (const std::string& token : seeds[which].tokens)
    text += token;
  return text;
}

int show(const std::string& name, size_t round, const std::vector<Seed>& seeds) {
  auto found = std::ranges::find(seeds, name, &Seed::name);
  if (found == seeds.end())
    return 2;
  std::cout << textOf(seeds, size_t(found - seeds.begin()), round);
  return 0;
}

} // namespace

int main(int count, char** arguments) {
  if (count < 3)
    return 2;
  if (std::string(arguments[1]) == "show" && count > 4)
    return show(arguments[2], std::stoul(arguments[3]), seedsIn(count - 4, arguments + 4));
  size_t rounds = std::stoul(arguments[1]);
  std::vector<Seed> seeds = seedsIn(count - 2, arguments + 2);
  fuzz::Rounds all;
  for (size_t which = 0; which < seeds.size(); ++which)
    fuzz::tryInChild(
        seeds[which].name, 0, rounds + 1,
        [&](size_t round) { return fuzz::readNotation(textOf(seeds, which, round)); }, all);
  std::cout << seeds.size() << " programs, " << seeds.size() * (rounds + 1) << " texts, "
            << all.accepted << " good, " << all.ran << " ran, " << all.failures << " failures\n";
  return all.failures > 0 || seeds.empty() ? 1 : 0;
}
