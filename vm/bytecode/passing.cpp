// Calls may have as many arguments as there are registers, so what an argument waits for is looked
// up by register.
#include "vm/bytecode/passing.h"

#include <algorithm>

namespace bytecode {

PassingOrder::PassingOrder(std::vector<Passing>& passings) : passings_(passings) {
  for (size_t i = 0; i < passings.size(); ++i) {
    left_.insert(left_.end(), i);
    if (passings[i].from != vm::none)
      readers_[passings[i].from].insert(i);
  }
  for (size_t i = 0; i < passings.size(); ++i)
    note(i);
}

std::optional<size_t> PassingOrder::next() {
  if (ready_.empty())
    return {};
  size_t next = *ready_.begin();
  ready_.erase(next);
  left_.erase(next);
  uint16_t from = passings_[next].from;
  if (auto readers = readers_.find(from); readers != readers_.end()) {
    readers->second.erase(next);
    noteFreed(from);
  }
  return next;
}

uint16_t PassingOrder::source() const {
  return uint16_t(*std::ranges::find_if(left_, [&](size_t place) {
    auto readers = readers_.find(uint16_t(place));
    return readers != readers_.end() && !readers->second.empty();
  }));
}

void PassingOrder::redirect(uint16_t from, uint16_t to) {
  std::set<size_t> moved = std::move(readers_.extract(from).mapped());
  for (size_t i : moved)
    passings_[i].from = to;
  readers_[to] = std::move(moved);
  note(from);
}

/// Whether another argument comes from its place, or from where it is moved from for good.
bool PassingOrder::isWaiting(size_t i) const {
  const Passing& own = passings_[i];
  if (auto there = readers_.find(uint16_t(i));
      there != readers_.end() && there->second.size() > size_t(own.from == i))
    return true;
  return own.kind == Passing::Move && own.isOwned && readers_.at(own.from).size() > 1;
}

void PassingOrder::note(size_t i) {
  if (left_.contains(i) && !isWaiting(i))
    ready_.insert(i);
}

/// An argument that came from there is in its place.
void PassingOrder::noteFreed(uint16_t reg) {
  note(reg);
  if (const std::set<size_t>& others = readers_[reg]; others.size() == 1)
    note(*others.begin());
}

} // namespace bytecode
