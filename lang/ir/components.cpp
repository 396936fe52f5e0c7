// Tarjan's algorithm (Depth-first search and linear graph algorithms, 1972), with an explicit
// stack.
#include "lang/ir/components.h"

#include <algorithm>

namespace lang {

namespace {

class Components {
public:
  explicit Components(std::span<const std::vector<uint32_t>> successors)
      : successors_(successors), states_(successors.size()) {}

  std::vector<std::vector<uint32_t>> find() {
    for (uint32_t node = 0; node < states_.size(); ++node)
      if (states_[node].index == 0)
        visit(node);
    return std::move(found_);
  }

private:
  /// The index counts from 1 in the order of visits; `low` is the least that is known to be
  /// reached.
  struct State {
    size_t next = 0;
    uint32_t index = 0;
    uint32_t low = 0;
    bool isOpen = false;
  };

  void enter(uint32_t node) {
    states_[node].index = states_[node].low = ++count_;
    states_[node].isOpen = true;
    open_.push_back(node);
    path_.push_back(node);
  }

  void visit(uint32_t start) {
    enter(start);
    while (!path_.empty()) {
      uint32_t node = path_.back();
      State& state = states_[node];
      if (state.next == successors_[node].size()) {
        leave(node);
        continue;
      }
      uint32_t successor = successors_[node][state.next++];
      if (states_[successor].index == 0)
        enter(successor);
      else if (states_[successor].isOpen)
        state.low = std::min(state.low, states_[successor].index);
    }
  }

  void leave(uint32_t node) {
    const State& state = states_[node];
    path_.pop_back();
    if (!path_.empty())
      states_[path_.back()].low = std::min(states_[path_.back()].low, state.low);
    if (state.low != state.index)
      return;
    std::vector<uint32_t>& component = found_.emplace_back();
    do {
      component.push_back(open_.back());
      states_[open_.back()].isOpen = false;
      open_.pop_back();
    } while (component.back() != node);
  }

  std::span<const std::vector<uint32_t>> successors_;
  std::vector<State> states_;
  /// Nodes that are in no component yet, and those whose successors are being visited.
  std::vector<uint32_t> open_, path_;
  uint32_t count_ = 0;
  std::vector<std::vector<uint32_t>> found_;
};

} // namespace

std::vector<std::vector<uint32_t>> componentsOf(std::span<const std::vector<uint32_t>> successors) {
  return Components(successors).find();
}

} // namespace lang
