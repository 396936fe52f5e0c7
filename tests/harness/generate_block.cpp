// Blocks: lets, graph lines and sequences, and what they like to bind.
#include "tests/harness/generator.h"

#include "stdlib/ops.h"
#include "tests/harness/notation_plan.h"

#include <algorithm>

namespace harness {

using namespace lang;

NodeId Generator::block(const Type* goal, int depth, bool pinned) {
  Node node{NodeKind::Block, goal};
  size_t mark = locals_.size();
  if (favoured_ && depth > 0)
    callsFavoured(node, depth - 1);
  for (int64_t i = depth > 0 ? random_.integer(0, 3) : 0; i > 0 && !isFull(); --i)
    addItem(node, depth - 1);
  NodeId result = expr(goal, depth, pinned);
  locals_.resize(mark);
  if (node.items.empty())
    return result;
  node.parts.push_back(result);
  return program_.add(std::move(node));
}

void Generator::addItem(Node& block, int depth) {
  if (random_.chance(4))
    addWeakenedCell(block);
  if (random_.chance(4))
    addLocalRecursion(block, depth);
  if (random_.chance(4))
    addGenericValue(block);
  switch (random_.index(12)) {
  case 0:
  case 1:
  case 2:
  case 3:
    return addOperatorItem(block, depth);
  case 4:
    return addOperatorValue(block, depth);
  case 5:
    return addGenericClosure(block, depth);
  case 6:
    return addWrite(block, depth);
  case 7:
  case 8:
    return addCall(block, depth);
  default:
    break;
  }
  const Type* type = randomType(2);
  bool isAnnotated = random_.chance(40);
  bindLet(block, expr(type, depth, isAnnotated), type, isAnnotated);
}

/// Binds a value by a let, or as a graph line when no annotation is wanted.
void Generator::bindLet(Node& block, NodeId value, const Type* type, bool isAnnotated) {
  if (!isAnnotated && random_.chance(45)) {
    std::string number = std::to_string(graphLines_++);
    graphNeeds_[number] = freeLocals(program_, value, graphNeeds_);
    graphs_.push_back({NodeKind::Graph, number, type});
    block.items.push_back({ItemKind::Graph, {number, type}});
  } else {
    locals_.push_back({NodeKind::Local, freshName("x"), type});
    block.items.push_back({ItemKind::Let, {locals_.back().name, type, isAnnotated}});
  }
  block.parts.push_back(value);
}

/// Binds a call of an operator that is chosen evenly among all rows, more often among those that
/// are called nowhere else. Calls whose result only data decides are bound and not used.
void Generator::addOperatorItem(Node& block, int depth) {
  if (favoured_ && callsFavoured(block, depth))
    return;
  const SamplePool& pool = universe_.samples;
  const auto& samples =
      random_.chance(10) ? pool.byRow[random_.pick(pool.dynamicRows)] : random_.pick(pool.byRow);
  if (samples.empty())
    return;
  for (size_t tries = 0; tries < 4; ++tries) {
    const OperatorSample& sample = *random_.pick(samples);
    if (!isWanted(sample))
      continue;
    NodeId value = operatorCall(sample, depth);
    return bindLet(block, value, sample.isDynamic ? nullptr : sample.output,
                   !sample.isDynamic && random_.chance(25));
  }
}

/// Whether a call of the favoured row fits, which is bound then.
bool Generator::callsFavoured(Node& block, int depth) {
  constexpr size_t tries = 16;
  constexpr int faulting = 25;
  const auto& samples = universe_.samples.byRow[*favoured_];
  for (size_t i = 0; i < tries && !samples.empty(); ++i) {
    const OperatorSample& sample = *random_.pick(samples);
    if (!isWanted(sample, faulting))
      continue;
    favoured_.reset();
    bindLet(block, operatorCall(sample, depth), sample.isDynamic ? nullptr : sample.output, false);
    return true;
  }
  return false;
}

/// `let %f = op;` and a call of it with attributes left at their defaults.
void Generator::addOperatorValue(Node& block, int depth) {
  const auto& samples = random_.pick(universe_.samples.byRow);
  auto isRequired = [](const AttributeRow& row) { return row.defaultText.empty(); };
  for (const OperatorSample* sample : samples) {
    auto defaults = stdlib::operatorTable().defaults(sample->row);
    if (sample->isDynamic || !sample->bounds.empty() || !isWanted(*sample) ||
        std::ranges::any_of(sample->row->attributes, isRequired) ||
        !std::ranges::equal(sample->attributes.values, defaults))
      continue;
    NodeId value = program_.add({NodeKind::OperatorValue, nullptr, std::string(sample->row->name)});
    std::string name = freshName("op");
    block.items.push_back({ItemKind::Let, {name, nullptr}});
    block.parts.push_back(value);
    Node call{NodeKind::Call, sample->output, {}, {program_.add({NodeKind::Local, nullptr, name})}};
    for (const Type* operand : sample->operands)
      call.parts.push_back(expr(operand, depth, false));
    return bindLet(block, program_.add(std::move(call)), sample->output, random_.chance(25));
  }
}

/// `let %f = fn [C](%x: C, ...) { ... };` to be used at several types.
void Generator::addGenericClosure(Node& block, int depth) {
  if (isInGenericClosure_)
    return;
  const TypeParameter* own = &universe_.generics[2];
  generics_.push_back(own);
  isInGenericClosure_ = true;
  std::vector<const Type*> parts{types_.variable(own)};
  for (int64_t i = random_.integer(0, 2); i > 0; --i)
    parts.push_back(randomType(1));
  const Type* result = randomType(2);
  Node node{NodeKind::Function, types_.function(parts, result, std::span(&own, 1))};
  node.generics = {own};
  size_t mark = locals_.size(), graphMark = graphs_.size();
  for (const Type* part : parts) {
    node.parameters.push_back({freshName("p"), part, true});
    locals_.push_back({NodeKind::Local, node.parameters.back().name, part});
  }
  node.isResultAnnotated = random_.chance(70);
  bool mayAdd = std::exchange(mayAddParameters_, false);
  node.parts = {this->block(result, depth, node.isResultAnnotated)};
  mayAddParameters_ = mayAdd;
  locals_.resize(mark);
  // Lines that mention the type parameter would carry it out of its function.
  graphs_.resize(graphMark);
  generics_.pop_back();
  isInGenericClosure_ = false;
  const Type* type = node.type;
  NodeId function = program_.add(std::move(node));
  bindLet(block, function, type, false);
}

/// `let %f = fn (%n: int32) { if (%n <= 0) { ... } else { let %r = %f(%n - 1); ... } };`, which is
/// called or not.
void Generator::addLocalRecursion(Node& block, int depth) {
  const Type *number = scalar(runtime::Int32), *result = randomType(1);
  std::string name = freshName("l");
  Binder count{freshName("n"), number, true};
  auto call = [&](NodeId argument) {
    NodeId callee = program_.add({NodeKind::Local, nullptr, name});
    return program_.add({NodeKind::Call, result, {}, {callee, argument}});
  };
  size_t mark = locals_.size(), graphMark = graphs_.size();
  locals_.push_back({NodeKind::Local, count.name, number});
  NodeId condition = onNumber("<=", count.name, "0", scalar(runtime::Bool));
  NodeId base = this->block(result, depth, true);
  Node step{NodeKind::Block, result};
  NodeId inner = call(onNumber("-", count.name, "1", number));
  bindLet(step, inner, result, random_.chance(25));
  step.parts.push_back(expr(result, depth, true));
  NodeId otherwise = program_.add(std::move(step));
  NodeId body = program_.add({NodeKind::If, result, {}, {condition, base, otherwise}});
  Node function{NodeKind::Function, types_.function(std::span(&number, 1), result), {}, {body}};
  function.parameters = {count};
  function.isResultAnnotated = true;
  locals_.resize(mark);
  // Lines that mention the function would need it to be in scope.
  graphs_.resize(graphMark);
  const Type* type = function.type;
  block.items.push_back({ItemKind::Let, {name, type}});
  block.parts.push_back(program_.add(std::move(function)));
  if (random_.chance(60)) {
    NodeId times = program_.add({NodeKind::Literal, number, std::to_string(random_.integer(0, 3))});
    bindLet(block, call(times), result, random_.chance(25));
  }
}

void Generator::addCall(Node& block, int depth) {
  const auto& list = callables_.empty() || random_.chance(20) ? universe_.prelude : callables_;
  const Callable& callable = random_.pick(list);
  Bindings bindings;
  std::optional<NodeId> first;
  // What is a call of a record where it has a name.
  if (!callable.parameters.empty() && isFunctionOf(callable.name, callable.parameters[0])) {
    bindTheRest(callable, bindings);
    const Type* record = substitute(types_, callable.parameters[0], bindings);
    Variable variable{NodeKind::Local, freshName("x"), record};
    NodeId value = expr(record, depth, true);
    block.items.push_back({ItemKind::Let, {variable.name, record, true}});
    block.parts.push_back(value);
    locals_.push_back(variable);
    first = use(variable);
  }
  NodeId made = call(callable, bindings, depth, first);
  bindLet(block, made, program_.node(made).type, random_.chance(25));
}

/// A tensor, a reference to it, and a let that forgets the sizes of what the reference holds. They
/// are not used, since what they are used for would know less as well.
void Generator::addWeakenedCell(Node& block) {
  const Type* content = randomTensor();
  std::optional<NodeId> value;
  if (!content->shape.empty() && !hasOpenDims(content))
    value = creation(content);
  if (!value)
    return;
  const Type* reference = types_.reference(content);
  auto bind = [&](NodeId bound, Binder binder) {
    block.items.push_back({ItemKind::Let, binder});
    block.parts.push_back(bound);
    return program_.add({NodeKind::Local, binder.type, binder.name});
  };
  NodeId tensor = bind(*value, {freshName("x"), content, true});
  NodeId made = program_.add({NodeKind::RefNew, reference, {}, {tensor}});
  NodeId cell = bind(made, {freshName("c"), reference, true});
  bind(cell, {freshName("w"), reference, true, true});
}

/// A new reference cell, or a write to one that is there.
void Generator::addWrite(Node& block, int depth) {
  auto cells = visible([](const Variable& variable) {
    return variable.type && variable.type->kind == TypeKind::Reference;
  });
  if (cells.empty() || random_.chance(30)) {
    const Type* type = types_.reference(randomType(1));
    return bindLet(block, make(type, depth, false), type, random_.chance(20));
  }
  Variable cell = *random_.pick(cells);
  NodeId value = expr(cell.type->parts[0], depth, true);
  NodeId write = program_.add({NodeKind::RefWrite, types_.tuple({}), {}, {use(cell), value}});
  block.items.push_back({ItemKind::Sequence, {}});
  block.parts.push_back(write);
}

} // namespace harness
