// Greedy: larger cuts first, again from the start after every success, until nothing can be cut.
#include "tests/harness/shrink.h"

#include "tests/harness/scope.h"
#include "tests/harness/types.h"

#include <optional>
#include <set>

namespace harness {

using namespace lang;

namespace {

/// The nodes that compute shapes, which are known beside them.
std::set<NodeId> shapeNodes(const Program& program) {
  std::set<NodeId> found;
  for (NodeId id : everyNode(program)) {
    const Node& node = program.node(id);
    for (size_t i = node.index; node.kind == NodeKind::ComputedShape && i < node.parts.size(); ++i)
      for (NodeId inner : below(program, node.parts[i]))
        found.insert(inner);
  }
  return found;
}

/// The smallest expressions of a type that need no names: literals and tuples of them.
std::optional<NodeId> simplest(Program& program, const Type* type) {
  if (!type)
    return std::nullopt;
  if (type->isTuple()) {
    Node node{NodeKind::Tuple, type};
    for (const Type* part : type->parts) {
      auto field = simplest(program, part);
      if (!field)
        return std::nullopt;
      node.parts.push_back(*field);
    }
    return program.add(std::move(node));
  }
  if (!type->isTensor() || !type->shape.empty())
    return std::nullopt;
  std::string suffix = std::to_string(type->dtype.bits);
  if (type->dtype.isBool())
    return program.add({NodeKind::Literal, type, "True"});
  if (type->dtype.bits < 16 || (type->dtype.isInteger() && !type->dtype.isSigned()))
    return std::nullopt;
  return program.add({NodeKind::Literal, type, (type->dtype.isFloat() ? "1f" : "1i") + suffix});
}

class Shrinker {
public:
  Shrinker(const Program& program, const std::function<bool(const Program&)>& stillFails,
           size_t tries)
      : best_(program), stillFails_(stillFails), tries_(tries) {}

  Program run() {
    bool again = true;
    while (again && tries_ > 0)
      again = dropDefinitions() || dropDataTypes() || dropFields() || dropItems() || hoist() ||
              simplify() || dropParameters();
    return std::move(best_);
  }

private:
  bool accept(Program& candidate) {
    if (tries_ == 0 || !isWellScoped(candidate))
      return false;
    --tries_;
    if (!stillFails_(candidate))
      return false;
    best_ = std::move(candidate);
    return true;
  }

  bool dropDefinitions() {
    for (size_t i = best_.definitions.size() - 1; i-- > 0;) {
      Program candidate = best_;
      candidate.definitions.erase(candidate.definitions.begin() + ptrdiff_t(i));
      if (accept(candidate))
        return true;
    }
    return false;
  }

  bool dropDataTypes() {
    for (size_t i = 0; i < best_.dataTypes.size(); ++i) {
      Program candidate = best_;
      candidate.dataTypes.erase(candidate.dataTypes.begin() + ptrdiff_t(i));
      if (accept(candidate))
        return true;
    }
    return false;
  }

  /// Fields of the tuple that `@main` gives, which has no annotation.
  bool dropFields() {
    NodeId main = best_.definitions.back().function, body = best_.node(main).parts[0];
    while (best_.node(body).kind == NodeKind::Block)
      body = best_.node(body).parts.back();
    const Node& tuple = best_.node(body);
    if (tuple.kind != NodeKind::Tuple || best_.node(main).isResultAnnotated)
      return false;
    for (size_t i = 0; i < tuple.parts.size(); ++i) {
      Program candidate = best_;
      Node& cut = candidate.nodes[body];
      cut.parts.erase(cut.parts.begin() + ptrdiff_t(i));
      std::vector<const Type*> parts(cut.type->parts.begin(), cut.type->parts.end());
      if (i < parts.size())
        parts.erase(parts.begin() + ptrdiff_t(i));
      cut.type = best_.types->tuple(parts);
      Node& function = candidate.nodes[main];
      function.type = best_.types->function(function.type->parts, cut.type);
      if (accept(candidate))
        return true;
    }
    return false;
  }

  bool dropItems() {
    for (NodeId id : everyNode(best_))
      for (size_t i = best_.node(id).items.size(); i-- > 0;) {
        Program candidate = best_;
        Node& block = candidate.nodes[id];
        block.items.erase(block.items.begin() + ptrdiff_t(i));
        block.parts.erase(block.parts.begin() + ptrdiff_t(i));
        if (block.items.empty()) {
          Node inner = candidate.node(block.parts[0]);
          candidate.nodes[id] = std::move(inner);
        }
        if (accept(candidate))
          return true;
      }
    return false;
  }

  /// A node inside another of the same type in its place.
  bool hoist() {
    std::set<NodeId> kept = shapeNodes(best_);
    for (NodeId id : everyNode(best_)) {
      const Node& node = best_.node(id);
      if (!node.type || node.kind == NodeKind::Function || kept.contains(id))
        continue;
      for (NodeId inner : below(best_, id)) {
        if (inner == id || best_.node(inner).type != node.type)
          continue;
        Program candidate = best_;
        candidate.nodes[id] = best_.node(inner);
        if (accept(candidate))
          return true;
      }
    }
    return false;
  }

  /// A literal, or a parameter of the definition, in the place of something longer.
  bool simplify() {
    std::set<NodeId> kept = shapeNodes(best_);
    for (const Definition& definition : best_.definitions)
      for (NodeId id : below(best_, definition.function)) {
        const Node& node = best_.node(id);
        if (id == definition.function || !node.type || node.parts.empty() || kept.contains(id))
          continue;
        Program candidate = best_;
        auto literal = simplest(candidate, node.type);
        if (literal) {
          Node copy = candidate.node(*literal);
          bool isSmaller = below(best_, id).size() > copy.parts.size() + 1;
          candidate.nodes[id] = std::move(copy);
          if (isSmaller && accept(candidate))
            return true;
        }
        if (useParameter(definition, id))
          return true;
      }
    return false;
  }

  bool useParameter(const Definition& definition, NodeId id) {
    for (const Binder& parameter : best_.functionOf(definition).parameters) {
      if (parameter.type != best_.node(id).type)
        continue;
      Program candidate = best_;
      candidate.nodes[id] = {NodeKind::Local, parameter.type, parameter.name};
      if (accept(candidate))
        return true;
    }
    return false;
  }

  /// Parameters of `@main` that nothing uses.
  bool dropParameters() {
    NodeId main = best_.definitions.back().function;
    for (size_t i = best_.node(main).parameters.size(); i-- > 0;) {
      Program candidate = best_;
      Node& function = candidate.nodes[main];
      function.parameters.erase(function.parameters.begin() + ptrdiff_t(i));
      if (i < candidate.arguments.size())
        candidate.arguments.erase(candidate.arguments.begin() + ptrdiff_t(i));
      if (accept(candidate))
        return true;
    }
    return false;
  }

  Program best_;
  const std::function<bool(const Program&)>& stillFails_;
  size_t tries_;
};

} // namespace

Program shrunk(const Program& program, const std::function<bool(const Program&)>& stillFails,
               size_t tries) {
  return Shrinker(program, stillFails, tries).run();
}

} // namespace harness
