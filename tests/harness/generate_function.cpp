// Functions as values: those of the program, of the prelude, constructors, and new ones.
#include "tests/harness/generator.h"

#include <algorithm>

namespace harness {

using namespace lang;

/// What may stand where a function of this type is wanted, by name; of generic functions those that
/// can be of that type.
std::vector<Generator::Named> Generator::namedFunctions(const Type* goal) const {
  std::vector<Named> found;
  auto consider = [&](const Type* type, Node node) {
    Bindings bindings;
    if (!hasOpenDims(type) &&
        matchType(types_.function(type->parts, type->result), goal, type->generics, bindings))
      found.push_back({std::move(node), !type->generics.empty()});
  };
  for (std::span<const Callable> list : callableLists())
    for (const Callable& callable : list)
      if (!callable.fuel)
        consider(types_.function(callable.parameters, callable.result, callable.generics),
                 globalNode(callable));
  for (const DataType& data : universe_.dataTypes) {
    std::vector<const Type*> arguments;
    for (const TypeParameter* generic : data.definition->generics)
      arguments.push_back(isSize(generic) ? types_.dimension(types_.symbol(generic))
                                          : types_.variable(generic));
    const Type* made = types_.data(data.definition, arguments);
    for (const Constructor* constructor : data.definition->constructors)
      if (!constructor->fields.empty())
        consider(types_.function(constructor->fields, made, data.definition->generics),
                 {NodeKind::Constructor, nullptr, std::string(constructor->name)});
  }
  for (const Variable* variable : visible([](const Variable& each) {
         return each.type && each.type->kind == TypeKind::Function && !each.type->generics.empty();
       }))
    consider(variable->type, {variable->kind, variable->type, variable->name});
  return found;
}

std::array<std::span<const Callable>, 2> Generator::callableLists() const {
  return {callables_, universe_.prelude};
}

Node Generator::globalNode(const Callable& callable) {
  Node node{NodeKind::Global, nullptr, callable.name};
  node.isPrelude = callable.isPrelude;
  return node;
}

/// The value, or what `@id` makes of it: only a run tells then which function it is.
NodeId Generator::throughCall(const Type* type, NodeId value) {
  if (!random_.chance(25))
    return value;
  Node identity{NodeKind::Global, nullptr, "id"};
  identity.isPrelude = true;
  return program_.add({NodeKind::Call, type, {}, {program_.add(std::move(identity)), value}});
}

std::optional<NodeId> Generator::knownFunction(const Type* goal, int depth, bool pinned) {
  std::vector<Named> found = namedFunctions(goal);
  if (found.empty())
    return std::nullopt;
  const auto& [node, isGeneric] = random_.pick(found);
  if (node.kind == NodeKind::Constructor)
    useDataType(universe_.dataType(goal->result->definition));
  NodeId value = throughCall(goal, program_.add(node));
  if (random_.chance(20)) {
    NodeId condition = expr(scalar(runtime::Bool), depth - 1, false);
    NodeId other = throughCall(goal, program_.add(node));
    value = program_.add({NodeKind::If, goal, {}, {condition, value, other}});
  }
  return isGeneric && !pinned ? named(goal, value) : value;
}

/// `let %f = @g;`, where `@g` is generic, to be used at several types.
void Generator::addGenericValue(Node& block) {
  std::vector<const Callable*> found;
  for (std::span<const Callable> list : callableLists())
    for (const Callable& callable : list)
      if (!callable.fuel && !callable.generics.empty())
        found.push_back(&callable);
  const Callable& callable = *random_.pick(found);
  const Type* type = types_.function(callable.parameters, callable.result, callable.generics);
  if (!hasOpenDims(type))
    bindLet(block, throughCall(type, program_.add(globalNode(callable))), type, false);
}

/// A square with a rule of its own, which is the right one.
NodeId Generator::ruledSquare(const Type* goal) {
  const Type* type = goal->result;
  const std::string x = freshName("p"), d = freshName("p");
  auto infix = [&](std::string symbol, NodeId left, NodeId right) {
    Node node{NodeKind::Operator, type, std::move(symbol), {left, right}};
    node.isInfix = true;
    return program_.add(std::move(node));
  };
  auto product = [&](const std::string& left, const std::string& right) {
    return infix("*", program_.add({NodeKind::Local, type, left}),
                 program_.add({NodeKind::Local, type, right}));
  };
  auto function = [&](const std::vector<std::string>& names, NodeId result) {
    std::vector<const Type*> types(names.size(), type);
    Node node{NodeKind::Function, types_.function(types, type)};
    for (const std::string& name : names)
      node.parameters.push_back({name, type, true});
    node.parts = {program_.add({NodeKind::Block, type, {}, {result}})};
    return program_.add(std::move(node));
  };
  NodeId square = function({x}, product(x, x));
  NodeId rule = function({x, d}, infix("+", product(x, d), product(d, x)));
  const char* op = random_.chance(50) ? "custom_grad" : "custom_jvp";
  return program_.add({NodeKind::Operator, goal, op, {square, rule}});
}

NodeId Generator::makeFunction(const Type* goal, int depth, bool pinned) {
  bool isOfFloats = goal->parts.size() == 1 && goal->parts[0] == goal->result &&
                    goal->result->isTensor() && goal->result->dtype.isFloat();
  if (isOfFloats && random_.chance(10))
    return ruledSquare(goal);
  if (random_.chance(35))
    if (auto known = knownFunction(goal, depth, pinned))
      return *known;
  Node node{NodeKind::Function, goal};
  size_t mark = locals_.size();
  for (const Type* part : goal->parts) {
    node.parameters.push_back({freshName("p"), part, !pinned || random_.chance(60)});
    locals_.push_back({NodeKind::Local, node.parameters.back().name, part});
  }
  node.isResultAnnotated = random_.chance(50);
  node.parts = {block(goal->result, depth, pinned || node.isResultAnnotated)};
  locals_.resize(mark);
  bool isTold = std::ranges::all_of(node.parameters, &Binder::isAnnotated);
  NodeId made = program_.add(std::move(node));
  if (!isTold || !random_.chance(8))
    return made;
  return program_.add({NodeKind::Operator, goal, "checkpoint", {made}});
}

} // namespace harness
