// Writing flat blocks. Nodes come in the order of evaluation and are appended to the place that is
// their home; when the owner of a block is reached, everything in the block has been written.
#include "parser/resolve/lower_graph.h"

namespace parser {

namespace {

using lang::Binding;
using lang::Block;
using lang::Expr;
using lang::ExprKind;
using lang::Operand;

class Emitter {
public:
  explicit Emitter(Lowering& lowering) : lowering_(lowering), arena_(lowering.module.arena) {}

  void emit(Node& node) {
    if (node.kind == NodeKind::Sequence) {
      emitSequence(node);
      return;
    }
    node.expr = makeExpr(node);
    if (!node.isInPlace(UseKind::LetValue))
      bindTemporary(node);
  }

  /// A function of a graph line that several definitions use is another function in each.
  const lang::Function* function(Node& node) {
    auto* function = arena_.make<lang::Function>(*node.function);
    if (node.isLowered)
      function->number = lowering_.module.functionCount++;
    node.isLowered = true;
    std::vector<const lang::Var*> parameters;
    for (const lang::Var* parameter : function->parameters)
      parameters.push_back(lowering_.own(parameter));
    if (!lowering_.ownVars.empty())
      function->parameters = arena_.copy(parameters);
    function->body = block(node.scopes[0], operand(node.bodies[0]));
    return function;
  }

  /// A function whose body has no meaning.
  const lang::Function* hollow(const Node& node) {
    auto* function = arena_.make<lang::Function>(*node.function);
    const auto* hole = arena_.make<lang::Hole>(Expr{ExprKind::Hole, node.bodies[0].range});
    function->body = arena_.make<Block>(std::span<const Binding>{}, Operand{hole, hole->range});
    return function;
  }

private:
  /// A sequence in place is its result, so the place to point at is that of the result.
  Operand operand(Use use) {
    while (use.node && use.node->kind == NodeKind::Sequence &&
           use.node->scopes[0] == use.node->home.scope)
      use = use.node->result;
    return {use.node ? use.node->atom : lowering_.own(use.atom), use.range};
  }

  std::span<const Operand> operands(std::span<const Use> uses) {
    operands_.clear();
    for (const Use& use : uses)
      operands_.push_back(operand(use));
    return arena_.copy(operands_);
  }

  void bindTemporary(Node& node) {
    lang::Module& module = lowering_.module;
    auto* var = arena_.make<lang::Var>(Expr{ExprKind::Var, node.range}, std::string_view{},
                                       lang::VarOrigin::Temporary, module.varCount++);
    node.atom = var;
    node.home.scope->segments[node.home.segment].temporaries.push_back(
        {var, node.expr, node.range});
  }

  /// Lets of a sequence go to its block. A sequence written in place is its result from here on.
  void emitSequence(Node& node) {
    for (size_t i = 0; i < node.items.size(); ++i) {
      const Use& value = node.items[i].value;
      Scope::Segment& segment = node.scopes[0]->segments[node.firstSegment + i];
      segment.let = lowering_.own(node.items[i].var);
      segment.place = value.range;
      segment.value = !value.node                                ? lowering_.own(value.atom)
                      : value.node->isInPlace(UseKind::LetValue) ? value.node->expr
                                                                 : value.node->atom;
    }
    if (node.scopes[0] == node.home.scope) {
      node.atom = operand(node.result).value;
      return;
    }
    node.expr = arena_.make<lang::BlockExpr>(Expr{ExprKind::Block, node.range},
                                             block(node.scopes[0], operand(node.result)));
    if (!node.isInPlace(UseKind::LetValue))
      bindTemporary(node);
  }

  const Block* block(Scope* scope, Operand result) {
    bindings_.clear();
    for (Scope::Segment& segment : scope->segments) {
      bindings_.insert(bindings_.end(), segment.temporaries.begin(), segment.temporaries.end());
      if (segment.let)
        bindings_.push_back({segment.let, segment.value, segment.place});
    }
    return arena_.make<Block>(arena_.copy(bindings_), result);
  }

  const Block* body(Node& node, size_t i) { return block(node.scopes[i], operand(node.bodies[i])); }

  const Expr* makeExpr(Node& node) {
    auto base = [&](ExprKind kind) { return Expr{kind, node.range}; };
    switch (node.kind) {
    case NodeKind::Tuple:
      return arena_.make<lang::TupleExpr>(base(ExprKind::Tuple), operands(node.operands));
    case NodeKind::Project:
      return arena_.make<lang::Project>(base(ExprKind::Project), operand(node.operands[0]),
                                        node.index, node.field, node.fieldCount, node.hint);
    case NodeKind::Call: {
      auto all = operands(node.operands);
      return arena_.make<lang::Call>(base(ExprKind::Call), all.back(), all.first(all.size() - 1),
                                     node.attributes, node.named);
    }
    case NodeKind::If:
      return arena_.make<lang::If>(base(ExprKind::If), operand(node.operands[0]), body(node, 0),
                                   body(node, 1));
    case NodeKind::Match:
      return makeMatch(node);
    case NodeKind::Function:
      return function(node);
    case NodeKind::RefNew:
      return arena_.make<lang::RefNew>(base(ExprKind::RefNew), operand(node.operands[0]));
    case NodeKind::RefRead:
      return arena_.make<lang::RefRead>(base(ExprKind::RefRead), operand(node.operands[0]));
    case NodeKind::RefWrite:
      return arena_.make<lang::RefWrite>(base(ExprKind::RefWrite), operand(node.operands[0]),
                                         operand(node.operands[1]));
    case NodeKind::Sequence:
      break;
    }
    return nullptr;
  }

  const Expr* makeMatch(Node& node) {
    std::vector<lang::Arm> arms;
    for (size_t i = 0; i < node.bodies.size(); ++i)
      arms.push_back({pattern(node.patterns[i]), body(node, i), node.bodies[i].range});
    return arena_.make<lang::Match>(Expr{ExprKind::Match, node.range}, operand(node.operands[0]),
                                    node.isPartial, arena_.copy(arms));
  }

  const lang::Pattern* pattern(const lang::Pattern* shared) {
    if (lowering_.ownVars.empty())
      return shared;
    auto* own = arena_.make<lang::Pattern>(*shared);
    if (own->var)
      own->var = lowering_.own(own->var);
    std::vector<const lang::Pattern*> parts;
    for (const lang::Pattern* part : own->parts)
      parts.push_back(pattern(part));
    own->parts = arena_.copy(parts);
    return own;
  }

  Lowering& lowering_;
  runtime::Arena& arena_;
  /// Those of the node that is being written, and the bindings of the block.
  std::vector<Operand> operands_;
  std::vector<Binding> bindings_;
};

} // namespace

const lang::Function* lowerFunction(Lowering& lowering, Node* root) {
  size_t errors = lowering.diagnostics.errorCount();
  std::vector<Node*> order = placeGraph(lowering, root);
  Emitter emitter(lowering);
  if (lowering.diagnostics.errorCount() > errors)
    return emitter.hollow(*root);
  for (Node* node : order)
    if (node != root)
      emitter.emit(*node);
  return emitter.function(*root);
}

} // namespace parser
