// Walks recur as deep as loops are nested.
#include "lower/loops/edit.h"

#include "lower/loops/names.h"
#include "lower/loops/read_form.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace loops {

namespace {

/// Finds the first node, outermost first, for which `is` holds.
std::optional<Spot> findIn(Nest& nest, std::vector<Node>& body, const sizes::Facts& facts,
                           const std::function<bool(const Node&)>& is) {
  for (size_t i = 0; i < body.size(); ++i) {
    if (is(body[i]))
      return Spot{&body, i, facts};
    sizes::Facts inside = facts;
    enter(inside, nest.table, body[i]);
    if (auto found = findIn(nest, body[i].body, inside, is))
      return found;
  }
  return std::nullopt;
}

} // namespace

void changeForms(Statement& statement, const std::function<Form(Form)>& change) {
  for (Operation& operation : statement.operations) {
    if (operation.kind == OperationKind::Position)
      operation.position = change(operation.position);
    for (Place& place : operation.places)
      if (place.value == none)
        place.form = change(place.form);
  }
  for (Store& store : statement.stores)
    for (Form& form : store.position)
      form = change(form);
  for (Reduced& axis : statement.reduced) {
    axis.position = change(axis.position);
    axis.extent = change(axis.extent);
  }
}

void refuse(std::string problem) {
  throw Inapplicable{std::move(problem)};
}

int64_t numberAbove0(const std::string& argument) {
  int64_t number = 0;
  const char* end = argument.data() + argument.size();
  auto read = std::from_chars(argument.data(), end, number);
  constexpr int64_t most = int64_t(1) << 40;
  if (read.ec != std::errc{} || read.ptr != end || number < 1 || number > most)
    refuse(fmt::format("`{}` is no number from 1 to {}", argument, most));
  return number;
}

Spot findLoop(Nest& nest, std::string_view variable) {
  auto name = nest.table.find(variable);
  auto spot = findIn(nest, nest.body, factsOf(nest), [&](const Node& node) {
    const auto* loop = std::get_if<Loop>(&node.what);
    return loop && name && loop->variable == *name;
  });
  if (!spot)
    refuse(fmt::format("there is no loop `{}`", variable));
  return *spot;
}

Spot findAllocation(Nest& nest, uint32_t buffer) {
  auto spot = findIn(nest, nest.body, factsOf(nest), [&](const Node& node) {
    const auto* allocation = std::get_if<Allocation>(&node.what);
    return allocation && allocation->buffer == buffer;
  });
  if (!spot)
    refuse(fmt::format("`{}` is not allocated", nest.buffers[buffer].name));
  return *spot;
}

uint32_t findScratch(const Nest& nest, std::string_view name) {
  auto buffer = findBuffer(nest, name);
  if (!buffer || nest.buffers[*buffer].space != Space::Scratch)
    refuse(fmt::format("there is no scratch `{}`", name));
  return *buffer;
}

void forEachNode(std::vector<Node>& nodes, const std::function<void(Node&)>& visit) {
  for (Node& node : nodes) {
    visit(node);
    forEachNode(node.body, visit);
  }
}

void forEachNode(const std::vector<Node>& nodes, const std::function<void(const Node&)>& visit) {
  for (const Node& node : nodes) {
    visit(node);
    forEachNode(node.body, visit);
  }
}

void changeForms(Nest& nest, std::vector<Node>& nodes, const std::function<Form(Form)>& change) {
  forEachNode(nodes, [&](Node& node) {
    if (auto* loop = std::get_if<Loop>(&node.what))
      loop->end = change(loop->end);
    else if (auto* condition = std::get_if<Condition>(&node.what))
      *condition = {change(condition->left), change(condition->right)};
    else if (auto* allocation = std::get_if<Allocation>(&node.what))
      for (Form& extent : nest.buffers[allocation->buffer].extents)
        extent = change(extent);
    else
      changeForms(std::get<Statement>(node.what), change);
  });
}

void replaceNames(Nest& nest, std::vector<Node>& nodes, const std::map<Name, Form>& names) {
  changeForms(nest, nodes, [&](Form form) { return nest.table.replaced(form, names); });
}

Name freshVariable(Nest& nest, std::string base) {
  std::string name = base;
  for (size_t i = 1; nest.table.find(name) || isReserved(name); ++i)
    name = fmt::format("{}{}", base, i);
  return *nest.table.nameOf(nest.table.name(name));
}

uint32_t freshBuffer(Nest& nest, std::string base, DType dtype, std::vector<Form> extents) {
  std::string name = base;
  for (size_t i = 1; findBuffer(nest, name); ++i)
    name = fmt::format("{}{}", base, i);
  nest.buffers.push_back({name, dtype, std::move(extents), Space::Scratch});
  return uint32_t(nest.buffers.size() - 1);
}

Form flatOf(Nest& nest, std::span<const Form> extents, std::span<const Form> position) {
  Form flat = nest.table.number(0);
  for (size_t i = 0; i < position.size(); ++i)
    flat = nest.table.sum(nest.table.product(flat, extents[i]), position[i]);
  return flat;
}

std::optional<std::vector<Form>> sureForms(const Operation& load) {
  std::vector<Form> forms;
  for (const Place& place : load.places) {
    if (place.value != none || place.isChecked)
      return std::nullopt;
    forms.push_back(place.form);
  }
  return load.operands.empty() ? std::optional(std::move(forms)) : std::nullopt;
}

Form variableForm(Nest& nest, Name variable) {
  return nest.table.name(variable);
}

std::vector<Node> copyOf(Nest& nest, const std::vector<Node>& nodes) {
  std::vector<Node> copy = nodes;
  std::map<Name, Form> names;
  std::map<uint32_t, uint32_t> buffers;
  forEachNode(copy, [&](Node& node) {
    if (auto* loop = std::get_if<Loop>(&node.what)) {
      Name variable = freshVariable(nest, nest.table.textOf(loop->variable));
      names.emplace(loop->variable, variableForm(nest, variable));
      loop->variable = variable;
    } else if (auto* allocation = std::get_if<Allocation>(&node.what)) {
      const Buffer buffer = nest.buffers[allocation->buffer];
      uint32_t own = freshBuffer(nest, buffer.name, buffer.dtype, buffer.extents);
      buffers.emplace(allocation->buffer, own);
      allocation->buffer = own;
    }
  });
  auto renamed = [&](uint32_t& buffer) {
    if (auto found = buffers.find(buffer); found != buffers.end())
      buffer = found->second;
  };
  forEachNode(copy, [&](Node& node) {
    if (auto* statement = std::get_if<Statement>(&node.what)) {
      for (Operation& operation : statement->operations)
        renamed(operation.buffer);
      for (Store& store : statement->stores)
        renamed(store.buffer);
    }
  });
  replaceNames(nest, copy, names);
  return copy;
}

uint32_t addOperation(Statement& statement, Operation operation) {
  statement.operations.push_back(std::move(operation));
  return uint32_t(statement.operations.size() - 1);
}

uint32_t addCast(Statement& statement, uint32_t value, DType dtype) {
  return addOperation(statement,
                      {.kind = OperationKind::Cast, .dtype = dtype, .operands = {value}});
}

void renumber(Operation& operation, std::span<const uint32_t> places) {
  for (uint32_t& operand : operation.operands)
    operand = places[operand];
  for (Place& place : operation.places)
    if (place.value != none)
      place.value = places[place.value];
}

bool uses(const Node& node, uint32_t buffer) {
  bool found = false;
  auto look = [&](const Node& each) {
    if (const auto* statement = std::get_if<Statement>(&each.what)) {
      found |=
          std::ranges::find(statement->stores, buffer, &Store::buffer) != statement->stores.end();
      found |= std::ranges::any_of(statement->operations, [&](const Operation& operation) {
        return operation.kind == OperationKind::Load && operation.buffer == buffer;
      });
    }
  };
  look(node);
  forEachNode(node.body, look);
  return found;
}

void forEachAccess(std::vector<Node>& nodes, uint32_t buffer,
                   const std::function<void(std::vector<Form>&)>& store,
                   const std::function<void(Operation&)>& load) {
  forEachNode(nodes, [&](Node& node) {
    if (auto* statement = std::get_if<Statement>(&node.what)) {
      for (Store& each : statement->stores)
        if (each.buffer == buffer)
          store(each.position);
      for (Operation& operation : statement->operations)
        if (operation.kind == OperationKind::Load && operation.buffer == buffer)
          load(operation);
    }
  });
}

} // namespace loops
