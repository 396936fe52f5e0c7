// A line on the terminal that shows that a long run is alive.
#pragma once

#include <chrono>
#include <cstdint>

namespace driver {

/// Writes to standard error after a second, at most five times a second; erases the line when it
/// goes. Says nothing unless `isShown`.
class Progress {
public:
  explicit Progress(bool isShown);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void step(uint64_t calls);
  /// Erases the line until it is drawn again.
  void clear();
  /// Since the start.
  double seconds() const;

private:
  using Clock = std::chrono::steady_clock;

  bool isShown_;
  bool isDrawn_ = false;
  Clock::time_point start_;
  Clock::time_point next_;
};

} // namespace driver
