// Thousands of damaged texts, each of which must end in a diagnostic or a result: prefixes, changed
// bytes, deleted, doubled and foreign pieces of the given programs. The same ones on every run.
//
// usage: mutations_test FOLDER...
// Each program has a child process of its own with bounds on memory and time, so a crash is
// reported with the text that caused it and the other programs are still tried.
#include "tests/fuzz/reading.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

constexpr size_t bytesPerProgram = 12'000'000;
constexpr size_t mostRounds = 2'000;
constexpr size_t fewestRounds = 150;
constexpr rlim_t memoryLimit = rlim_t(4) << 30;
constexpr rlim_t secondsPerProgram = 60;

/// What the parent sees of its child: the text that is being read.
struct Shared {
  size_t rounds;
  size_t size;
  char text[1 << 20];
};

std::string contents(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<fs::path> programs(int count, char** folders) {
  std::vector<fs::path> files;
  for (int i = 0; i < count; ++i)
    for (const auto& entry : fs::directory_iterator(folders[i]))
      if (entry.path().extension() == ".rly")
        files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// A piece of the language that a random byte would rarely make.
std::string_view foreignPiece(std::mt19937& random) {
  static constexpr std::string_view pieces[] = {"(",
                                                ")",
                                                "{",
                                                "}",
                                                "[",
                                                "]",
                                                ",",
                                                ";",
                                                "%0",
                                                "%x",
                                                "@main",
                                                "let ",
                                                "fn ",
                                                "if ",
                                                "match ",
                                                "match? ",
                                                "ref(",
                                                "/*",
                                                "*/",
                                                "//",
                                                "\"",
                                                "#[",
                                                "meta[",
                                                "#[metadata]",
                                                "->",
                                                "=>",
                                                "==",
                                                "-",
                                                "0",
                                                "1f",
                                                "inff",
                                                "99999999999999999999",
                                                "?",
                                                "Tensor[",
                                                "int32",
                                                "float8",
                                                "(), int8]",
                                                "Nil",
                                                "Cons(",
                                                "9223372036854775807",
                                                "type",
                                                "def ",
                                                "\xff",
                                                "\xc3",
                                                "free_var %",
                                                "None",
                                                "axis=",
                                                "-2147483648",
                                                "{}",
                                                "1e999f",
                                                "(,)",
                                                "%x.0",
                                                "extern ",
                                                "[A]",
                                                "virtual_device=",
                                                "\r"};
  return pieces[random() % std::size(pieces)];
}

std::string mutated(const std::string& text, size_t round, std::mt19937& random) {
  size_t at = random() % (text.size() + 1);
  size_t length = std::min<size_t>(random() % 40, text.size() - at);
  std::string result = text;
  switch (round % 6) {
  case 0:
    return text.substr(0, at);
  case 1:
    result[std::min(at, text.size() - 1)] = char(random());
    return result;
  case 2:
    return result.erase(at, length);
  case 3:
    return result.insert(at, text.substr(random() % text.size(), length));
  case 4:
    return result.insert(at, foreignPiece(random));
  default:
    return result.replace(at, length, foreignPiece(random));
  }
}

/// The child's work: all mutations of one program. Returns its exit status.
int tryAll(const std::string& text, Shared& shared) {
  std::mt19937 random(unsigned(text.size()));
  size_t rounds = std::clamp(bytesPerProgram / (text.size() + 1), fewestRounds, mostRounds);
  for (size_t round = 0; round <= rounds; ++round) {
    std::string sample = round == 0 ? text : mutated(text, round, random);
    shared.rounds = round;
    shared.size = std::min(sample.size(), sizeof shared.text);
    std::memcpy(shared.text, sample.data(), shared.size);
    std::string broken = testing::brokenPromise(sample);
    if (!broken.empty()) {
      std::cerr << broken << '\n';
      return 1;
    }
  }
  return 0;
}

/// The address sanitizer reserves address space beyond all bounds.
void limitResources() {
#if !defined(BATON_INSTRUMENTED)
  rlimit memory{memoryLimit, memoryLimit};
  setrlimit(RLIMIT_AS, &memory);
#endif
  rlimit time{secondsPerProgram, secondsPerProgram};
  setrlimit(RLIMIT_CPU, &time);
}

/// Whether the child for one program ended well; else says what happened and keeps the text.
bool survives(const fs::path& path, Shared& shared) {
  std::string text = contents(path);
  if (text.empty())
    return true;
  std::cout.flush();
  pid_t child = fork();
  if (child == 0) {
    limitResources();
    _exit(tryAll(text, shared));
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status == 0)
    return true;
  fs::path crasher = "crasher-" + path.filename().string();
  std::ofstream(crasher, std::ios::binary).write(shared.text, std::streamsize(shared.size));
  std::cout << path.filename().string() << ", mutation " << shared.rounds << ": "
            << (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "broken promise")
            << "; the text is in " << fs::absolute(crasher).string() << '\n';
  return false;
}

} // namespace

int main(int count, char** arguments) {
  auto* shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (shared == MAP_FAILED)
    return 2;
  auto files = programs(count - 1, arguments + 1);
  size_t failures = 0, rounds = 0;
  for (const fs::path& path : files) {
    failures += !survives(path, *shared);
    rounds += shared->rounds + 1;
  }
  std::cout << files.size() << " programs, " << rounds << " texts, " << failures << " failures\n";
  return failures > 0 || files.empty() ? 1 : 0;
}
