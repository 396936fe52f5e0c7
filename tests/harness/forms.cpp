// The names stand in the order of the enumerations.
#include "tests/harness/forms.h"

#include <algorithm>
#include <iterator>

namespace harness {

namespace {

constexpr std::string_view nodeNames[] = {"local",
                                          "graph line use",
                                          "literal",
                                          "global",
                                          "operator as value",
                                          "operator call",
                                          "call",
                                          "constructor",
                                          "tuple",
                                          "field",
                                          "if",
                                          "match",
                                          "function",
                                          "new reference",
                                          "read",
                                          "write",
                                          "field by name",
                                          "record with another field",
                                          "extent",
                                          "computed shape",
                                          "wanted shape",
                                          "index",
                                          "block"};
static_assert(std::size(nodeNames) == size_t(NodeKind::Block) + 1);

constexpr std::string_view itemNames[] = {"let line", "graph line", "sequence line"};
static_assert(std::size(itemNames) == size_t(ItemKind::Sequence) + 1);

constexpr std::string_view patternNames[] = {"wildcard pattern", "variable pattern",
                                             "constructor pattern", "tuple pattern"};
static_assert(std::size(patternNames) == size_t(lang::PatternKind::Tuple) + 1);

/// A call of a function of the prelude whose data another such call gives.
constexpr std::string_view chainName = "chain of calls";

bool isPreludeCall(const Program& program, const Node& node) {
  return node.kind == NodeKind::Call && program.node(node.parts[0]).isPrelude;
}

bool isChain(const Program& program, const Node& node) {
  auto givesData = [&](NodeId id) {
    const Node& part = program.node(id);
    return part.type && part.type->kind == lang::TypeKind::Data && isPreludeCall(program, part);
  };
  return isPreludeCall(program, node) && std::ranges::any_of(node.parts, givesData);
}

void countPattern(const MatchPattern& pattern, FormCounts& counts) {
  ++counts[patternNames[size_t(pattern.kind)]];
  for (const MatchPattern& part : pattern.parts)
    countPattern(part, counts);
}

} // namespace

FormCounts noForms() {
  FormCounts counts;
  for (std::string_view name : nodeNames)
    counts[name] = 0;
  for (std::string_view name : itemNames)
    counts[name] = 0;
  for (std::string_view name : patternNames)
    counts[name] = 0;
  counts[chainName] = 0;
  return counts;
}

void countForms(const Program& program, FormCounts& counts) {
  for (const Node& node : program.nodes) {
    ++counts[nodeNames[size_t(node.kind)]];
    counts[chainName] += isChain(program, node);
    for (const Item& item : node.items)
      ++counts[itemNames[size_t(item.kind)]];
    for (const MatchPattern& pattern : node.patterns)
      countPattern(pattern, counts);
  }
}

} // namespace harness
