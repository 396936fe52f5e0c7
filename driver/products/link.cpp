// Programs are started without a shell, so paths may have any letters.
#include "driver/products/link.h"

#include "runtime/formats/file.h"
#include "runtime/formats/quote.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace driver {

namespace fs = std::filesystem;
using runtime::Error;
using runtime::Result;

namespace {

/// The family of processors that this program runs on, as names of tools have it.
#if defined(__aarch64__)
constexpr std::string_view ownFamily = "aarch64-linux-gnu";
#else
constexpr std::string_view ownFamily = "x86_64-linux-gnu";
#endif

/// `aarch64-linux-gnu` of `aarch64-unknown-linux-gnu`.
std::string familyOf(const std::string& triple) {
  return triple.substr(0, triple.find('-')) + "-linux-gnu";
}

std::string compilerFor(const std::string& family) {
  if (const char* said = std::getenv("BATON_CXX"))
    return said;
  return family == ownFamily ? "c++" : family + "-g++";
}

/// The folder of the library: what the environment says, or that of this program, with a folder for
/// each other family in it.
fs::path libraryPath(const std::string& family) {
  if (const char* said = std::getenv("BATON_RT"))
    return said;
  std::error_code none;
  fs::path folder = fs::read_symlink("/proc/self/exe", none).parent_path();
  return (family == ownFamily ? folder : folder / family) / "libbaton_rt.a";
}

struct Ended {
  bool isStarted = false;
  int status = 0;
  std::string said;
};

std::string readAll(int file) {
  std::string text;
  char part[4096];
  for (ssize_t came; (came = ::read(file, part, sizeof part)) > 0;)
    text.append(part, size_t(came));
  return text;
}

/// Runs a program to its end; what it says on both of its outputs is read together.
Ended perform(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  pid_t child = 0;
  int problem = posix_spawnp(&child, words[0].c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Ended ended{.isStarted = problem == 0};
  if (ended.isStarted) {
    ended.said = readAll(ends[0]);
    while (waitpid(child, &ended.status, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  return ended;
}

/// What the shared object shows, as linkers read it.
std::string exportsText(const std::vector<std::string>& symbols) {
  return fmt::format("{{\n  global: baton_error_*; {};\n  local: *;\n}};\n",
                     fmt::join(symbols, "; "));
}

} // namespace

Result<bool> linkShared(const std::string& object, const std::string& output,
                        const std::string& triple, const std::vector<std::string>& symbols) {
  const std::string family = familyOf(triple), compiler = compilerFor(family);
  const fs::path library = libraryPath(family);
  if (std::error_code none; !fs::exists(library, none))
    return Error{fmt::format("a shared object needs {}, which is not there; `--emit=obj` needs "
                             "nothing, and `scripts/rt {}` builds it",
                             formats::backquoted(library.string()), family)};
  const std::string exports = object + ".exports";
  if (auto written = formats::writeFile(exports, exportsText(symbols)); !written)
    return written.failure();
  Ended ended =
      perform({compiler, "-shared", "-o", output, object, library.string(),
               "-Wl,--version-script=" + exports, "-Wl,--gc-sections", "-Wl,-z,nodelete",
               "-Wl,-z,defs", "-static-libstdc++", "-static-libgcc", "-pthread", "-ldl", "-lm"});
  std::error_code none;
  fs::remove(exports, none);
  if (!ended.isStarted || (WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 127))
    return Error{fmt::format("there is no linker: {} cannot be run; `$BATON_CXX` names another "
                             "compiler",
                             formats::backquoted(compiler))};
  if (ended.status != 0)
    return Error{fmt::format("{} cannot link {}:\n{}", formats::backquoted(compiler),
                             formats::backquoted(output), ended.said)};
  return true;
}

} // namespace driver
