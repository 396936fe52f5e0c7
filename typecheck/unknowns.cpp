// Walks through types and what their unknowns stand for: how large that is, and what is open in it.
// Written out, a type may be exponentially larger than its shared parts, and chains of types are as
// long as programs, so no walk visits a part twice, and none recurses.
#include "typecheck/unify.h"

#include <algorithm>
#include <unordered_set>

namespace typecheck {

/// Parts are measured before what they are in, each once.
Unifier::Extent Unifier::extentOf(const Type* root) {
  if (!root->hasUnknown)
    return {root->depth, root->size};
  std::vector<const Type*> stack{root};
  auto known = [&](const Type* type) -> const Extent* {
    if (type->isUnknown())
      return &extents_[this->root(type)->number];
    auto found = extentsOfTypes_.find(type);
    return found == extentsOfTypes_.end() ? nullptr : &found->second;
  };
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
    if (!type->isUnknown())
      extentsOfTypes_[type] = extent;
  }
  return *known(root);
}

bool Unifier::isTooLarge(const Type* type) {
  Extent extent = extentOf(type);
  return extent.depth > maximumDepth || extent.size > maximumSize;
}

/// Shared parts are visited once: written out, the type may be exponentially larger.
std::vector<const Type*> Unifier::openUnknownsOf(lang::Types types) {
  std::vector<const Type*> open, stack(types.rbegin(), types.rend());
  std::unordered_set<const Type*> seen;
  while (!stack.empty()) {
    const Type* at = stack.back();
    stack.pop_back();
    if (at->isUnknown())
      at = root(at);
    if (!at->hasUnknown || !seen.insert(at).second)
      continue;
    if (!at->isUnknown()) {
      stack.insert(stack.end(), at->parts.begin(), at->parts.end());
      if (at->result)
        stack.push_back(at->result);
    } else if (const Type* bound = bindings_[at->number]) {
      stack.push_back(bound);
    } else {
      open.push_back(at);
    }
  }
  return open;
}

/// Looks through every unknown once and, since chains are frequent, remembers only those types that
/// have several parts. What was found closed stays so until it is bound anew.
bool Unifier::occurs(const Type* unknown, const Type* type) {
  std::vector<const Type*> stack{type};
  std::vector<uint32_t> looked;
  std::unordered_set<const Type*> seen;
  bool isOpen = false;
  ++searches_;
  while (!stack.empty()) {
    const Type* at = stack.back();
    stack.pop_back();
    if (!at->hasUnknown)
      continue;
    if (at->isUnknown()) {
      at = root(at);
      if (at == unknown)
        return true;
      if (isClosed_[at->number] || std::exchange(seenIn_[at->number], searches_) == searches_)
        continue;
      looked.push_back(at->number);
      if (const Type* bound = bindings_[at->number])
        stack.push_back(bound);
      else
        isOpen = true;
      continue;
    }
    if (at->parts.size() + (at->result ? 1 : 0) > 1 && !seen.insert(at).second)
      continue;
    stack.insert(stack.end(), at->parts.begin(), at->parts.end());
    if (at->result)
      stack.push_back(at->result);
  }
  for (uint32_t number : looked)
    isClosed_[number] = !isOpen;
  return false;
}

void Unifier::poisonAll(lang::Types types) {
  for (const Type* unknown : openUnknownsOf(types))
    bind(unknown, types_.error());
}

} // namespace typecheck
