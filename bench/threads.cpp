// What sharing work among two threads costs and gains: an empty job while the other thread still
// looks for work and when it sleeps, then work of some microseconds by one thread and by two. Of
// each the least and the median of many rounds in real time, since sharing shows in nothing else.
//
//   threads [rounds]
#include "runtime/threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double nanosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

/// Something that takes about a nanosecond a step.
uint64_t stepsOf(uint64_t count) {
  uint64_t number = count;
  for (uint64_t i = 0; i < count; ++i) {
    number = number * 3 + 1;
    asm volatile("" : "+r"(number));
  }
  return number;
}

constexpr int pieces = 8;

/// The pieces of so many steps, by up to so many threads.
double timeOf(uint64_t steps, unsigned threads) {
  std::atomic<int> next{0};
  auto work = [&] {
    while (next++ < pieces)
      stepsOf(steps / pieces);
  };
  auto start = Clock::now();
  runtime::shareWork(threads, work);
  return nanosecondsSince(start);
}

struct Row {
  std::vector<double> times = {};

  std::string text() {
    std::ranges::sort(times);
    return fmt::format("{:8.2f} {:8.2f}", times[0] / 1e3, times[times.size() / 2] / 1e3);
  }
};

} // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
  runtime::limitThreads(2);
  fmt::print("work us |   1 thread   |    2 threads    |  2, one asleep  (least, median; us)\n");
  for (uint64_t steps : {0, 4'000, 8'000, 16'000, 32'000, 64'000, 128'000, 256'000}) {
    Row one, two, asleep;
    for (int i = 0; i < rounds; ++i) {
      one.times.push_back(timeOf(steps, 1));
      two.times.push_back(timeOf(steps, 2));
    }
    for (int i = 0; i < rounds / 10; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      asleep.times.push_back(timeOf(steps, 2));
    }
    fmt::print("{:6} | {} | {} | {}\n", steps / 1000, one.text(), two.text(), asleep.text());
  }
}
