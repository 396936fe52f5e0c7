// Linux grants more memory than there is and kills who uses it; the limit on data undoes that.
// Sanitizers reserve address space beyond all bounds, so there is no limit under them.
#include "driver/memory_limit.h"

#include "driver/session/answer.h"
#include "runtime/instrumented.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <gmp.h>
#include <new>
#include <sys/resource.h>
#include <unistd.h>

namespace driver {

namespace {

/// The stack of runOnLargeStack counts as data though most of it is never touched.
constexpr rlim_t reservedStack = rlim_t(512) << 20;

[[noreturn]] void endForMemory() {
  constexpr char message[] = "error: there is not enough memory\n";
  [[maybe_unused]] auto written = write(STDERR_FILENO, message, sizeof message - 1);
  _exit(int(ExitCode::World));
}

void* allocateOrEnd(size_t size) {
  void* memory = std::malloc(size);
  return memory ? memory : (endForMemory(), nullptr);
}

void* reallocateOrEnd(void* before, size_t, size_t size) {
  void* memory = std::realloc(before, size);
  return memory ? memory : (endForMemory(), nullptr);
}

rlim_t machineMemory() {
  rlim_t bytes = rlim_t(sysconf(_SC_PHYS_PAGES)) * rlim_t(sysconf(_SC_PAGESIZE));
  rlim_t group = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> group && group > 0)
    bytes = std::min(bytes, group);
  return bytes;
}

std::terminate_handler otherEnd = nullptr;

/// Where there is no room for an exception either, there is none now.
[[noreturn]] void endForNothingCaught() {
  bool isMemory = true;
  if (auto problem = std::current_exception())
    try {
      std::rethrow_exception(problem);
    } catch (const std::bad_alloc&) {
    } catch (...) {
      isMemory = false;
    }
  if (isMemory)
    endForMemory();
  otherEnd();
  std::abort();
}

/// Before all that is set up before `main`, which takes memory too.
[[gnu::constructor(101)]] void watchSetup() {
  otherEnd = std::set_terminate(endForNothingCaught);
}

} // namespace

void limitMemory() {
  mp_set_memory_functions(allocateOrEnd, reallocateOrEnd, nullptr);
  rlimit limit{};
  if (runtime::isInstrumented || getrlimit(RLIMIT_DATA, &limit) != 0)
    return;
  limit.rlim_cur = std::min(limit.rlim_cur, machineMemory() / 16 * 15 + reservedStack);
  setrlimit(RLIMIT_DATA, &limit);
}

} // namespace driver
