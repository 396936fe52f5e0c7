// Calls are gone through from the last to the first, so all that uses one is in a group before it.
#include "transform/fuse/groups.h"

#include "lang/calls/boundary.h"
#include "lang/calls/group.h"
#include "lang/ir/walk.h"
#include "lang/op/leaves.h"
#include "lang/op/op.h"
#include "lower/tensor/access.h"

#include <algorithm>
#include <map>

namespace transform {

using namespace lang;

namespace {

/// More would need more registers than caches hold strips of.
constexpr size_t mostMembers = 48;

/// A call that may be in a group.
struct Candidate {
  const Call* call;
  /// By operand.
  std::vector<tensor::Reading> readings;
  /// Whether it is a reduction, or moves a tensor as a whole.
  bool reduces;
};

/// The uses of the variables of a module.
class Uses {
public:
  explicit Uses(const Module& module) : counts_(module.varCount) {
    walk(
        module,
        [&](const Binding& binding) {
          forEachAttributeAtom(*binding.value, [&](const Expr& atom) { use(atom); });
        },
        [&](const Operand& operand) { use(*operand.value); });
  }

  size_t count(const Var& var) const { return counts_[var.number]; }

private:
  void use(const Expr& atom) {
    if (const auto* var = atom.as<Var>())
      ++counts_[var->number];
  }

  std::vector<uint32_t> counts_;
};

bool hasOneSize(const Type* type) {
  return type && type->isTensor() && type->dtype.isComputable() &&
         std::ranges::all_of(type->shape, [](const Dim* dim) {
           return !dim->isAny() && !dim->hasUnknown && !dim->hasForeign;
         });
}

class Finder {
public:
  Finder(const Typing& typing, const Boundaries& boundaries, const Uses& uses)
      : typing_(typing), boundaries_(boundaries), uses_(uses) {}

  std::vector<Group> find(const Block& block) {
    block_ = &block;
    findCandidates();
    groupOf_.assign(block.bindings.size(), none);
    members_.clear();
    for (size_t i = block.bindings.size(); i-- > 0;)
      if (candidates_.contains(uint32_t(i)))
        join(uint32_t(i));
    std::vector<Group> groups;
    for (std::vector<uint32_t>& members : members_)
      if (members.size() > 1) {
        std::ranges::reverse(members);
        Group group = withOperands(std::move(members));
        if (isComposed(group))
          groups.push_back(std::move(group));
      }
    return groups;
  }

private:
  static constexpr uint32_t none = UINT32_MAX;

  void findCandidates() {
    candidates_.clear();
    users_.clear();
    places_.clear();
    for (uint32_t i = 0; i < block_->bindings.size(); ++i) {
      const Binding& binding = block_->bindings[i];
      const auto* call = binding.value->as<Call>();
      if (!call || !call->callee.value->as<OperatorRef>())
        continue;
      auto candidate = candidateOf(binding, *call);
      if (!candidate)
        continue;
      for (const Operand& argument : call->arguments)
        if (const auto* var = argument.value->as<Var>())
          users_[var].push_back(i);
      candidates_.emplace(i, *std::move(candidate));
      places_.emplace(binding.var, i);
    }
  }

  /// A call of tensors with one result, which is no scalar: those the machine has instructions for.
  std::optional<Candidate> candidateOf(const Binding& binding, const Call& call) const {
    const OperatorRow& row = *call.callee.value->as<OperatorRef>()->row;
    const Type* result = typing_.of(*binding.var);
    if (row.action != Action::Compute || !row.compute || row.shapeNeeds != ShapeNeeds::Shapes ||
        !call.attributes || !hasOneSize(result) || result->shape.empty() ||
        boundaries_.typeOf(*binding.var))
      return std::nullopt;
    std::vector<const Type*> types;
    for (const Operand& argument : call.arguments)
      types.push_back(typing_.of(*argument.value));
    if (types.empty() || !std::ranges::all_of(types, hasOneSize))
      return std::nullopt;
    auto function = tensorFunctionOf(row, types, result, *call.attributes);
    if (!function || tensor::mayFault(*function))
      return std::nullopt;
    auto readings = tensor::readingsOf(*function);
    readings.resize(types.size());
    return Candidate{&call, std::move(readings),
                     std::ranges::any_of(function->stages, tensor::reduces)};
  }

  /// Puts a call into the group of those that use it, or makes one of its own.
  void join(uint32_t place) {
    uint32_t group = groupOfUsers(place);
    if (group == none || members_[group].size() == mostMembers || !mayJoin(place)) {
      group = uint32_t(members_.size());
      members_.push_back({});
    }
    groupOf_[place] = group;
    members_[group].push_back(place);
  }

  /// The group of all uses, if they are in one.
  uint32_t groupOfUsers(uint32_t place) const {
    const Var& var = *block_->bindings[place].var;
    auto users = users_.find(&var);
    if (users == users_.end() || users->second.size() != uses_.count(var))
      return none;
    uint32_t group = groupOf_[users->second.front()];
    bool isOne =
        std::ranges::all_of(users->second, [&](uint32_t user) { return groupOf_[user] == group; });
    return isOne ? group : none;
  }

  /// Whether it saves memory traffic: what a reduction gives is read by what goes element by
  /// element; anything else by what reads an element once.
  bool mayJoin(uint32_t place) const {
    const Var& var = *block_->bindings[place].var;
    bool isReduction = candidates_.at(place).reduces;
    return std::ranges::all_of(users_.at(&var), [&](uint32_t user) {
      const Candidate& reader = candidates_.at(user);
      for (size_t i = 0; i < reader.call->arguments.size(); ++i) {
        const tensor::Reading& reading = reader.readings[i];
        bool isRead = reader.call->arguments[i].value == &var;
        if (isRead && (reading.isReused || reading.isWhole || reading.positions.size() > 1 ||
                       (isReduction && reader.reduces)))
          return false;
      }
      return true;
    });
  }

  /// Constants of no dimensions are parts of the group.
  static bool isInside(const Expr& atom) {
    const auto* constant = atom.as<Constant>();
    return constant && constant->type->shape.empty();
  }

  Group withOperands(std::vector<uint32_t> members) const {
    Group group{std::move(members), {}};
    for (uint32_t member : group.members)
      for (const Operand& argument : candidates_.at(member).call->arguments) {
        auto made = places_.find(argument.value);
        bool isMember =
            made != places_.end() && std::ranges::binary_search(group.members, made->second);
        if (!isMember && !isInside(*argument.value) &&
            std::ranges::find(group.operands, argument.value) == group.operands.end())
          group.operands.push_back(argument.value);
      }
    return group;
  }

  bool isComposed(const Group& group) const {
    std::vector<Binding> bindings;
    for (uint32_t member : group.members)
      bindings.push_back(block_->bindings[member]);
    return groupFunction(group.operands, bindings, *bindings.back().var, typing_).has_value();
  }

  const Typing& typing_;
  const Boundaries& boundaries_;
  const Uses& uses_;
  const Block* block_ = nullptr;
  /// By place in the block.
  std::map<uint32_t, Candidate> candidates_;
  std::vector<uint32_t> groupOf_;
  /// By group, from the last member to the first.
  std::vector<std::vector<uint32_t>> members_;
  /// The candidates that use a variable, once for each use.
  std::unordered_map<const Expr*, std::vector<uint32_t>> users_;
  std::unordered_map<const Expr*, uint32_t> places_;
};

} // namespace

Groups::Groups(const Module& module, const Typing& typing) {
  Boundaries boundaries(module, typing);
  Uses uses(module);
  Finder finder(typing, boundaries, uses);
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
    if (auto groups = finder.find(block); !groups.empty())
      groups_.emplace(&block, std::move(groups));
    for (const Binding& binding : block.bindings)
      addBodies(*binding.value);
  }
}

const std::vector<Group>* Groups::of(const Block& block) const {
  auto found = groups_.find(&block);
  return found == groups_.end() ? nullptr : &found->second;
}

} // namespace transform
