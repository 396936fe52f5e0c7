// Expressions of a wanted type: a name that has it, a form that any type can have, or the forms of
// that kind of type. Depth counts down, and past it the smallest expression is made.
#include "tests/harness/generator.h"

#include "lang/ir/differentiable.h"
#include "lang/op/other_names.h"
#include "stdlib/ops.h"
#include "tests/harness/draw.h"

#include <algorithm>
#include <fmt/format.h>

namespace harness {

using namespace lang;

namespace {

/// Whether the text format can write a scalar of the type.
bool hasLiteral(runtime::DType dtype) {
  bool isWide = dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64;
  return dtype.isBool() ||
         (isWide && (dtype.isSigned() || dtype.code == runtime::DTypeCode::Float));
}

} // namespace

std::vector<const Variable*>
Generator::visible(const std::function<bool(const Variable&)>& wanted) const {
  std::vector<const Variable*> found;
  std::set<std::string> names;
  for (const auto* list : {&parameterLocals_, &locals_})
    for (const Variable& local : *list) {
      names.insert(local.name);
      if (wanted(local))
        found.push_back(&local);
    }
  for (const Variable& graph : graphs_)
    if (wanted(graph) && std::ranges::includes(names, graphNeeds_.at(graph.name)))
      found.push_back(&graph);
  return found;
}

std::vector<const Variable*> Generator::visible(const Type* goal) const {
  return visible([goal](const Variable& variable) { return variable.type == goal; });
}

NodeId Generator::use(const Variable& variable) {
  return program_.add({variable.kind, variable.type, variable.name});
}

/// Whether to use a call: it fits, its bounds hold for the sizes that the definition is for, and it
/// runs well whatever its data; a few, of a hundred `faulting`, may fault by their data.
bool Generator::isWanted(const OperatorSample& sample, int faulting) {
  if (!fits(sample) || !fulfils(types_, sample, sizes_) || !hasSizes(sample.output) ||
      (program_.isDynamic && !takesOpen(types_, sample)) ||
      (!random_.chance(faulting) && mayFault(types_, sample)))
    return false;
  isBounded_ |= !sample.bounds.empty();
  return true;
}

/// Whether no extent is negative for the sizes that the definition is for.
bool Generator::hasSizes(const Type* type) const {
  const Type* sized = substitute(types_, type, sizes_);
  return !anyPart(sized, [](const Type* part) {
    return std::ranges::any_of(part->shape,
                               [](const Dim* dim) { return dim->isConstant() && dim->value < 0; });
  });
}

NodeId Generator::expr(const Type* goal, int depth, bool pinned) {
  auto known = visible(goal);
  if (!known.empty() && random_.chance(depth > 0 ? 25 : 85))
    return use(*known[known.size() - 1 - random_.index(std::min<size_t>(known.size(), 6))]);
  if (depth <= 0 || isFull())
    return smallest(goal, pinned);
  if (auto general = generalForm(goal, depth - 1, pinned))
    return *general;
  return make(goal, depth - 1, pinned);
}

std::optional<NodeId> Generator::generalForm(const Type* goal, int depth, bool pinned) {
  if (self_ && selfCalls_ > 0 && self_->result == goal && random_.chance(60))
    return call(*self_, {}, depth);
  switch (random_.index(23)) {
  case 0:
  case 1:
    return branch(goal, depth, pinned);
  case 2:
  case 3:
    return matchExpr(goal, depth, pinned);
  case 4:
  case 5:
  case 6:
  case 7:
    return callKnown(goal, depth);
  case 8:
    return projection(goal, depth);
  case 9:
    return block(goal, depth, pinned);
  case 10:
  case 11:
    return callVariable(goal, depth);
  case 12:
    return callLiteral(goal, depth, pinned);
  case 13:
    return readReference(goal);
  case 14:
    return chain(goal, depth);
  case 15:
  case 16:
  case 17:
    return notationForm(goal, depth);
  default:
    return std::nullopt;
  }
}

NodeId Generator::make(const Type* goal, int depth, bool pinned) {
  switch (goal->kind) {
  case TypeKind::Tensor:
    return makeTensor(goal, depth);
  case TypeKind::Tuple:
    return makeTuple(goal, depth, pinned);
  case TypeKind::Data:
    return makeData(goal, depth, pinned);
  case TypeKind::Function:
    return makeFunction(goal, depth, pinned);
  case TypeKind::Reference: {
    // What is wanted of a cell, or of data, does not make an instance of a generic function in it.
    bool isTold = pinned && !holdsFunctions(goal->parts[0]);
    return program_.add({NodeKind::RefNew, goal, {}, {expr(goal->parts[0], depth, isTold)}});
  }
  default:
    return smallest(goal, pinned);
  }
}

NodeId Generator::smallest(const Type* goal, bool pinned) {
  auto known = visible(goal);
  if (!known.empty() && (!goal->isTensor() || random_.chance(60)))
    return use(*random_.pick(known));
  if (goal->isTensor())
    return smallestTensor(goal);
  return goal->kind == TypeKind::Variable ? freshParameter(goal) : make(goal, 0, pinned);
}

NodeId Generator::makeTensor(const Type* goal, int depth) {
  auto found = universe_.samples.byOutput.find(goal);
  if (found == universe_.samples.byOutput.end())
    return smallestTensor(goal);
  for (size_t tries = 0; tries < 4; ++tries) {
    const OperatorSample& sample = *random_.pick(found->second);
    if (isWanted(sample))
      return operatorCall(sample, depth);
  }
  return smallestTensor(goal);
}

NodeId Generator::smallestTensor(const Type* goal) {
  auto known = visible(goal);
  if (!known.empty() && random_.chance(50))
    return use(*random_.pick(known));
  if (goal->shape.empty() && hasLiteral(goal->dtype) && random_.chance(80))
    return literal(goal->dtype);
  bool isOpen = hasOpenDims(goal);
  if (mayAddParameters_ && (isOpen || (parameters_.size() < 5 && random_.chance(70))))
    return freshParameter(goal);
  if (!isOpen)
    if (auto made = creation(goal))
      return *made;
  return freshParameter(goal);
}

/// A call of an operator without operands that gives the tensor, if the table has one.
std::optional<NodeId> Generator::creation(const Type* goal) {
  std::vector<Node> found;
  for (const OperatorRow* row : stdlib::operatorTable().all()) {
    if (!row->operands.empty())
      continue;
    Arena arena;
    std::vector<AttributeValue> values, extents;
    std::string dtype = typeText(scalar(goal->dtype));
    for (const Dim* dim : goal->shape)
      extents.push_back(intAttribute(dim->value));
    for (const AttributeRow& attribute : row->attributes)
      values.push_back(attribute.kind == AttributeKind::DType ? stringAttribute(dtype)
                       : attribute.kind == AttributeKind::IntList
                           ? listAttribute(arena.copy(extents))
                           : AttributeValue{});
    Attributes attributes{row->attributes, values};
    if (applyRelation(*row, {types_, {}, attributes}).output != goal)
      continue;
    Node node{NodeKind::Operator, goal, std::string(row->name)};
    for (size_t i = 0; i < values.size(); ++i)
      node.attributes.push_back({std::string(row->attributes[i].name), attributeText(values[i])});
    found.push_back(std::move(node));
  }
  if (found.empty())
    return std::nullopt;
  return program_.add(random_.pick(found));
}

NodeId Generator::literal(runtime::DType dtype) {
  if (dtype == runtime::Int32 && random_.chance(8))
    if (auto size = extent([](const Dim* dim) { return dim->isOneSize(); }))
      return *size;
  std::string text;
  if (dtype.isBool())
    text = random_.chance(50) ? "True" : "False";
  else if (dtype.isFloat())
    text = fmt::format("{}f{}", double(random_.integer(-8, 8)) / 2, dtype.bits);
  else
    text = fmt::format("{}i{}", random_.integer(0, 5), dtype.bits);
  return program_.add({NodeKind::Literal, scalar(dtype), text});
}

NodeId Generator::makeTuple(const Type* goal, int depth, bool pinned) {
  Node node{NodeKind::Tuple, goal};
  for (const Type* part : goal->parts)
    node.parts.push_back(expr(part, depth, pinned));
  return program_.add(std::move(node));
}

NodeId Generator::makeData(const Type* goal, int depth, bool pinned) {
  const DataType& data = universe_.dataType(goal->definition);
  useDataType(data);
  size_t choice = random_.index(data.heights.size());
  if (depth <= 0 || isFull())
    choice = size_t(std::ranges::min_element(data.heights) - data.heights.begin());
  const Constructor& constructor = *data.definition->constructors[choice];
  Node node{NodeKind::Constructor, goal, std::string(constructor.name)};
  bool isTold = pinned;
  if (!pinned)
    isTold = std::ranges::all_of(data.definition->generics, [&](const TypeParameter* generic) {
      return std::ranges::any_of(constructor.fields, [&](const Type* field) {
        return mentions(field, std::span(&generic, 1));
      });
    });
  for (size_t i = 0; i < constructor.fields.size(); ++i) {
    const Type* field = fieldType(types_, constructor, i, goal);
    node.parts.push_back(expr(field, depth - 1, (pinned || !isTold) && !holdsFunctions(field)));
  }
  NodeId made = program_.add(std::move(node));
  return isTold ? made : named(goal, made);
}

/// `(let %x: T = value; %x)`: says the type where the value does not.
NodeId Generator::named(const Type* goal, NodeId value) {
  std::string name = freshName("t");
  Node node{NodeKind::Block, goal};
  node.items.push_back({ItemKind::Let, {name, goal, true}});
  node.parts = {value, program_.add({NodeKind::Local, goal, name})};
  return program_.add(std::move(node));
}

NodeId Generator::operatorCall(const OperatorSample& sample, int depth) {
  const OperatorRow& row = *sample.row;
  Node node{NodeKind::Operator, sample.output, std::string(row.name)};
  for (const Type* operand : sample.operands) {
    // Where values decide a rank their number must be known, which a call may leave open.
    bool isCounted = row.shapeNeeds == ShapeNeeds::Values && operand->isTensor();
    auto counted = isCounted && !hasOpenDims(operand) ? creation(operand) : std::nullopt;
    NodeId value = counted ? *counted : expr(operand, depth, false);
    // A literal that decides a shape would be judged by its value.
    bool isJudged = row.shapeNeeds == ShapeNeeds::Constants;
    node.parts.push_back(isJudged ? named(operand, value) : value);
  }
  auto defaults = stdlib::operatorTable().defaults(&row);
  for (size_t i = 0; i < row.attributes.size(); ++i)
    if (row.attributes[i].defaultText.empty() || !(sample.attributes.values[i] == defaults[i]) ||
        random_.chance(20))
      node.attributes.push_back(
          {std::string(row.attributes[i].name), attributeText(sample.attributes.values[i])});
  if (lang::isRelayInfix(row.infix) && random_.chance(50)) {
    node.isInfix = true;
    node.text = row.infix;
  }
  return program_.add(std::move(node));
}

NodeId Generator::branch(const Type* goal, int depth, bool pinned) {
  NodeId condition = expr(scalar(runtime::Bool), depth - 1, false);
  NodeId then = block(goal, depth, pinned);
  return program_.add({NodeKind::If, goal, {}, {condition, then, block(goal, depth, pinned)}});
}

/// Whether dimensions that are bound have the sizes that a callee with bounds is for.
bool Generator::agrees(const Callable& callable, const Bindings& bindings) const {
  for (const auto& [symbol, dim] : bindings.dims)
    if (auto found = callable.sizes.dims.find(symbol);
        found != callable.sizes.dims.end() && found->second != dim)
      return false;
  return true;
}

/// Binds the parameters of a signature that are still free at random.
void Generator::bindTheRest(const Callable& callable, Bindings& bindings) {
  for (const TypeParameter* generic : callable.generics)
    if (!bindings.types.contains(generic))
      bindings.types.emplace(generic, randomType(1));
  for (const auto& [symbol, dim] : callable.sizes.dims)
    bindings.dims.emplace(symbol, dim);
  auto bindDims = [&](const Type* part) {
    for (const Dim* dim : part->shape)
      if (dim->kind == DimKind::Symbol && !bindings.dims.contains(dim))
        bindings.dims.emplace(dim, types_.constant(random_.integer(random_.chance(10) ? 0 : 1, 4)));
    return false;
  };
  for (const Type* parameter : callable.parameters)
    anyPart(parameter, bindDims);
}

/// A call, of which `first` may be the first argument.
NodeId Generator::call(const Callable& callable, Bindings bindings, int depth,
                       std::optional<NodeId> first) {
  bool isSelf = self_ && &callable == &*self_;
  if (isSelf)
    --selfCalls_;
  else
    bindTheRest(callable, bindings);
  std::string name = callable.name;
  std::vector<const Type*> parameters = callable.parameters;
  std::vector<const TypeParameter*> generics = callable.generics;
  std::optional<size_t> fuel = callable.fuel;
  Node node{NodeKind::Call, substitute(types_, callable.result, bindings)};
  node.parts.push_back(program_.add(globalNode(callable)));
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Type* type = substitute(types_, parameters[i], bindings);
    if (i == 0 && first)
      node.parts.push_back(*first);
    else if (fuel == i)
      node.parts.push_back(
          isSelf ? program_.add({NodeKind::Local, type, fuel_})
                 : program_.add({NodeKind::Literal, type, std::to_string(random_.integer(0, 3))}));
    else if (bool pinned = !mentions(parameters[i], generics); isInChain_)
      node.parts.push_back(chainArgument(type, depth, pinned));
    else
      node.parts.push_back(expr(type, depth, pinned));
  }
  NodeId made = program_.add(std::move(node));
  if (isSelf)
    openSelfCalls_.push_back(made);
  return made;
}

std::optional<NodeId> Generator::callKnown(const Type* goal, int depth) {
  std::vector<std::pair<const Callable*, Bindings>> found;
  auto consider = [&](const Callable& callable) {
    Bindings bindings;
    if (matchType(callable.result, goal, callable.generics, bindings) && agrees(callable, bindings))
      found.emplace_back(&callable, std::move(bindings));
  };
  for (const Callable& callable : callables_)
    consider(callable);
  if (found.empty() || random_.chance(40))
    for (const Callable& callable : universe_.prelude)
      consider(callable);
  if (found.empty())
    return std::nullopt;
  const auto& [callable, bindings] = random_.pick(found);
  return call(*callable, bindings, depth);
}

/// A call of a function of the prelude over data, whose data come from such calls where they can,
/// with small functions: what passes may fuse.
std::optional<NodeId> Generator::chain(const Type* goal, int depth) {
  std::vector<std::pair<const Callable*, Bindings>> found;
  for (const Callable& callable : universe_.prelude) {
    Bindings bindings;
    bool takesData = std::ranges::any_of(callable.parameters, [](const Type* parameter) {
      return parameter->kind == TypeKind::Data;
    });
    if (takesData && matchType(callable.result, goal, callable.generics, bindings))
      found.emplace_back(&callable, std::move(bindings));
  }
  if (found.empty())
    return std::nullopt;
  const auto& [callable, bindings] = random_.pick(found);
  isInChain_ = true;
  NodeId made = call(*callable, bindings, depth);
  isInChain_ = false;
  return made;
}

/// An argument of a call that is a part of a chain.
NodeId Generator::chainArgument(const Type* type, int depth, bool pinned) {
  isInChain_ = false;
  std::optional<NodeId> made;
  if (type->kind == TypeKind::Function)
    made = makeFunction(type, 1, pinned);
  else if (type->kind == TypeKind::Data && depth > 0 && random_.chance(70))
    made = chain(type, depth - 1);
  if (!made)
    made = expr(type, depth, pinned);
  isInChain_ = true;
  return *made;
}

/// What the type parameters of a local function stand for when its result is the goal; the named
/// dimensions in its type are those of the definition around it.
std::optional<Bindings> Generator::bindLocal(const Variable& variable, const Type* goal) const {
  Bindings bindings;
  if (!variable.type || variable.type->kind != TypeKind::Function ||
      !matchType(variable.type->result, goal, variable.type->generics, bindings))
    return std::nullopt;
  for (const auto& [symbol, dim] : bindings.dims)
    if (symbol != dim)
      return std::nullopt;
  return bindings;
}

/// A call of a local function; one with type parameters is used at what the goal asks for.
std::optional<NodeId> Generator::callVariable(const Type* goal, int depth) {
  auto found =
      visible([&](const Variable& variable) { return bindLocal(variable, goal).has_value(); });
  if (found.empty())
    return std::nullopt;
  Variable variable = *random_.pick(found);
  const Type* function = variable.type;
  Bindings bindings = *bindLocal(variable, goal);
  for (const TypeParameter* generic : function->generics)
    if (!bindings.types.contains(generic))
      bindings.types.emplace(generic, randomType(1));
  Node node{NodeKind::Call, goal, {}, {use(variable)}};
  for (const Type* part : function->parts)
    node.parts.push_back(
        expr(substitute(types_, part, bindings), depth, function->generics.empty()));
  return program_.add(std::move(node));
}

NodeId Generator::callLiteral(const Type* goal, int depth, bool pinned) {
  std::vector<const Type*> parameters;
  for (int64_t i = random_.integer(0, 2); i > 0; --i)
    parameters.push_back(randomType(1));
  Node node{NodeKind::Call, goal};
  NodeId function = makeFunction(types_.function(parameters, goal), depth, pinned);
  for (Binder& parameter : program_.nodes[function].parameters)
    parameter.isAnnotated = true;
  node.parts.push_back(function);
  // A generic function that is known by name does not say what it is given.
  bool isTold = program_.nodes[function].kind == NodeKind::Function;
  for (const Type* parameter : parameters)
    node.parts.push_back(expr(parameter, depth - 1, isTold));
  return program_.add(std::move(node));
}

std::optional<NodeId> Generator::projection(const Type* goal, int depth) {
  auto found = visible([goal](const Variable& variable) {
    return variable.type && variable.type->isTuple() &&
           std::ranges::find(variable.type->parts, goal) != variable.type->parts.end();
  });
  NodeId tuple = 0;
  if (!found.empty()) {
    tuple = use(*random_.pick(found));
  } else {
    std::vector<const Type*> fields;
    for (int64_t i = random_.integer(1, 3); i > 0; --i)
      fields.push_back(randomType(1));
    fields[random_.index(fields.size())] = goal;
    tuple = expr(types_.tuple(fields), depth, false);
  }
  auto fields = program_.node(tuple).type->parts;
  uint32_t index = uint32_t(std::ranges::find(fields, goal) - fields.begin());
  Node node{NodeKind::Project, goal, {}, {tuple}, index};
  return program_.add(std::move(node));
}

std::optional<NodeId> Generator::readReference(const Type* goal) {
  auto found = visible(types_.reference(goal));
  if (found.empty())
    return std::nullopt;
  return program_.add({NodeKind::RefRead, goal, {}, {use(*random_.pick(found))}});
}

NodeId Generator::freshParameter(const Type* type) {
  addParameter(type);
  return program_.add({NodeKind::Local, type, parameters_.back().name});
}

} // namespace harness
