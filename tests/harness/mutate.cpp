// Each mistake is a function that changes one node and says whether it could.
#include "tests/harness/mutate.h"

#include "stdlib/ops.h"
#include "tests/harness/scope.h"
#include "tests/harness/types.h"

#include <algorithm>
#include <iterator>

namespace harness {

using namespace lang;

namespace {

/// A node and the program around it.
struct Spot {
  Program& program;
  NodeId id;
  Random& random;

  Node& node() const { return program.nodes[id]; }
};

/// The first part that is an operand and not the callee.
size_t firstOperand(const Node& node) {
  return node.kind == NodeKind::Call ? 1 : 0;
}

size_t operandCount(const Node& node) {
  switch (node.kind) {
  case NodeKind::Operator:
  case NodeKind::Constructor:
  case NodeKind::Tuple:
  case NodeKind::Call:
    return node.parts.size() - firstOperand(node);
  default:
    return 0;
  }
}

NodeId otherLiteral(const Spot& spot) {
  static constexpr const char* literals[] = {"True", "2f", "3", "4i64", "1f64", "()", "(1, 2f)"};
  Node literal{NodeKind::Literal, nullptr, literals[spot.random.index(std::size(literals))]};
  return spot.program.add(std::move(literal));
}

bool swapOperands(const Spot& spot) {
  Node& node = spot.node();
  if (operandCount(node) < 2)
    return false;
  size_t at = firstOperand(node) + spot.random.index(operandCount(node) - 1);
  std::swap(node.parts[at], node.parts[at + 1]);
  return true;
}

bool dropOperand(const Spot& spot) {
  Node& node = spot.node();
  if (operandCount(node) == 0 || node.isInfix)
    return false;
  node.parts.pop_back();
  return true;
}

bool addOperand(const Spot& spot) {
  if (operandCount(spot.node()) == 0 || spot.node().isInfix)
    return false;
  NodeId literal = otherLiteral(spot);
  spot.node().parts.push_back(literal);
  return true;
}

bool replacePart(const Spot& spot) {
  if (spot.node().parts.empty() || spot.node().kind == NodeKind::Function)
    return false;
  NodeId other = otherLiteral(spot);
  Node& node = spot.node();
  node.parts[spot.random.index(node.parts.size())] = other;
  return true;
}

/// Another name, operator, constructor or function of the program in this one's place.
bool otherLeaf(const Spot& spot) {
  const Node& like = spot.node();
  bool isLeaf = like.kind == NodeKind::Local || like.kind == NodeKind::Graph ||
                like.kind == NodeKind::Global || like.kind == NodeKind::Constructor;
  std::vector<NodeId> others;
  for (NodeId id = 0; id < spot.program.nodes.size(); ++id) {
    const Node& other = spot.program.node(id);
    if (isLeaf && other.kind == like.kind && other.text != like.text)
      others.push_back(id);
  }
  if (others.empty())
    return false;
  const Node& other = spot.program.node(spot.random.pick(others));
  spot.node().text = other.text;
  spot.node().isPrelude = other.isPrelude;
  return true;
}

bool otherOperator(const Spot& spot) {
  Node& node = spot.node();
  if (node.kind != NodeKind::Operator || node.isInfix)
    return false;
  std::vector<const OperatorRow*> rows;
  // What stands for code is written out before a run, which these are not.
  for (const OperatorRow* row : stdlib::operatorTable().all())
    if (row->operands.size() == node.parts.size() && row->name != node.text &&
        row->action != Action::Expand)
      rows.push_back(row);
  if (rows.empty())
    return false;
  node.text = spot.random.pick(rows)->name;
  if (spot.random.chance(70))
    node.attributes.clear();
  return true;
}

bool changeAttribute(const Spot& spot) {
  static constexpr const char* values[] = {"0", "1",  "-1", "5",      "[]",    "[1]",     "[2, 2]",
                                           "7", "-6", "2f", "\"NC\"", "False", "\"int8\""};
  Node& node = spot.node();
  if (node.attributes.empty())
    return false;
  size_t at = spot.random.index(node.attributes.size());
  if (spot.random.chance(20))
    node.attributes.erase(node.attributes.begin() + ptrdiff_t(at));
  else
    node.attributes[at].value = values[spot.random.index(std::size(values))];
  return true;
}

const Type* otherType(const Spot& spot, const Type* type) {
  TypeContext& types = *spot.program.types;
  const Type* one = types.scalar(runtime::Int32);
  if (!type || spot.random.chance(10))
    return one;
  if (type->isTensor()) {
    std::vector<const Dim*> shape(type->shape.begin(), type->shape.end());
    if (shape.empty() || spot.random.chance(25))
      return types.tensor(Dims(shape),
                          type->dtype == runtime::Float32 ? runtime::Float64 : runtime::Float32);
    size_t at = spot.random.index(shape.size());
    if (spot.random.chance(20))
      shape.erase(shape.begin() + ptrdiff_t(at));
    else
      shape[at] = spot.random.chance(20) ? types.any() : types.add(shape[at], types.constant(1));
    return types.tensor(Dims(shape), type->dtype);
  }
  if (type->parts.empty())
    return types.tuple(std::vector<const Type*>{type});
  std::vector<const Type*> parts(type->parts.begin(), type->parts.end());
  size_t at = spot.random.index(parts.size());
  parts[at] = otherType(spot, parts[at]);
  switch (type->kind) {
  case TypeKind::Tuple:
    return types.tuple(parts);
  case TypeKind::Data:
    return types.data(type->definition, parts);
  case TypeKind::Reference:
    return types.reference(parts[0]);
  case TypeKind::Function:
    return types.function(parts, type->result, type->generics);
  default:
    return one;
  }
}

void collectBinders(MatchPattern& pattern, std::vector<Binder*>& binders) {
  if (pattern.kind == PatternKind::Var)
    binders.push_back(&pattern.binder);
  for (MatchPattern& part : pattern.parts)
    collectBinders(part, binders);
}

bool changeAnnotation(const Spot& spot) {
  Node& node = spot.node();
  std::vector<Binder*> binders;
  for (Binder& parameter : node.parameters)
    binders.push_back(&parameter);
  for (Item& item : node.items)
    if (item.kind == ItemKind::Let)
      binders.push_back(&item.binder);
  for (MatchPattern& pattern : node.patterns)
    collectBinders(pattern, binders);
  std::erase_if(binders, [](const Binder* binder) { return !binder->type; });
  if (binders.empty())
    return false;
  Binder& binder = *spot.random.pick(binders);
  if (binder.isAnnotated && spot.random.chance(15)) {
    binder.isAnnotated = false;
    return true;
  }
  binder.isAnnotated = true;
  binder.type = otherType(spot, binder.type);
  return true;
}

bool changeResult(const Spot& spot) {
  Node& node = spot.node();
  if (node.kind != NodeKind::Function)
    return false;
  TypeContext& types = *spot.program.types;
  node.isResultAnnotated = true;
  node.type =
      types.function(node.type->parts, otherType(spot, node.type->result), node.type->generics);
  return true;
}

bool changeField(const Spot& spot) {
  Node& node = spot.node();
  if (node.kind != NodeKind::Project)
    return false;
  node.index = node.index > 0 && spot.random.chance(50) ? node.index - 1 : node.index + 1;
  return true;
}

bool changeArms(const Spot& spot) {
  Node& node = spot.node();
  if (node.kind != NodeKind::Match || node.patterns.empty())
    return false;
  size_t at = spot.random.index(node.patterns.size());
  MatchPattern& pattern = node.patterns[at];
  if (spot.random.chance(50)) {
    node.patterns.erase(node.patterns.begin() + ptrdiff_t(at));
    node.parts.erase(node.parts.begin() + ptrdiff_t(at) + 1);
  } else if (!pattern.parts.empty() && spot.random.chance(50)) {
    pattern.parts.emplace_back();
  } else if (pattern.kind == PatternKind::Constructor) {
    pattern.constructor = "Cons";
  } else {
    std::swap(node.patterns.front(), node.patterns.back());
  }
  return true;
}

bool dropGeneric(const Spot& spot) {
  Node& node = spot.node();
  if (node.kind != NodeKind::Function || node.generics.empty())
    return false;
  node.generics.pop_back();
  return true;
}

/// Zeros of a shape as a literal; empty when the text has none for the element type.
std::string zeros(std::span<const int64_t> shape, runtime::DType dtype) {
  if (shape.empty())
    return dtype == runtime::Float32 ? "0f" : dtype == runtime::Int32 ? "0" : "";
  std::string part = zeros(shape.subspan(1), dtype), text;
  for (int64_t i = 0; i < shape[0] && !part.empty(); ++i)
    text += (i > 0 ? ", " : "") + part;
  return text.empty() ? "" : "[" + text + "]";
}

/// A tensor of another size in the place of a tensor, which its type does not tell.
bool hideSize(const Spot& spot) {
  const Type* type = spot.node().type;
  if (!type || !type->isTensor() || type->shape.empty() || hasOpenDims(type))
    return false;
  TypeContext& types = *spot.program.types;
  size_t at = spot.random.index(type->shape.size());
  std::vector<int64_t> shape;
  std::vector<const Dim*> dims(type->shape.begin(), type->shape.end());
  int64_t count = 1;
  for (const Dim* dim : dims)
    count *= shape.emplace_back(dim->value);
  if (count > 64)
    return false;
  shape[at] += spot.random.chance(50) && shape[at] > 1 ? -1 : 1;
  dims[at] = types.any();
  const Type* hidden = types.tensor(Dims(dims), type->dtype);
  std::string text = zeros(shape, type->dtype);
  if (text.empty())
    return false;
  NodeId value = spot.program.add({NodeKind::Literal, hidden, std::move(text)});
  std::string name = "hidden" + std::to_string(value);
  NodeId use = spot.program.add({NodeKind::Local, hidden, name});
  Node block{NodeKind::Block, hidden, {}, {value, use}};
  block.items.push_back({ItemKind::Let, {name, hidden, true}});
  spot.node() = std::move(block);
  return true;
}

using Mistake = bool (*)(const Spot&);
constexpr Mistake mistakes[] = {
    swapOperands,    swapOperands,    dropOperand,      addOperand,       replacePart,
    replacePart,     otherLeaf,       otherLeaf,        otherOperator,    otherOperator,
    changeAttribute, changeAttribute, changeAnnotation, changeAnnotation, changeResult,
    changeField,     changeArms,      dropGeneric,      hideSize,         hideSize};

} // namespace

Program mutated(const Program& program, Random& random) {
  constexpr size_t mostTries = 200;
  std::vector<NodeId> nodes = everyNode(program);
  for (size_t tries = 0; tries < mostTries; ++tries) {
    Program changed = program;
    Spot spot{changed, random.pick(nodes), random};
    if (mistakes[random.index(std::size(mistakes))](spot) && isWellScoped(changed))
      return changed;
  }
  return program;
}

} // namespace harness
