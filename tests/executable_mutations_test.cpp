// Thousands of damaged executables: cut short, with bytes changed, with words of code and numbers
// of tables changed and the checksum made right again; and of damaged texts of executables. Each is
// refused or runs within limits. The same ones on every run.
//
// usage: executable_mutations_test ROUNDS FILE...
#include "tests/fuzz/children.h"
#include "tests/fuzz/compiled.h"
#include "tests/fuzz/damage.h"

#include <iostream>

int main(int count, char** words) {
  size_t most = count > 1 ? size_t(std::atoll(words[1])) : 0, programs = 0;
  fuzz::Rounds rounds;
  for (int i = 2; i < count; ++i) {
    const std::vector<std::byte> whole = fuzz::compileFile(words[i]);
    if (whole.empty() || !fuzz::tryExecutable(whole).isAccepted) {
      std::cout << words[i] << ": cannot be compiled\n";
      ++rounds.failures;
      continue;
    }
    ++programs;
    const std::string text = fuzz::textOf(whole);
    // A quarter of the rounds is with texts.
    auto tried = [&](size_t round) {
      std::mt19937 random{unsigned(round)};
      return round % 4 == 0 ? fuzz::tryText(fuzz::damagedText(text, random))
                            : fuzz::tryExecutable(fuzz::damaged(whole, random));
    };
    fuzz::tryInChild(words[i], 0, most, tried, rounds);
  }
  std::cout << programs << " programs, " << programs * most << " damaged files, " << rounds.accepted
            << " accepted, " << rounds.ran << " ran to an end, " << rounds.failures
            << " failures\n";
  return rounds.failures > 0 || programs == 0;
}
