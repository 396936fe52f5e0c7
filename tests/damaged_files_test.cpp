// Damaged executables as in executable_mutations_test, which come from files that `baton compile`
// wrote. There is nothing of the language in it, so it is quickly built with sanitizers.
//
// usage: damaged_files_test FIRST ROUNDS FILE...
#include "tests/fuzz/children.h"
#include "tests/fuzz/damage.h"

#include <fstream>
#include <iostream>
#include <iterator>

namespace {

std::vector<std::byte> bytesOf(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

} // namespace

int main(int count, char** words) {
  if (count < 4) {
    std::cout << "usage: damaged_files_test FIRST ROUNDS FILE...\n";
    return 2;
  }
  const auto first = size_t(std::atoll(words[1])), most = size_t(std::atoll(words[2]));
  fuzz::Rounds rounds;
  for (int i = 3; i < count; ++i) {
    const std::vector<std::byte> whole = bytesOf(words[i]);
    if (!fuzz::tryExecutable(whole).isAccepted) {
      std::cout << words[i] << ": is no executable of this version\n";
      ++rounds.failures;
      continue;
    }
    auto tried = [&](size_t round) {
      std::mt19937 random{unsigned(round)};
      return fuzz::tryExecutable(fuzz::damaged(whole, random));
    };
    fuzz::tryInChild(words[i], first, most, tried, rounds);
  }
  std::cout << count - 3 << " files, " << size_t(count - 3) * most << " damaged ones, "
            << rounds.accepted << " accepted, " << rounds.ran << " ran to an end, "
            << rounds.failures << " failures\n";
  return rounds.failures > 0;
}
