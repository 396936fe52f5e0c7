// Where the time of a run goes: calls and returns as they happen, added up at once.
//
// profile/ knows neither the language nor the machine: a subject is what time goes to, a function
// or an operator, and a run is a sequence of calls and returns. What is kept is bounded, however
// long and deep a run is: totals by subject, a call tree of limited depth and size, and the longest
// calls. Only the stack of open calls grows with the run's own. The clock stands still while the
// recorder works, so what it costs is in no figure.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace profile {

/// What time goes to.
struct Subject {
  std::string name;
  /// Where it is in a text, or empty.
  std::string place;
  bool isFunction = false;
  /// Whether it is a part of a derivative that runs backwards.
  bool isWayBack = false;
};

/// What became of one subject. `own` is the time that no call from it took; `total` that in which
/// a call of it was open. All times are in nanoseconds.
struct Totals {
  uint64_t calls = 0, own = 0, total = 0;
};

/// A subject as it was called from its parent; the first node is the run itself, and parents stand
/// before their children.
struct Node {
  uint32_t subject = 0, parent = 0, depth = 0;
  uint64_t calls = 0, own = 0;
};

/// One call.
struct Event {
  uint32_t subject = 0;
  uint64_t start = 0, duration = 0;
};

/// What is kept at most.
struct Bounds {
  /// Calls that are deeper count as calls from the deepest node.
  uint32_t depth = 200;
  size_t nodes = 50'000;
  size_t events = 100'000;
};

/// The clock of the system.
uint64_t nanoseconds();

class Recorder {
public:
  /// `held` says how many bytes the run holds, if that is to be known.
  explicit Recorder(Bounds bounds = {}, uint64_t (*now)() = nanoseconds,
                    int64_t (*held)() = nullptr);

  /// The number of a subject.
  uint32_t add(Subject subject);
  void enter(uint32_t subject);
  /// The innermost call ends, and gives its place to another one.
  void replace(uint32_t subject);
  void leave();
  /// Ends what is still open, as after a fault.
  void finish();

  const std::vector<Subject>& subjects() const { return subjects_; }
  const std::vector<Totals>& totals() const { return totals_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  /// The longest calls, in no order.
  const std::vector<Event>& events() const { return events_; }
  /// Calls without an event.
  uint64_t missingEvents() const { return ended_ - events_.size(); }
  /// Of the run.
  uint64_t time() const { return time_; }
  /// The most bytes that it held where a call began or ended, and which call that was.
  int64_t mostHeld() const { return mostHeld_; }
  uint32_t mostHeldIn() const { return mostHeldIn_; }

private:
  struct Open {
    uint32_t subject, node;
  };

  void advance();
  void weigh();
  void open(uint32_t subject);
  void close();
  uint32_t childOf(uint32_t node, uint32_t subject);
  void keep(Event event);
  void dropShortEvents();

  Bounds bounds_;
  uint64_t (*now_)();
  int64_t (*held_)();
  int64_t mostHeld_ = 0;
  uint32_t mostHeldIn_ = 0;
  /// Of looking at the clock.
  uint64_t cost_;
  /// When the clock was stopped, and how long it ran before.
  uint64_t last_ = 0, time_ = 0;
  std::vector<Subject> subjects_;
  std::vector<Totals> totals_;
  /// By subject: how many calls of it are open, and since when.
  std::vector<std::pair<uint32_t, uint64_t>> active_;
  std::vector<Open> stack_;
  /// When the outermost open calls began.
  std::vector<uint64_t> starts_;
  std::vector<Node> nodes_{{}};
  /// By node: the child that was called last.
  std::vector<uint32_t> recent_{0};
  std::unordered_map<uint64_t, uint32_t> children_;
  std::vector<Event> events_;
  /// Shorter calls are not kept any more.
  uint64_t shortest_ = 0;
  uint64_t ended_ = 0;
};

} // namespace profile
