// Every block is looked at once, however often it is asked about.
#include "vm/bytecode/constructions.h"

#include "lang/ir/walk.h"

#include <algorithm>
#include <vector>

namespace bytecode {

using namespace lang;

/// Calls `visit` for the blocks that run where the value is computed.
template <typename Visit>
static void forEachInner(const Expr& value, Visit&& visit) {
  if (!value.as<Function>())
    forEachBlock(value, visit);
}

size_t fieldsMade(const Expr& value) {
  if (const auto* tuple = value.as<TupleExpr>())
    return tuple->fields.size();
  const auto* call = value.as<Call>();
  return call && call->callee.value->as<Constructor>() ? call->arguments.size() : 0;
}

uint64_t Constructions::sizesIn(const Block& root) {
  std::vector<const Block*> open{&root}, unknown;
  while (!open.empty()) {
    const Block& block = *open.back();
    open.pop_back();
    if (sizes_.contains(&block))
      continue;
    unknown.push_back(&block);
    for (const Binding& binding : block.bindings)
      forEachInner(*binding.value, [&](const Block& inner) { open.push_back(&inner); });
  }
  // Blocks come behind those that they are inside of.
  for (size_t i = unknown.size(); i-- > 0;) {
    uint64_t sizes = 0;
    for (const Binding& binding : unknown[i]->bindings) {
      size_t fields = fieldsMade(*binding.value);
      sizes |= fields <= mostFields ? uint64_t(1) << fields : 0;
      forEachInner(*binding.value, [&](const Block& inner) { sizes |= sizes_.at(&inner); });
    }
    sizes_[unknown[i]] = sizes;
  }
  return sizes_.at(&root);
}

size_t Constructions::find(const Block& block, size_t from, size_t fields) {
  const size_t none = block.bindings.size();
  if (fields > mostFields || !(sizesIn(block) >> fields & 1))
    return none;
  for (size_t i = from; i < none; ++i)
    if (fieldsMade(*block.bindings[i].value) == fields)
      return i;
  for (size_t i = none; i-- > from;) {
    bool isMade = false;
    forEachInner(*block.bindings[i].value,
                 [&](const Block& inner) { isMade = isMade || (sizesIn(inner) >> fields & 1); });
    if (isMade)
      return i;
  }
  return none;
}

} // namespace bytecode
