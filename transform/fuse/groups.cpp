// Values are gone through from the last to the first, so all that uses one is in a group before it.
#include "transform/fuse/groups.h"

#include "lang/calls/group.h"
#include "lang/ir/walk.h"
#include "transform/analysis/use_counts.h"
#include "transform/fuse/candidates.h"

#include <algorithm>

namespace transform {

using namespace lang;

namespace {

/// More would need more registers than caches hold strips of.
constexpr size_t mostMembers = 48;
/// Reading two tensors twice is no more than making one, and reading that.
constexpr size_t mostCopies = 2, mostOperandsOfCopies = 2;
/// What a group has to make inside should fit into a cache: kernels of their own write large
/// results where their operands were.
constexpr size_t mostMade = size_t(16) << 20;

/// The groups of one block.
class Finder {
public:
  Finder(const Block& block, const Typing& typing, const Boundaries& boundaries,
         const UseCounts& counts)
      : block_(block), typing_(typing), mentions_(counts.mentions),
        candidates_(block, typing, boundaries), groupsOf_(block.bindings.size()) {
    for (uint32_t i = 0; i < block.bindings.size(); ++i)
      forEachOperand(*block.bindings[i].value,
                     [&](const Operand& operand) { uses_[operand.value].push_back(i); });
    uses_[block.result.value].push_back(none);
    for (const auto& [place, candidate] : candidates_.all())
      places_.emplace(&varAt(place), place);
  }

  BlockGroups find() {
    for (auto candidate = candidates_.all().rbegin(); candidate != candidates_.all().rend();
         ++candidate)
      join(candidate->first);
    BlockGroups found;
    for (Group& group : groups_)
      if (isWorthWhile(group)) {
        addOperands(group);
        if (isComposed(group))
          found.byRoot.emplace(rootOf(group), std::move(group));
      }
    findWhatStays(found);
    return found;
  }

private:
  static constexpr uint32_t none = UINT32_MAX;

  static uint32_t rootOf(const Group& group) { return *group.members.rbegin(); }
  const Var& varAt(uint32_t place) const { return *block_.bindings[place].var; }
  size_t mentionsOf(uint32_t place) const { return mentions_[varAt(place).number]; }
  bool isKind(uint32_t place, ExprKind kind) const {
    return candidates_.at(place).value->kind == kind;
  }

  /// Puts a value into the groups of those that use it, or makes one of its own.
  void join(uint32_t place) {
    std::set<uint32_t> groups = groupsOfUsers(place);
    bool isUsedElsewhere = candidates_.users(varAt(place)).size() != mentionsOf(place);
    if (!isUsedElsewhere && groups.size() == 1 && mayJoin(place, *groups.begin()))
      return add(place, *groups.begin());
    if (!isUsedElsewhere && mayBeCopied(place, groups)) {
      for (uint32_t group : groups)
        add(place, group);
      return;
    }
    if (uint32_t group = groupBeforeOtherUses(place, groups); group != none) {
      groups_[group].results.insert(place);
      return add(place, group);
    }
    groups_.push_back({.results = {place}});
    add(place, uint32_t(groups_.size() - 1));
  }

  void add(uint32_t place, uint32_t group) {
    groups_[group].members.insert(place);
    groupsOf_[place].push_back(group);
  }

  std::set<uint32_t> groupsOfUsers(uint32_t place) const {
    std::set<uint32_t> groups;
    for (uint32_t user : candidates_.users(varAt(place)))
      groups.insert(groupsOf_[user].begin(), groupsOf_[user].end());
    return groups;
  }

  bool isIn(uint32_t place, uint32_t group) const { return groups_[group].members.contains(place); }

  /// Whether the users in a group may have a value from there. That saves memory traffic where it
  /// is written into what reads each element once; and it moves no more than a group of its own
  /// where they read each element once in each of several stages, as rows are read that are added
  /// up and then divided, or under another shape. Constants are read where they lie, in any order.
  /// A tuple alone joins nothing.
  bool mayJoin(uint32_t place, uint32_t group) const {
    if (groups_[group].members.size() == mostMembers)
      return false;
    return std::ranges::all_of(candidates_.users(varAt(place)), [&](uint32_t user) {
      return !isIn(user, group) || readsOnce(place, user, group);
    });
  }

  bool readsOnce(uint32_t place, uint32_t user, uint32_t group) const {
    if (rootOf(groups_[group]) == user && isKind(user, ExprKind::Tuple))
      return false;
    const Candidate& value = candidates_.at(place);
    return value.isView || value.moves || readsOnce(value, place, user, group);
  }

  /// The same of a value that stands at a place, itself or under another shape.
  bool readsOnce(const Candidate& value, uint32_t place, uint32_t user, uint32_t group) const {
    const bool isSmall = value.bytes <= mostMade;
    const Candidate& reader = candidates_.at(user);
    if (reader.isView)
      return isSmall && std::ranges::all_of(candidates_.users(varAt(user)), [&](uint32_t next) {
               return !isIn(next, group) || readsOnce(value, user, next, group);
             });
    for (size_t i = 0; i < reader.operands.size(); ++i) {
      const tensor::Reading& reading = reader.readings[i];
      bool isMade = reading.positions.size() > 1 || (value.reduces && reader.reduces);
      bool isDear =
          reading.isReused || reading.isWhole || (isMade && (reading.isShared || !isSmall));
      if (reader.operands[i] == &varAt(place) && isDear && !isBand(place, reader, reading))
        return false;
    }
    return true;
  }

  /// Whether rows that were made as a whole, as by softmax, are multiplied by something to fewer
  /// columns: then a band of rows is made and multiplied before the next one.
  bool isBand(uint32_t place, const Candidate& reader, const tensor::Reading& reading) const {
    const Candidate& value = candidates_.at(place);
    return reading.isByRows && !reading.isWhole && reading.positions.size() == 1 &&
           value.bytes > reader.bytes && isOfWholeRows(place);
  }

  /// Whether a value hangs, a few operators before, on a reduction that is no contraction.
  bool isOfWholeRows(uint32_t place) const {
    constexpr int mostSteps = 3;
    std::set<uint32_t> met{place};
    for (int step = 0; step < mostSteps; ++step)
      for (uint32_t each : std::set<uint32_t>(met)) {
        const Candidate& value = candidates_.at(each);
        if (value.reduces && std::ranges::none_of(value.readings, &tensor::Reading::isReused))
          return true;
        if (!value.reduces)
          for (const Expr* operand : value.operands)
            if (auto made = places_.find(operand); made != places_.end())
              met.insert(made->second);
      }
    return false;
  }

  bool mayBeCopied(uint32_t place, const std::set<uint32_t>& groups) const {
    const Candidate& candidate = candidates_.at(place);
    return candidate.isCheap && candidate.operands.size() <= mostOperandsOfCopies &&
           !groups.empty() && groups.size() <= mostCopies &&
           std::ranges::all_of(groups, [&](uint32_t group) { return mayJoin(place, group); });
  }

  /// The first of the groups that use a value, if all other uses are behind it: then the value can
  /// be one of its results.
  uint32_t groupBeforeOtherUses(uint32_t place, const std::set<uint32_t>& groups) const {
    auto uses = uses_.find(&varAt(place));
    if (groups.empty() || uses == uses_.end() || uses->second.size() != mentionsOf(place))
      return none;
    uint32_t first = *std::ranges::min_element(
        groups, {}, [&](uint32_t group) { return rootOf(groups_[group]); });
    bool isBefore = std::ranges::all_of(uses->second, [&](uint32_t use) {
      return use > rootOf(groups_[first]) || groups_[first].members.contains(use);
    });
    // The way to one part of a tuple is no work that is worth to give both.
    bool isPart = isKind(rootOf(groups_[first]), ExprKind::Project);
    return isBefore && !isPart && !isKind(place, ExprKind::Tuple) && mayJoin(place, first) ? first
                                                                                           : none;
  }

  /// Whether it saves more than the way to a part of what comes from outside.
  bool isWorthWhile(const Group& group) const {
    auto countOf = [&](ExprKind kind) {
      return std::ranges::count_if(group.members,
                                   [&](uint32_t member) { return isKind(member, kind); });
    };
    auto calls = countOf(ExprKind::Call);
    return calls > 1 || (calls == 1 && (countOf(ExprKind::Tuple) > 0 ||
                                        isKind(rootOf(group), ExprKind::Project)));
  }

  /// Constants of no dimensions are parts of a group.
  static bool isInside(const Expr& atom) {
    const auto* constant = atom.as<Constant>();
    return constant && constant->type->shape.empty();
  }

  void addOperands(Group& group) const {
    std::set<const Expr*> known;
    for (uint32_t member : group.members) {
      for (const Expr* operand : candidates_.at(member).operands)
        if (!isInside(*operand) && known.insert(operand).second)
          group.operands.push_back(operand);
      known.insert(&varAt(member));
    }
  }

  bool isComposed(const Group& group) const {
    std::vector<Binding> bindings;
    for (uint32_t member : group.members)
      bindings.push_back(block_.bindings[member]);
    return groupFunction(group.operands, bindings, *bindings.back().var, typing_).has_value();
  }

  /// What no group makes for all that need it.
  void findWhatStays(BlockGroups& found) const {
    found.stays.assign(block_.bindings.size(), true);
    std::set<uint32_t> made;
    std::unordered_map<uint32_t, Group*> groupOfResult;
    // By value that groups or staying candidates are made of, the first place that needs it.
    std::unordered_map<const Expr*, uint32_t> firstUse;
    for (auto group = found.byRoot.rbegin(); group != found.byRoot.rend(); ++group) {
      auto& [root, each] = *group;
      made.insert(each.members.begin(), each.members.end());
      for (const Expr* operand : each.operands)
        firstUse[operand] = root;
      for (uint32_t result : each.results)
        groupOfResult.emplace(result, &each);
    }
    for (uint32_t i = uint32_t(block_.bindings.size()); i-- > 0;) {
      auto use = firstUse.find(&varAt(i));
      bool isNeeded = use != firstUse.end();
      if (auto given = groupOfResult.find(i); given != groupOfResult.end()) {
        // A value that stays, since another group makes it too, may stand before the group.
        bool isTooLate = isNeeded && use->second < rootOf(*given->second);
        found.stays[i] = isTooLate;
        if (isTooLate)
          given->second->results.erase(i);
      } else if (made.contains(i)) {
        found.stays[i] = isNeeded;
      }
      if (found.stays[i] && candidates_.all().contains(i))
        for (const Expr* operand : candidates_.at(i).operands) {
          auto [known, isNew] = firstUse.try_emplace(operand, i);
          known->second = std::min(known->second, i);
        }
    }
  }

  const Block& block_;
  const Typing& typing_;
  const std::vector<uint32_t>& mentions_;
  Candidates candidates_;
  /// Where in the block the value of a candidate is used, but not what lies deeper.
  std::unordered_map<const Expr*, std::vector<uint32_t>> uses_;
  /// Where candidates stand, by variable.
  std::unordered_map<const Expr*, uint32_t> places_;
  std::vector<Group> groups_;
  /// By place.
  std::vector<std::vector<uint32_t>> groupsOf_;
};

} // namespace

Groups::Groups(const Module& module, const Typing& typing) {
  Boundaries boundaries(module, typing);
  const UseCounts counts = countUses(module);
  std::vector<const Block*> blocks;
  auto addBodies = [&](const Expr& value) {
    const auto* function = value.as<Function>();
    if (!function || !isGroup(*function))
      forEachBlock(value, [&](const Block& block) { blocks.push_back(&block); });
  };
  for (const Global* global : module.globals)
    if (global->function)
      addBodies(*global->function);
  while (!blocks.empty()) {
    const Block& block = *blocks.back();
    blocks.pop_back();
    if (BlockGroups found = Finder(block, typing, boundaries, counts).find(); !found.byRoot.empty())
      groups_.emplace(&block, std::move(found));
    for (const Binding& binding : block.bindings)
      addBodies(*binding.value);
  }
}

const BlockGroups* Groups::of(const Block& block) const {
  auto found = groups_.find(&block);
  return found == groups_.end() ? nullptr : &found->second;
}

} // namespace transform
