// Signals. Of Ctrl-C, the first one asks a run to end, which then says where it was; a second one
// ends at once.
#pragma once

#include <csignal>
#include <cstdint>

namespace driver {

/// Signals that end the process leave no part of a file behind, and a file that grows too large is
/// an error of its writer instead of a signal. For the beginning of the process.
void handleSignals();

/// Takes the first interrupt of the process for as long as it lives, unless they are ignored. There
/// is one at a time.
class InterruptWatch {
public:
  /// Whether reading goes on after an interrupt, or ends as if there were nothing more.
  enum class Reads : uint8_t { GoOn, End };

  explicit InterruptWatch(Reads reads = Reads::GoOn);
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();

  /// Whether the watch that is there, or was last, took one.
  static bool isInterrupted();

private:
  struct sigaction before_ = {};
};

} // namespace driver
