// Elements computed where they are read. One statement makes them, each at the variables of its
// loops and at numbers, so variables give way to the places of a reader.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace loops::rewrites {

namespace {

/// The only statement that writes a buffer.
const Statement& makerOf(Nest& nest, uint32_t buffer) {
  const Statement* maker = nullptr;
  size_t count = 0;
  forEachAccess(
      nest.body, buffer, [&](std::vector<Form>&) { ++count; }, [](Operation&) {});
  forEachNode(std::as_const(nest.body), [&](const Node& node) {
    if (const auto* statement = std::get_if<Statement>(&node.what))
      if (statement->stores[0].buffer == buffer && statement->stores.size() == 1)
        maker = statement;
  });
  const std::string& name = nest.buffers[buffer].name;
  if (count != 1 || !maker || maker->combiner)
    refuse(fmt::format("`{}` is not made by one statement that joins nothing", name));
  if (std::ranges::any_of(maker->operations, [&](const Operation& operation) {
        return operation.kind == OperationKind::Load && operation.buffer == buffer;
      }))
    refuse(fmt::format("`{}` is made of itself", name));
  return *maker;
}

/// The operations of a statement with those of the maker in place of what it reads.
class Inliner {
public:
  Inliner(Nest& nest, uint32_t buffer, const Statement& maker,
          const std::vector<std::optional<Name>>& variables)
      : nest_(nest), buffer_(buffer), maker_(maker), variables_(variables) {}

  void run(Statement& statement) {
    std::vector<Operation> before = std::move(statement.operations);
    made_.clear();
    values_.clear();
    std::vector<uint32_t> places;
    for (Operation& operation : before) {
      renumber(operation, places);
      bool isRead = operation.kind == OperationKind::Load && operation.buffer == buffer_;
      if (!isRead)
        made_.push_back(std::move(operation));
      places.push_back(isRead ? computed(operation) : uint32_t(made_.size() - 1));
    }
    for (Store& store : statement.stores)
      store.value = places[store.value];
    statement.operations = std::move(made_);
  }

private:
  uint32_t computed(const Operation& load) {
    std::map<Name, Form> names;
    for (size_t i = 0; i < load.places.size(); ++i) {
      if (load.places[i].value != none || load.places[i].isChecked || !load.operands.empty())
        refuse(
            fmt::format("`{}` is read at places that may be outside", nest_.buffers[buffer_].name));
      if (variables_[i])
        names.emplace(*variables_[i], load.places[i].form);
      else if (load.places[i].form != maker_.stores[0].position[i])
        refuse(fmt::format("`{}` is read elsewhere than where it is made",
                           nest_.buffers[buffer_].name));
    }
    auto [known, isNew] = values_.try_emplace(positionOf(load));
    if (!isNew)
      return known->second;
    uint32_t first = uint32_t(made_.size());
    if (first > mostOperations)
      refuse(fmt::format("a statement that reads `{}` would have more than {} operations",
                         nest_.buffers[buffer_].name, mostOperations));
    for (Operation operation : maker_.operations) {
      for (uint32_t& operand : operation.operands)
        operand += first;
      if (operation.kind == OperationKind::Position)
        operation.position = nest_.table.replaced(operation.position, names);
      for (Place& place : operation.places)
        if (place.value != none)
          place.value += first;
        else
          place.form = nest_.table.replaced(place.form, names);
      made_.push_back(std::move(operation));
    }
    return known->second = first + maker_.stores[0].value;
  }

  static std::vector<Form> positionOf(const Operation& load) {
    std::vector<Form> position;
    for (const Place& place : load.places)
      position.push_back(place.form);
    return position;
  }

  static constexpr uint32_t mostOperations = 5000;

  Nest& nest_;
  uint32_t buffer_;
  const Statement& maker_;
  /// By dimension; none where all is made at one number.
  const std::vector<std::optional<Name>>& variables_;
  std::vector<Operation> made_;
  /// By the position at which the buffer is read.
  std::map<std::vector<Form>, uint32_t> values_;
};

/// Takes away the statements that write a buffer, its allocation, and what is empty then.
void remove(std::vector<Node>& nodes, uint32_t buffer) {
  std::vector<Node> kept;
  for (Node& node : nodes) {
    const auto* statement = std::get_if<Statement>(&node.what);
    const auto* allocation = std::get_if<Allocation>(&node.what);
    bool hadBody = !node.body.empty();
    remove(node.body, buffer);
    if ((statement && statement->stores[0].buffer == buffer) ||
        (allocation && allocation->buffer == buffer) || (hadBody && node.body.empty()))
      continue;
    kept.push_back(std::move(node));
  }
  nodes = std::move(kept);
}

} // namespace

void inlineScratch(Nest& nest, Arguments arguments) {
  uint32_t buffer = findScratch(nest, arguments[0]);
  const Statement maker = makerOf(nest, buffer);
  std::vector<std::optional<Name>> variables;
  for (Form form : maker.stores[0].position) {
    auto name = nest.table.nameOf(form);
    bool isKnown = name && std::ranges::find(variables, name) != variables.end();
    if (isKnown || (!name && !nest.table.constantOf(form)))
      refuse(fmt::format("`{}` is not made at the variables of its loops", arguments[0]));
    variables.push_back(name);
  }
  Inliner inliner(nest, buffer, maker, variables);
  remove(nest.body, buffer);
  forEachNode(nest.body, [&](Node& node) {
    if (auto* statement = std::get_if<Statement>(&node.what); statement && uses(node, buffer))
      inliner.run(*statement);
  });
}

} // namespace loops::rewrites
