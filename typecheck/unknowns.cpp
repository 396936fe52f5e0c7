// Walks through types and what their unknowns stand for: how large that is, and what is open in it.
// Written out, a type may be exponentially larger than its shared parts, and chains of types are as
// long as programs, so no walk visits a part twice, and none recurses.
#include "typecheck/unify.h"

#include <algorithm>
#include <utility>

namespace typecheck {

/// Parts are measured before what they are in, each once.
Unifier::Extent Unifier::extentOf(const Type* root) {
  if (!root->hasUnknown)
    return {root->depth, root->size};
  auto known = [&](const Type* type) -> const Extent* {
    if (type->isUnknown())
      return &at(this->root(type)).extent;
    auto found = extentsOfTypes_.find(type);
    return found == extentsOfTypes_.end() ? nullptr : &found->second;
  };
  if (const Extent* found = known(root))
    return *found;
  std::vector<const Type*> stack{root};
  constexpr uint32_t most = uint32_t(1) << 30;
  while (!stack.empty()) {
    const Type* type = stack.back();
    size_t before = stack.size();
    Extent extent{type->depth, type->size};
    auto add = [&](const Type* part) {
      if (!part->hasUnknown)
        return;
      const Extent* inner = known(part);
      if (!inner)
        return stack.push_back(part);
      extent.depth = std::max(extent.depth, inner->depth + 1);
      extent.size = std::min(extent.size + inner->size - part->size, most);
    };
    std::ranges::for_each(type->parts, add);
    if (type->result)
      add(type->result);
    if (stack.size() > before)
      continue;
    stack.pop_back();
    extentsOfTypes_[type] = extent;
  }
  return *known(root);
}

bool Unifier::isTooLarge(const Type* type) {
  Extent extent = extentOf(type);
  return extent.depth > maximumDepth || extent.size > maximumSize;
}

/// Gives every unknown inside, and inside of what others stand for, to `enter` once, which says
/// whether to go on with what it stands for. Shared parts are visited once too: written out, types
/// may be exponentially larger. Since chains are frequent, only those with several parts are
/// remembered.
template <typename Enter>
void Unifier::walkUnknowns(lang::Types types, Enter enter) {
  toVisit_.assign(types.rbegin(), types.rend());
  visited_.clear();
  ++searches_;
  while (!toVisit_.empty()) {
    const Type* type = toVisit_.back();
    toVisit_.pop_back();
    if (!type->hasUnknown)
      continue;
    if (type->isUnknown()) {
      const Type* unknown = root(type);
      Unknown& its = at(unknown);
      if (std::exchange(its.seenIn, searches_) != searches_ && enter(unknown) && its.binding)
        toVisit_.push_back(its.binding);
      continue;
    }
    if (type->parts.size() + (type->result ? 1 : 0) > 1 && !visited_.insert(type).second)
      continue;
    toVisit_.insert(toVisit_.end(), type->parts.begin(), type->parts.end());
    if (type->result)
      toVisit_.push_back(type->result);
  }
}

std::vector<const Type*> Unifier::openUnknownsOf(lang::Types types) {
  std::vector<const Type*> open;
  walkUnknowns(types, [&](const Type* unknown) {
    if (!at(unknown).binding)
      open.push_back(unknown);
    return true;
  });
  return open;
}

/// What was found closed stays so until it is bound anew.
bool Unifier::occurs(const Type* unknown, const Type* type) {
  bool isFound = false, isOpen = false;
  std::vector<uint32_t> looked;
  walkUnknowns({&type, 1}, [&](const Type* inside) {
    isFound |= inside == unknown;
    if (isFound || at(inside).isClosed)
      return false;
    if (at(inside).binding)
      looked.push_back(inside->number);
    else
      isOpen = true;
    return true;
  });
  if (!isFound)
    for (uint32_t number : looked)
      unknowns_[number].isClosed = !isOpen;
  return isFound;
}

void Unifier::poisonAll(lang::Types types) {
  for (const Type* unknown : openUnknownsOf(types))
    bind(unknown, types_.error());
}

} // namespace typecheck
