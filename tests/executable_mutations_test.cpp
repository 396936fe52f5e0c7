// Thousands of damaged executables: cut short, with bytes changed, with words of code and numbers
// of tables changed and the checksum made right again; and of damaged texts of executables. Each is
// refused or runs within limits. The same ones on every run.
//
// usage: executable_mutations_test ROUNDS FILE...
// Each program has a child process of its own with bounds on memory and time, so a crash is
// reported with the round that caused it and the other programs are still tried.
#include "tests/fuzz/executables.h"

#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr rlim_t memoryLimit = rlim_t(4) << 30;
constexpr rlim_t secondsPerProgram = 120;

/// What the parent sees of its child.
struct Shared {
  size_t round, accepted, ran;
};

using Bytes = std::vector<std::byte>;

void changeByte(Bytes& bytes, std::mt19937& random, size_t from) {
  size_t at = from + random() % (bytes.size() - from);
  switch (random() % 4) {
  case 0:
    bytes[at] = std::byte(random());
    break;
  case 1:
    bytes[at] ^= std::byte(1 << random() % 8);
    break;
  case 2:
    bytes[at] = std::byte(uint8_t(bytes[at]) + 1);
    break;
  default:
    bytes[at] = std::byte(random() % 2 ? 0 : 255);
  }
}

/// Two pieces of a few bytes change places.
void swapPieces(Bytes& bytes, std::mt19937& random, size_t from) {
  size_t length = size_t(1) << random() % 4;
  if (bytes.size() - from < 2 * length)
    return;
  size_t a = from + random() % (bytes.size() - from - length + 1);
  size_t b = from + random() % (bytes.size() - from - length + 1);
  for (size_t i = 0; i < length; ++i)
    std::swap(bytes[a + i], bytes[b + i]);
}

Bytes mutated(const Bytes& whole, std::mt19937& random) {
  Bytes bytes = whole;
  constexpr size_t header = 64;
  unsigned kind = random() % 16;
  if (kind == 0) {
    bytes.resize(random() % bytes.size());
    return bytes;
  }
  if (kind == 1) {
    changeByte(bytes, random, 0);
    return bytes;
  }
  size_t changes = 1 + random() % 3;
  for (size_t i = 0; i < changes; ++i)
    random() % 4 ? changeByte(bytes, random, header) : swapPieces(bytes, random, header);
  fuzz::sealExecutable(bytes);
  return bytes;
}

/// The piece of a text from some place on to before one of these characters.
std::string_view pieceOf(std::string_view text, std::mt19937& random, const char* ends) {
  size_t start = random() % text.size();
  return text.substr(start, text.find_first_of(ends, start) - start);
}

std::string mutatedText(const std::string& whole, std::mt19937& random) {
  constexpr const char* words[] = {
      "0",  "-1", "7",  "65535", "4294967295", "99999999999", "none", "nan", "@0",
      "#0", "f1", "r1", "_",     "{",          "}",           "[",    "]",   ",",
      "..", "\"", "|",  "//",    "owned",      "int8",        "0x0",  "\\x", "\n"};
  std::string text = whole;
  for (size_t changes = 1 + random() % 2; changes > 0 && !text.empty(); --changes) {
    const char* ends = random() % 2 ? "\n" : " ,}])\n";
    std::string_view from = pieceOf(text, random, ends), to = pieceOf(text, random, ends);
    std::string put = random() % 2 ? std::string(to) : words[random() % std::size(words)];
    auto at = size_t(from.data() - text.data());
    switch (random() % 8) {
    case 0:
      text[at] = char(random());
      break;
    case 1:
      text.insert(at, put);
      break;
    case 2:
      text.erase(at, from.size());
      break;
    case 3:
      text.resize(random() % 8 ? text.size() : at);
      break;
    default:
      text.replace(at, from.size(), put);
    }
  }
  return text;
}

/// A quarter of the rounds is with texts.
void tryAll(const Bytes& whole, size_t rounds, Shared& shared) {
  const std::string text = fuzz::textOf(whole);
  for (shared.round = 0; shared.round < rounds; ++shared.round) {
    std::mt19937 random(unsigned(shared.round));
    fuzz::Outcome outcome = shared.round % 4 == 0 ? fuzz::tryText(mutatedText(text, random))
                                                  : fuzz::tryExecutable(mutated(whole, random));
    shared.accepted += outcome.isAccepted;
    shared.ran += outcome.ran;
  }
}

bool tryInChild(const char* path, const Bytes& whole, size_t rounds, Shared& shared) {
  shared = {};
  pid_t child = fork();
  if (child == 0) {
    rlimit memory{memoryLimit, memoryLimit}, seconds{secondsPerProgram, secondsPerProgram};
#ifndef BATON_INSTRUMENTED
    setrlimit(RLIMIT_AS, &memory);
#else
    (void)memory;
#endif
    setrlimit(RLIMIT_CPU, &seconds);
    tryAll(whole, rounds, shared);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return true;
  std::cout << path << ": round " << shared.round << " ended with "
            << (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "an exit") << '\n';
  return false;
}

} // namespace

int main(int count, char** words) {
  size_t rounds = count > 1 ? size_t(std::atoll(words[1])) : 0;
  auto* shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  size_t failed = 0, accepted = 0, ran = 0, programs = 0;
  for (int i = 2; i < count; ++i) {
    Bytes whole = fuzz::compileFile(words[i]);
    if (whole.empty() || !fuzz::tryExecutable(whole).isAccepted) {
      std::cout << words[i] << ": cannot be compiled\n";
      ++failed;
      continue;
    }
    ++programs;
    failed += !tryInChild(words[i], whole, rounds, *shared);
    accepted += shared->accepted;
    ran += shared->ran;
  }
  std::cout << programs << " programs, " << programs * rounds << " damaged files, " << accepted
            << " accepted, " << ran << " ran to an end, " << failed << " failures\n";
  return failed > 0 || programs == 0;
}
