// Places for nodes: the least common ancestor of the scopes that use them, as Relay's conversion to
// A-normal form has it. A let body is a scope too, so within a block a place is a segment.
#include "parser/resolve/lower_graph.h"

#include "parser/surface/surface.h"

#include <algorithm>

namespace parser {

namespace {

/// The place outside of `place`'s scope that holds it.
Place outward(Place place) {
  return place.scope->parent;
}

Place commonPlace(Place a, Place b) {
  while (a.scope != b.scope) {
    if (a.scope->depth >= b.scope->depth)
      a = outward(a);
    else
      b = outward(b);
  }
  return {a.scope, std::min(a.segment, b.segment)};
}

bool isInside(Place place, Place outer) {
  while (place.scope->depth > outer.scope->depth)
    place = outward(place);
  return place.scope == outer.scope && place.segment >= outer.segment;
}

/// All nodes that `root` reaches, uses before users, in the order in which evaluation needs them.
/// The children of the nodes on the path lie one behind the other in `children`.
std::vector<Node*> reachable(Node* root, uint32_t definition) {
  struct Frame {
    Node* node;
    size_t begin;
    size_t next;
  };
  std::vector<Node*> order;
  std::vector<Frame> path;
  std::vector<Node*> children;
  auto enter = [&](Node* node) {
    node->definition = definition;
    node->uses = 0;
    node->home = {};
    node->atom = nullptr;
    node->scopes = {};
    node->expr = nullptr;
    path.push_back({node, children.size(), children.size()});
    forEachUse(*node, [&](const Use& use, UseKind) {
      if (use.node)
        children.push_back(use.node);
    });
  };
  enter(root);
  while (!path.empty()) {
    Frame& frame = path.back();
    if (frame.next == children.size()) {
      order.push_back(frame.node);
      children.resize(frame.begin);
      path.pop_back();
    } else if (Node* child = children[frame.next++]; child->definition != definition) {
      enter(child);
    }
  }
  return order;
}

class Placer {
public:
  Placer(Lowering& lowering) : lowering_(lowering) {}

  /// Places what `node` mentions; its own home is known by now.
  void place(Node& node) {
    for (const Use& use : node.operands)
      mention(use, UseKind::Operand, node.home);
    switch (node.kind) {
    case NodeKind::If:
    case NodeKind::Match:
    case NodeKind::Function:
      placeBodies(node);
      break;
    case NodeKind::Sequence:
      placeSequence(node);
      break;
    default:
      break;
    }
  }

private:
  Scope* newScope(Place parent) {
    lowering_.scopes.push_back({parent, parent.scope ? parent.scope->depth + 1 : 0});
    return &lowering_.scopes.back();
  }

  /// A graph line that binds variables may stand in several definitions; each has its own.
  void bind(const lang::Var* var, Place place) {
    if (lowering_.varPlaces[var->number].definition != 0) {
      auto* own = lowering_.module.arena.make<lang::Var>(*var);
      own->number = lowering_.module.varCount++;
      lowering_.ownVars[var->number] = own;
      lowering_.varPlaces.resize(lowering_.module.varCount);
      var = own;
    }
    lowering_.varPlaces[var->number] = {lowering_.definition, place};
  }

  void bindPattern(const lang::Pattern& pattern, Place place) {
    if (pattern.var)
      bind(pattern.var, place);
    for (const lang::Pattern* part : pattern.parts)
      bindPattern(*part, place);
  }

  void placeBodies(Node& node) {
    std::vector<Scope*> scopes;
    for (size_t i = 0; i < node.bodies.size(); ++i) {
      Scope* scope = newScope(node.home);
      scopes.push_back(scope);
      if (node.kind == NodeKind::Match)
        bindPattern(*node.patterns[i], {scope, 0});
      if (node.kind == NodeKind::Function)
        for (const lang::Var* parameter : node.function->parameters)
          bind(parameter, {scope, 0});
      mention(node.bodies[i], UseKind::Tail, {scope, 0});
    }
    node.scopes = lowering_.lists.copy(scopes);
  }

  /// A sequence at the tail of a block, and nowhere else, adds its lets to that block; any other
  /// one is a block of its own.
  void placeSequence(Node& node) {
    Scope* scope = node.isInPlace(UseKind::Tail) ? node.home.scope : newScope(node.home);
    node.scopes = lowering_.lists.copy(std::span(&scope, 1));
    node.firstSegment = uint32_t(scope->segments.size()) - 1;
    scope->segments.resize(scope->segments.size() + node.items.size());
    for (size_t i = 0; i < node.items.size(); ++i) {
      const LetItem& item = node.items[i];
      uint32_t segment = node.firstSegment + uint32_t(i);
      bool mayRecurse = item.value.node && item.value.node->kind == NodeKind::Function;
      bind(item.var, {scope, segment + (mayRecurse ? 0 : 1)});
      mention(item.value, UseKind::LetValue, {scope, segment});
    }
    mention(node.result, UseKind::Tail, {scope, node.firstSegment + uint32_t(node.items.size())});
  }

  void mention(const Use& use, UseKind kind, Place place) {
    if (!use.node) {
      checkScope(use, place);
      return;
    }
    Node& node = *use.node;
    node.home = node.uses == 0 ? place : commonPlace(node.home, place);
    node.uses += 1;
    node.lastUse = kind;
  }

  void checkScope(const Use& use, Place place) {
    const auto* var = use.atom->as<lang::Var>();
    if (!var || var->origin == lang::VarOrigin::Free)
      return;
    const VarPlace& bound = lowering_.varPlaces[lowering_.own(var)->number];
    if (bound.definition == lowering_.definition && isInside(place, bound.place))
      return;
    lowering_.diagnostics
        .report(lang::Message::EscapingLocal, use.range, lang::localName(var->name))
        .label(var->range, "bound here");
  }

  Lowering& lowering_;
};

} // namespace

std::vector<Node*> placeGraph(Lowering& lowering, Node* root) {
  lowering.definition += 1;
  lowering.varPlaces.resize(lowering.module.varCount);
  lowering.scopes.clear();
  lowering.lists.clear();
  lowering.ownVars.clear();
  std::vector<Node*> order = reachable(root, lowering.definition);
  lowering.scopes.push_back({});
  root->home = {&lowering.scopes.back(), 0};
  std::vector<Node*> usersFirst = order;
  std::ranges::sort(usersFirst, std::ranges::greater{}, &Node::number);
  Placer placer(lowering);
  for (Node* node : usersFirst) {
    if (node->home.scope->depth > surface::maximumDepth) {
      lowering.diagnostics.report(lang::Message::NestingTooDeep, node->range,
                                  surface::maximumDepth);
      return {};
    }
    placer.place(*node);
  }
  return order;
}

} // namespace parser
