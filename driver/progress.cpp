// Drawing over one line of a terminal.
#include "driver/progress.h"

#include <cstdio>
#include <fmt/format.h>

namespace driver {

using namespace std::chrono_literals;

Progress::Progress(bool isShown) : isShown_(isShown), start_(Clock::now()), next_(start_ + 1s) {}

Progress::~Progress() {
  clear();
}

void Progress::clear() {
  if (isDrawn_)
    fmt::print(stderr, "\r\x1b[K");
  isDrawn_ = false;
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::step(uint64_t calls) {
  if (!isShown_)
    return;
  Clock::time_point now = Clock::now();
  if (now < next_)
    return;
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
  fmt::print(stderr, "\rrunning for {} s, {} calls\x1b[K", seconds, calls);
  std::fflush(stderr);
  isDrawn_ = true;
  next_ = now + 200ms;
}

} // namespace driver
