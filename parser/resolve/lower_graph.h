// From the graph of one definition to flat blocks: places (place_graph.cpp), then blocks
// (emit_blocks.cpp). Both are loops over the nodes; no step recurses.
#pragma once

#include "lang/ir/module.h"
#include "parser/resolve/graph.h"

#include <deque>
#include <unordered_map>

namespace parser {

/// Where a variable may be used: in `place` and all places inside or after it.
struct VarPlace {
  uint32_t definition = 0;
  Place place;
};

/// What the steps for one module share.
struct Lowering {
  lang::Module& module;
  lang::Diagnostics& diagnostics;
  /// Numbers definitions from 1, so that a node knows whether its fields are of this one.
  uint32_t definition = 0;
  std::vector<VarPlace> varPlaces = {};
  std::deque<Scope> scopes = {};
  /// The lists of the scopes of nodes.
  runtime::Arena lists = {};
  /// For this definition: the variables that stand for those of shared graph lines, by number.
  std::unordered_map<uint32_t, const lang::Var*> ownVars = {};

  /// The variable that stands for `var` in this definition.
  const lang::Var* own(const lang::Var* var) const {
    auto found = ownVars.find(var->number);
    return found == ownVars.end() ? var : found->second;
  }
  const lang::Expr* own(const lang::Expr* atom) const {
    const auto* var = ownVars.empty() ? nullptr : atom->as<lang::Var>();
    return var ? own(var) : atom;
  }
};

/// Calls `visit(use, kind)` for the mentions in a node in the order of evaluation.
template <typename Visit>
void forEachUse(const Node& node, Visit&& visit) {
  for (const Use& use : node.operands)
    visit(use, UseKind::Operand);
  for (const Use& use : node.bodies)
    visit(use, UseKind::Tail);
  for (const LetItem& item : node.items)
    visit(item.value, UseKind::LetValue);
  if (node.kind == NodeKind::Sequence)
    visit(node.result, UseKind::Tail);
}

/// Gives every node that `root`, a function node, reaches its home: the innermost place around all
/// its uses. Returns the nodes in the order of evaluation, users after uses. Reports variables that
/// are used where they are not in scope. Graph lines can nest functions without nesting brackets;
/// when that goes too deep it is reported, and nothing is returned.
std::vector<Node*> placeGraph(Lowering& lowering, Node* root);

/// Lowers the function node of a definition; after a report its body is a hole.
const lang::Function* lowerFunction(Lowering& lowering, Node* root);

} // namespace parser
