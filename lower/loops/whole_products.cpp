// What is read of a sum hangs on the loops as they stand when nobody has tiled them.
#include "lower/loops/whole_products.h"

#include <algorithm>
#include <fmt/format.h>

namespace loops {

namespace {

/// The nodes around the place where scratch is allocated, outermost first, and that place.
bool findPath(std::vector<Node>& body, uint32_t buffer, std::vector<Stand>& path) {
  for (size_t i = 0; i < body.size(); ++i) {
    const auto* allocation = std::get_if<Allocation>(&body[i].what);
    path.push_back({&body, i});
    if ((allocation && allocation->buffer == buffer) || findPath(body[i].body, buffer, path))
      return true;
    path.pop_back();
  }
  return false;
}

Statement& statementIn(Node& node, std::string_view name) {
  auto* statement = std::get_if<Statement>(&node.what);
  if (!statement || statement->stores.size() != 1)
    refuse(fmt::format("`{}` is not made by one statement, and joined in loops behind it", name));
  return *statement;
}

bool isFactorType(DType dtype) {
  return dtype == runtime::Int8 || dtype == runtime::UInt8 || dtype == runtime::Int16;
}

bool isSameForAll(const Nest& nest, const Operation& operation) {
  return operation.kind == OperationKind::Number ||
         (operation.kind == OperationKind::Load && operation.places.empty() &&
          nest.buffers[operation.buffer].space == Space::Input);
}

std::optional<Factor> factorOf(const Nest& nest, const Statement& statement, uint32_t value) {
  const Operation* operation = &statement.operations[value];
  Factor found{0, value};
  if (operation->kind == OperationKind::Apply && operation->dtype == runtime::Int32 &&
      operation->function == ScalarFunction::Subtract) {
    found = {0, operation->operands[0], operation->operands[1]};
    if (!isSameForAll(nest, statement.operations[*found.less]))
      return std::nullopt;
    operation = &statement.operations[found.cast];
  }
  if (operation->kind != OperationKind::Cast || operation->dtype != runtime::Int32)
    return std::nullopt;
  found.load = operation->operands[0];
  const Operation& load = statement.operations[found.load];
  bool isGood = load.kind == OperationKind::Load && isFactorType(load.dtype) &&
                std::ranges::all_of(load.places, [](const Place& place) {
                  return place.value == none && !place.isChecked;
                });
  return isGood ? std::optional(found) : std::nullopt;
}

/// A loop with a variable of its own.
Node loopAround(Nest& nest, const Loop& loop, std::vector<Node> body) {
  Name own = freshVariable(nest, nest.table.textOf(loop.variable));
  replaceNames(nest, body, {{loop.variable, variableForm(nest, own)}});
  return {Loop{own, loop.end}, std::move(body)};
}

Node loopsAround(Nest& nest, std::span<const Loop> loops, std::vector<Node> body) {
  for (size_t i = loops.size(); i-- > 0;) {
    std::vector<Node> outer;
    outer.push_back(loopAround(nest, loops[i], std::move(body)));
    body = std::move(outer);
  }
  return std::move(body[0]);
}

} // namespace

Products productsOf(Nest& nest, uint32_t accumulator) {
  const Buffer& buffer = nest.buffers[accumulator];
  if (buffer.dtype != runtime::Int32 || !buffer.extents.empty())
    refuse(fmt::format("`{}` is no sum of 32 bits", buffer.name));
  std::vector<Stand> path;
  findPath(nest.body, accumulator, path);
  Stand place = path.back();
  path.pop_back();
  Products found{place, {}, {}, nullptr, nullptr};
  for (; !path.empty(); path.pop_back()) {
    const auto* loop = std::get_if<Loop>(&path.back().node().what);
    if (!loop || (!found.spatial.empty() && path.back().node().body.size() != 1))
      break;
    found.spatial.insert(found.spatial.begin(), *loop);
    found.outermost = path.back();
  }
  if (place.at + 2 >= place.body->size())
    refuse(fmt::format("`{}` is not made and joined where it is allocated", buffer.name));
  found.maker = &statementIn((*place.body)[place.at + 1], buffer.name);
  Node* next = &(*place.body)[place.at + 2];
  for (; std::holds_alternative<Loop>(next->what) && next->body.size() == 1; next = &next->body[0])
    found.summed.push_back(std::get<Loop>(next->what));
  found.joiner = &statementIn(*next, buffer.name);
  if (found.spatial.empty() || found.summed.empty() || found.maker->combiner ||
      found.joiner->combiner != Combiner::Sum || found.joiner->stores[0].buffer != accumulator ||
      found.maker->stores[0].buffer != accumulator)
    refuse(fmt::format("`{}` is no sum in loops of its own", buffer.name));
  return found;
}

std::optional<std::pair<Factor, Factor>> factorsOf(const Nest& nest, const Statement& joiner) {
  const Operation& product = joiner.operations[joiner.stores[0].value];
  if (product.kind != OperationKind::Apply || product.function != ScalarFunction::Multiply ||
      product.dtype != runtime::Int32)
    return std::nullopt;
  auto first = factorOf(nest, joiner, product.operands[0]);
  auto second = factorOf(nest, joiner, product.operands[1]);
  if (!first || !second || first->load == second->load)
    return std::nullopt;
  return std::pair(*first, *second);
}

uint32_t addNumber(Statement& statement, int64_t number) {
  return addOperation(statement,
                      {.kind = OperationKind::Number, .dtype = runtime::Int32, .integer = number});
}

uint32_t addApply(Statement& statement, ScalarFunction function, uint32_t a, uint32_t b) {
  return addOperation(statement, {.kind = OperationKind::Apply,
                                  .dtype = runtime::Int32,
                                  .function = function,
                                  .operands = {a, b}});
}

uint32_t addFactorSum(Nest& nest, Products& products, const Factor& factor,
                      const std::string& name) {
  const std::vector<Place> places = products.joiner->operations[factor.load].places;
  auto isRead = [&](const Loop& loop) {
    return std::ranges::any_of(
        places, [&](const Place& place) { return nest.table.mentions(place.form, loop.variable); });
  };
  std::vector<Loop> points;
  std::vector<Form> extents, position;
  for (const Loop& loop : products.spatial)
    if (isRead(loop)) {
      points.push_back(loop);
      extents.push_back(loop.end);
      position.push_back(variableForm(nest, loop.variable));
    }
  if (points.empty() || !std::ranges::all_of(products.summed, isRead))
    refuse("a factor is the same for several products of a sum");
  uint32_t sums = freshBuffer(nest, name + "s", runtime::Int32, extents);
  uint32_t sum = freshBuffer(nest, name + "t", runtime::Int32, {});
  Statement first, join = *products.joiner, last;
  first.stores = {{sum, {}, addNumber(first, 0)}};
  join.stores = {{sum, {}, factor.cast}};
  Operation load{.kind = OperationKind::Load, .dtype = runtime::Int32, .buffer = sum};
  last.stores = {{sums, position, addOperation(last, load)}};
  std::vector<Node> joined;
  joined.push_back({std::move(join)});
  std::vector<Node> body;
  body.push_back({Allocation{sum}});
  body.push_back({std::move(first)});
  body.push_back(loopsAround(nest, products.summed, std::move(joined)));
  body.push_back({std::move(last)});
  Node made = loopsAround(nest, points, std::move(body));
  load.buffer = sums;
  for (Form each : position)
    load.places.push_back({each});
  uint32_t start = addOperation(*products.maker, std::move(load));
  // Behind this the statements are where they were: bodies of nodes move with them.
  Stand& front = products.outermost;
  front.body->insert(front.body->begin() + ptrdiff_t(front.at), std::move(made));
  front.body->insert(front.body->begin() + ptrdiff_t(front.at), Node{Allocation{sums}});
  front.at += 2;
  return start;
}

void addToStart(Statement& maker, uint32_t value) {
  uint32_t& start = maker.stores[0].value;
  const Operation& before = maker.operations[start];
  bool isZero = before.kind == OperationKind::Number && before.integer == 0;
  start = isZero ? value : addApply(maker, ScalarFunction::Add, start, value);
}

} // namespace loops
