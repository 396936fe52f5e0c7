// All blocks are walked at once: a block's counts are those of its bindings, added up, and of the
// branches of one binding the largest ones.
#include "transform/analysis/use_counts.h"

#include "lang/ir/walk.h"

#include <algorithm>
#include <unordered_map>

namespace transform {

using namespace lang;

namespace {

/// Of the variables that are used in a block.
using Counts = std::unordered_map<const Var*, uint32_t>;

void add(Counts& sum, const Expr& atom, uint32_t count = 1) {
  if (const auto* var = atom.as<Var>())
    sum[var] += count;
}

/// The smaller table goes into the larger one, so no use is moved often; `how` is symmetric.
template <typename Join>
void join(Counts& sum, Counts&& more, Join&& how) {
  if (sum.size() < more.size())
    std::swap(sum, more);
  for (const auto& [var, count] : more)
    how(sum[var], count);
}

/// A block right inside of a value, and what binds its variables.
struct Part {
  const Block* block;
  const Pattern* pattern = nullptr;
  const Function* function = nullptr;
};

struct Frame {
  Part part;
  size_t next = 0;
  Counts counts = {};
  /// Of the parts of the binding at hand, and those that are still to come.
  Counts branches = {};
  std::vector<Part> open = {};
};

class Counter {
public:
  explicit Counter(std::vector<uint32_t>& uses) : uses_(uses) {}

  void count(const Function& function) {
    frames_.push_back({{function.body, nullptr, &function}});
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (!frame.open.empty()) {
        Part part = frame.open.back();
        frame.open.pop_back();
        frames_.push_back({part});
        continue;
      }
      join(frame.counts, std::exchange(frame.branches, {}),
           [](uint32_t& sum, uint32_t count) { sum += count; });
      if (frame.next == frame.part.block->bindings.size())
        finish();
      else
        enter(frame, *frame.part.block->bindings[frame.next++].value);
    }
  }

private:
  void enter(Frame& frame, const Expr& value) {
    if (value.isAtom())
      add(frame.counts, value);
    forEachOperand(value, [&](const Operand& each) { add(frame.counts, *each.value); });
    forEachAttributeAtom(value, [&](const Expr& atom) { add(frame.counts, atom, 2); });
    if (const auto* match = value.as<Match>())
      for (const Arm& arm : match->arms)
        frame.open.push_back({arm.body, arm.pattern});
    else
      forEachBlock(value, [&](const Block& block) {
        frame.open.push_back({&block, nullptr, value.as<Function>()});
      });
  }

  void finish() {
    Frame done = std::move(frames_.back());
    frames_.pop_back();
    add(done.counts, *done.part.block->result.value);
    for (const Binding& binding : done.part.block->bindings)
      settle(done.counts, *binding.var);
    if (done.part.pattern)
      forEachPatternVar(*done.part.pattern, [&](const Var& var) { settle(done.counts, var); });
    if (const Function* function = done.part.function) {
      for (const Var* parameter : function->parameters)
        settle(done.counts, *parameter);
      for (auto& [var, count] : done.counts)
        count = 2;
    }
    if (!frames_.empty())
      join(frames_.back().branches, std::move(done.counts),
           [](uint32_t& most, uint32_t count) { most = std::max(most, count); });
  }

  void settle(Counts& counts, const Var& var) {
    if (auto own = counts.extract(&var))
      uses_[var.number] = own.mapped();
  }

  std::vector<uint32_t>& uses_;
  std::vector<Frame> frames_;
};

} // namespace

UseCounts countUses(const Module& module) {
  UseCounts counts{std::vector<uint32_t>(module.varCount), std::vector<uint32_t>(module.varCount)};
  Counter counter(counts.uses);
  for (const Global* global : module.globals)
    if (global->function)
      counter.count(*global->function);
  auto mention = [&](const Expr& atom, uint32_t times) {
    if (const auto* var = atom.as<Var>())
      counts.mentions[var->number] += times;
  };
  walk(
      module,
      [&](const Binding& binding) {
        forEachAttributeAtom(*binding.value, [&](const Expr& atom) { mention(atom, 2); });
      },
      [&](const Operand& operand) { mention(*operand.value, 1); });
  return counts;
}

} // namespace transform
