// A graph line may be used anywhere below it in the text, also after its block has ended, as long
// as the locals that its value mentions are in scope there.
#include "tests/harness/scope.h"

#include <algorithm>

namespace harness {

namespace {

using Names = std::set<std::string>;

void patternNames(const MatchPattern& pattern, Names& names) {
  if (pattern.kind == lang::PatternKind::Var)
    names.insert(pattern.binder.name);
  for (const MatchPattern& part : pattern.parts)
    patternNames(part, names);
}

/// One pass over a program in the order of its text.
class Walk {
public:
  explicit Walk(const Program& program, GraphNeeds graphs = {})
      : program_(program), graphs_(std::move(graphs)) {}

  /// The free locals of an expression. Clears `isGood` when a name has no binding before it.
  Names free(NodeId id) {
    const Node& node = program_.node(id);
    switch (node.kind) {
    case NodeKind::Local:
      return {node.text};
    case NodeKind::Graph: {
      auto found = graphs_.find(node.text);
      if (found != graphs_.end())
        return found->second;
      isGood = false;
      return {};
    }
    case NodeKind::Block:
      return freeOfBlock(node);
    default:
      return freeOfParts(node);
    }
  }

  bool isGood = true;

private:
  Names freeOfParts(const Node& node) {
    Names names;
    for (size_t i = 0; i < node.parts.size(); ++i) {
      Names inner = free(node.parts[i]);
      if (node.kind == NodeKind::Match && i > 0) {
        Names bound;
        patternNames(node.patterns[i - 1], bound);
        for (const std::string& name : bound)
          inner.erase(name);
      }
      names.merge(inner);
    }
    for (const Binder& parameter : node.parameters)
      names.erase(parameter.name);
    return names;
  }

  Names freeOfBlock(const Node& node) {
    Names names, bound;
    for (size_t i = 0; i < node.parts.size(); ++i) {
      Names inner = free(node.parts[i]);
      bool isItem = i < node.items.size();
      if (isItem && node.items[i].kind == ItemKind::Graph) {
        graphs_[node.items[i].binder.name] = inner;
        continue;
      }
      std::erase_if(inner, [&](const std::string& name) { return bound.contains(name); });
      names.merge(inner);
      if (isItem && node.items[i].kind == ItemKind::Let)
        bound.insert(node.items[i].binder.name);
    }
    return names;
  }

  const Program& program_;
  GraphNeeds graphs_;
};

bool globalsAreDefined(const Program& program) {
  Names names;
  for (const Definition& definition : program.definitions)
    names.insert(definition.name);
  return std::ranges::all_of(everyNode(program), [&](NodeId id) {
    const Node& node = program.node(id);
    return node.kind != NodeKind::Global || node.isPrelude || names.contains(node.text);
  });
}

} // namespace

std::set<std::string> freeLocals(const Program& program, NodeId id, const GraphNeeds& graphs) {
  return Walk(program, graphs).free(id);
}

bool isWellScoped(const Program& program) {
  Walk walk(program);
  for (const Definition& definition : program.definitions)
    if (!walk.free(definition.function).empty())
      return false;
  return walk.isGood && globalsAreDefined(program);
}

} // namespace harness
