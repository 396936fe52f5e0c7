// Lists of borrowers through the registers themselves.
#include "vm/machine/register_states.h"

namespace vm {

void RegisterStates::link(uint16_t reg, uint16_t owner) {
  uint16_t after = std::exchange(entries_.edit(owner).borrower, reg);
  if (after != none)
    entries_.edit(after).before = reg;
  Entry& entry = entries_.edit(reg);
  entry.before = none;
  entry.after = after;
}

/// Takes a register out of the list of those that borrow from the same.
void RegisterStates::unlink(uint16_t reg) {
  const Entry entry = *entries_.find(reg);
  if (entry.state.holding != Holding::Borrowed || entry.state.owner == none)
    return;
  if (entry.before != none)
    entries_.edit(entry.before).after = entry.after;
  else
    entries_.edit(entry.state.owner).borrower = entry.after;
  if (entry.after != none)
    entries_.edit(entry.after).before = entry.before;
}

void RegisterStates::set(uint16_t reg, RegisterState state) {
  if (const Entry* entry = entries_.find(reg)) {
    held_ -= entry->state.mustStay();
    unlink(reg);
  }
  held_ += state.mustStay();
  entries_.edit(reg).state = state;
  if (state.holding == Holding::Borrowed && state.owner != none)
    link(reg, state.owner);
}

void RegisterStates::clear(uint16_t reg) {
  if (!entries_.find(reg))
    return;
  unlink(reg);
  runtime::List<uint16_t> gone{reg};
  while (!gone.empty()) {
    uint16_t each = gone.back();
    gone.pop_back();
    const Entry entry = *entries_.find(each);
    for (uint16_t borrower = entry.borrower; borrower != none;
         borrower = entries_.find(borrower)->after)
      gone.push_back(borrower);
    held_ -= entry.state.mustStay();
    entries_.erase(each);
  }
}

runtime::List<uint16_t> RegisterStates::differences(const RegisterStates& other) const {
  runtime::List<uint16_t> found;
  entries_.compare(
      other.entries_,
      [](const Entry& left, const Entry& right) { return left.state == right.state; },
      [&](size_t reg) { found.push_back(uint16_t(reg)); });
  return found;
}

} // namespace vm
