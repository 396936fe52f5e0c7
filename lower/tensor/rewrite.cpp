// Nodes are made again operands first, by a stack, since expressions may be deep.
#include "lower/tensor/rewrite.h"

#include "lower/tensor/fold.h"

#include <algorithm>
#include <bit>

namespace tensor {

namespace {

uint64_t mixed(uint64_t hash, uint64_t part) {
  return (hash ^ part) * 0x9E3779B97F4A7C15u + (hash >> 29);
}

uint64_t mixed(uint64_t hash, std::span<const ScalarNode* const> nodes) {
  for (const ScalarNode* node : nodes)
    hash = mixed(hash, uint64_t(std::bit_cast<uintptr_t>(node)));
  return hash;
}

uint64_t hashOf(const ScalarNode& node) {
  uint64_t hash = mixed(uint64_t(node.kind), uint64_t(node.dtype.code) << 8 | node.dtype.bits);
  if (const auto* number = node.as<ScalarNumber>())
    return mixed(mixed(hash, std::bit_cast<uint64_t>(number->real)), uint64_t(number->integer));
  if (const auto* index = node.as<ScalarIndex>())
    return mixed(hash, index->axis);
  if (const auto* size = node.as<ScalarSize>())
    return mixed(hash, size->number);
  if (const auto* load = node.as<ScalarLoad>())
    return mixed(mixed(mixed(hash, load->tensor), load->position), {&load->outside, 1});
  if (const auto* apply = node.as<ScalarApply>())
    return mixed(mixed(hash, uint64_t(apply->function)), apply->operands);
  if (const auto* cast = node.as<ScalarCast>())
    return mixed(hash, {&cast->operand, 1});
  return mixed(hash, std::bit_cast<uintptr_t>(&node));
}

bool areEqual(const ScalarNode& a, const ScalarNode& b) {
  if (a.kind != b.kind || a.dtype != b.dtype)
    return false;
  if (const auto* number = a.as<ScalarNumber>()) {
    const auto* other = b.as<ScalarNumber>();
    return std::bit_cast<uint64_t>(number->real) == std::bit_cast<uint64_t>(other->real) &&
           number->integer == other->integer;
  }
  if (const auto* index = a.as<ScalarIndex>())
    return index->axis == b.as<ScalarIndex>()->axis;
  if (const auto* size = a.as<ScalarSize>())
    return size->number == b.as<ScalarSize>()->number;
  if (const auto* load = a.as<ScalarLoad>()) {
    const auto* other = b.as<ScalarLoad>();
    return load->tensor == other->tensor && load->outside == other->outside &&
           std::ranges::equal(load->position, other->position);
  }
  if (const auto* apply = a.as<ScalarApply>()) {
    const auto* other = b.as<ScalarApply>();
    return apply->function == other->function &&
           std::ranges::equal(apply->operands, other->operands);
  }
  if (const auto* cast = a.as<ScalarCast>())
    return cast->operand == b.as<ScalarCast>()->operand;
  return &a == &b;
}

} // namespace

const ScalarNode* UniqueNodes::unique(const ScalarNode* node) {
  uint64_t hash = hashOf(*node);
  auto [first, end] = nodes_.equal_range(hash);
  auto known = std::find_if(first, end, [&](auto& each) { return areEqual(*each.second, *node); });
  return known != end ? known->second : nodes_.emplace(hash, node)->second;
}

LoopAxis Rewriter::freshAxis(const LoopAxis& axis) {
  LoopAxis made{nextAxis_++, rewritten(axis.extent)};
  setIndex(axis.number, nodes_.unique(nodes_.arena().make<ScalarIndex>(
                            ScalarNode{ScalarKind::Index, runtime::Int64}, made.number)));
  return made;
}

std::span<const LoopAxis> Rewriter::freshAxes(std::span<const LoopAxis> axes) {
  std::vector<LoopAxis> made;
  for (const LoopAxis& axis : axes)
    made.push_back(freshAxis(axis));
  return nodes_.arena().copy(made);
}

/// Without the loops of a sum that run once.
std::span<const LoopAxis> Rewriter::loopsOf(const ScalarReduce& reduce) {
  std::vector<LoopAxis> made;
  for (const LoopAxis& axis : reduce.axes)
    if (reduce.combiner == Combiner::Sum && runsOnce(rewritten(axis.extent)))
      setIndex(axis.number, nodes_.unique(makeInteger(nodes_.arena(), 0)));
    else
      made.push_back(freshAxis(axis));
  return nodes_.arena().copy(made);
}

const ScalarNode* Rewriter::rewritten(const ScalarNode* root) {
  ScalarNodes stack{root};
  while (!stack.empty()) {
    const ScalarNode* node = stack.back();
    if (done_.contains(node)) {
      stack.pop_back();
      continue;
    }
    // The loops of a reduction get their numbers before its body is made.
    if (const auto* reduce = node->as<ScalarReduce>(); reduce && !loops_.contains(reduce))
      loops_.emplace(reduce, loopsOf(*reduce));
    size_t before = stack.size();
    forEachOperand(*node, [&](const ScalarNode* operand) {
      if (!done_.contains(operand))
        stack.push_back(operand);
    });
    if (stack.size() > before)
      continue;
    done_.emplace(node, make(*node));
    stack.pop_back();
  }
  return done_.at(root);
}

ScalarNodes Rewriter::rewrittenAll(std::span<const ScalarNode* const> roots) {
  ScalarNodes made;
  for (const ScalarNode* root : roots)
    made.push_back(rewritten(root));
  return made;
}

ScalarNodes Rewriter::done(std::span<const ScalarNode* const> nodes) const {
  ScalarNodes made;
  for (const ScalarNode* node : nodes)
    made.push_back(done_.at(node));
  return made;
}

const ScalarNode* Rewriter::make(const ScalarNode& node) {
  Arena& arena = nodes_.arena();
  switch (node.kind) {
  case ScalarKind::Number:
    return nodes_.unique(arena.make<ScalarNumber>(*node.as<ScalarNumber>()));
  case ScalarKind::Index:
    return indices_.at(node.as<ScalarIndex>()->axis);
  case ScalarKind::Size:
    return nodes_.unique(leaves_.size(*node.as<ScalarSize>()));
  case ScalarKind::Load: {
    const auto* load = node.as<ScalarLoad>();
    return leaves_.load(*load, done(load->position),
                        load->outside ? done_.at(load->outside) : nullptr);
  }
  case ScalarKind::Apply: {
    const auto* apply = node.as<ScalarApply>();
    return nodes_.unique(makeApply(arena, apply->function, node.dtype, done(apply->operands)));
  }
  case ScalarKind::Cast:
    return nodes_.unique(makeCast(arena, done_.at(node.as<ScalarCast>()->operand), node.dtype));
  case ScalarKind::Reduce:
    break;
  }
  const auto* reduce = node.as<ScalarReduce>();
  const ScalarNode* body = done_.at(reduce->body);
  if (loops_.at(reduce).empty() && reduce->combiner == Combiner::Sum)
    return body;
  return arena.make<ScalarReduce>(node, reduce->combiner, loops_.at(reduce), body);
}

} // namespace tensor
