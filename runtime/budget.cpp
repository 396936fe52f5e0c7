// The memory is that of the process, since most of what passes hold is in tables of their own.
#include "runtime/budget.h"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace runtime {

namespace {

/// The bytes of the process that are in memory; zero where the system does not tell.
int64_t residentBytes() {
  char text[128] = {};
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  long long all = 0, resident = 0;
  bool isRead = length > 0 && std::sscanf(text, "%lld %lld", &all, &resident) == 2;
  return isRead ? int64_t(resident) * sysconf(_SC_PAGESIZE) : 0;
}

} // namespace

thread_local Budget* Budget::current_ = nullptr;

Budget::Budget(const RunLimits& limits)
    : limits_(limits), watch_(limits), memoryBefore_(residentBytes()) {
  current_ = this;
}

Budget::~Budget() {
  current_ = nullptr;
}

void Budget::begin(std::string_view what) {
  if (!current_)
    return;
  current_->doing_ = what;
  current_->check();
}

void Budget::check() {
  stepsLeft_ = stepsBetween;
  std::string when = doing_.empty() ? "" : fmt::format(" in the pass `{}`", doing_);
  if (watch_.isOver())
    throw BudgetSpent({FaultKind::Time, fmt::format("making the program ready takes longer than "
                                                    "{} s{}",
                                                    limits_.seconds, when)});
  int64_t most = std::max(limits_.memory, leastMemory);
  if (limits_.memory != INT64_MAX && residentBytes() - memoryBefore_ > most)
    throw BudgetSpent({FaultKind::Memory, fmt::format("making the program ready takes more than "
                                                      "{} bytes of memory{}",
                                                      most, when)});
}

} // namespace runtime
