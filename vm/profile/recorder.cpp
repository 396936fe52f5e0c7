// Totals are exact; the tree and the events are cut off where they would grow without end.
#include "vm/profile/recorder.h"

#include <algorithm>
#include <chrono>

namespace profile {

namespace {

/// What the clock says has passed when nothing has.
uint64_t costOf(uint64_t (*now)()) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 100; ++i) {
    uint64_t before = now();
    least = std::min(least, now() - before);
  }
  return least;
}

} // namespace

uint64_t nanoseconds() {
  return uint64_t(std::chrono::steady_clock::now().time_since_epoch() /
                  std::chrono::nanoseconds(1));
}

Recorder::Recorder(Bounds bounds, uint64_t (*now)(), int64_t (*held)())
    : bounds_(bounds), now_(now), held_(held), cost_(now == nanoseconds ? costOf(now) : 0) {}

uint32_t Recorder::add(Subject subject) {
  subjects_.push_back(std::move(subject));
  totals_.emplace_back();
  active_.emplace_back();
  return uint32_t(subjects_.size() - 1);
}

/// Gives the time since the clock went on to the innermost call; outside of calls it stands still.
void Recorder::advance() {
  if (stack_.empty())
    return;
  uint64_t passed = now_() - last_;
  passed -= std::min(passed, cost_);
  time_ += passed;
  totals_[stack_.back().subject].own += passed;
  nodes_[stack_.back().node].own += passed;
}

/// Looks at what the innermost call holds.
void Recorder::weigh() {
  int64_t bytes = held_ && !stack_.empty() ? held_() : 0;
  if (bytes <= mostHeld_)
    return;
  mostHeld_ = bytes;
  mostHeldIn_ = stack_.back().subject;
}

void Recorder::enter(uint32_t subject) {
  advance();
  open(subject);
  weigh();
  last_ = now_();
}

void Recorder::replace(uint32_t subject) {
  advance();
  close();
  open(subject);
  last_ = now_();
}

void Recorder::leave() {
  advance();
  weigh();
  close();
  last_ = now_();
}

void Recorder::finish() {
  advance();
  while (!stack_.empty())
    close();
  last_ = now_();
}

void Recorder::open(uint32_t subject) {
  ++totals_[subject].calls;
  if (auto& [count, since] = active_[subject]; count++ == 0)
    since = time_;
  uint32_t node = childOf(stack_.empty() ? 0 : stack_.back().node, subject);
  stack_.push_back({subject, node});
  if (starts_.size() < bounds_.depth)
    starts_.push_back(time_);
}

void Recorder::close() {
  uint32_t subject = stack_.back().subject;
  ++ended_;
  if (stack_.size() == starts_.size()) {
    keep({subject, starts_.back(), time_ - starts_.back()});
    starts_.pop_back();
  }
  stack_.pop_back();
  if (auto& [count, since] = active_[subject]; --count == 0)
    totals_[subject].total += time_ - since;
}

/// The node for calls of a subject from a node. From the deepest ones it is one beside them, and
/// where there are too many, the same one.
uint32_t Recorder::childOf(uint32_t node, uint32_t subject) {
  if (nodes_[node].depth == bounds_.depth)
    node = nodes_[node].parent;
  uint32_t& recent = recent_[node];
  if (recent != 0 && nodes_[recent].subject == subject) {
    ++nodes_[recent].calls;
    return recent;
  }
  auto next = uint32_t(nodes_.size());
  uint64_t key = uint64_t(node) << 32 | subject;
  auto found = children_.find(key);
  if (found == children_.end()) {
    if (nodes_.size() == bounds_.nodes)
      return node;
    found = children_.emplace(key, next).first;
    recent = next;
    nodes_.push_back({subject, node, nodes_[node].depth + 1});
    recent_.push_back(0);
  } else {
    recent = found->second;
  }
  ++nodes_[found->second].calls;
  return found->second;
}

void Recorder::keep(Event event) {
  if (event.duration < shortest_)
    return;
  if (events_.size() == bounds_.events)
    dropShortEvents();
  events_.push_back(event);
}

/// Keeps the longer half.
void Recorder::dropShortEvents() {
  auto middle = events_.begin() + ptrdiff_t(events_.size() / 2);
  std::ranges::nth_element(events_, middle, std::ranges::greater(), &Event::duration);
  shortest_ = middle->duration + 1;
  events_.erase(middle, events_.end());
}

} // namespace profile
