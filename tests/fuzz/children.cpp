// Parent and child share a few numbers.
#include "tests/fuzz/children.h"

#include <cstring>
#include <iostream>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fuzz {

namespace {

constexpr rlim_t memoryLimit = rlim_t(4) << 30;
constexpr rlim_t secondsPerChild = 120;

/// What the parent sees of its child.
struct Shared {
  size_t round, accepted, ran;
};

void bind() {
  rlimit memory{memoryLimit, memoryLimit}, seconds{secondsPerChild, secondsPerChild};
#ifndef BATON_INSTRUMENTED
  setrlimit(RLIMIT_AS, &memory);
#else
  (void)memory;
#endif
  setrlimit(RLIMIT_CPU, &seconds);
}

} // namespace

void tryInChild(const std::string& name, size_t first, size_t count,
                const std::function<Outcome(size_t round)>& tried, Rounds& rounds) {
  static auto* shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  *shared = {};
  pid_t child = fork();
  if (child == 0) {
    bind();
    for (shared->round = first; shared->round < first + count; ++shared->round) {
      Outcome outcome = tried(shared->round);
      shared->accepted += outcome.isAccepted;
      shared->ran += outcome.ran;
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  rounds.accepted += shared->accepted;
  rounds.ran += shared->ran;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return;
  ++rounds.failures;
  std::cout << name << ": round " << shared->round << " ended with "
            << (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "an exit") << '\n';
}

} // namespace fuzz
