// Scratch that holds what its readers make of its elements: whole numbers that were converted and
// moved up or down, in a type that holds them all. Readers then only convert.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <algorithm>
#include <fmt/format.h>

namespace loops::rewrites {

namespace {

/// What is done to a value: a conversion, or a number that is added or taken off.
struct Link {
  OperationKind kind;
  DType dtype;
  ScalarFunction function = ScalarFunction::Add;
  int64_t number = 0;
  friend bool operator==(const Link&, const Link&) = default;
};

struct Values {
  int64_t least, most;

  bool isIn(const Values& other) const { return least >= other.least && most <= other.most; }
};

/// The numbers of a type, if these are whole ones of 32 bits at most.
std::optional<Values> valuesOf(DType dtype) {
  if (!dtype.isInteger() || dtype.bits > 32 || dtype.lanes != 1)
    return std::nullopt;
  int64_t count = int64_t(1) << dtype.bits;
  return dtype.isSigned() ? Values{-count / 2, count / 2 - 1} : Values{0, count - 1};
}

/// What operation uses a value, if it is the only one.
std::optional<uint32_t> onlyUser(const Statement& statement, uint32_t value) {
  std::optional<uint32_t> user;
  size_t count = size_t(std::ranges::count(statement.stores, value, &Store::value));
  for (uint32_t i = 0; i < statement.operations.size(); ++i) {
    const Operation& operation = statement.operations[i];
    for (uint32_t operand : operation.operands)
      if (operand == value)
        user = i, ++count;
    for (const Place& place : operation.places)
      count += 2 * size_t(place.value == value);
  }
  return count == 1 ? user : std::nullopt;
}

std::optional<Link> linkOf(const Statement& statement, uint32_t user, uint32_t value) {
  const Operation& operation = statement.operations[user];
  if (operation.kind == OperationKind::Cast)
    return Link{operation.kind, operation.dtype};
  bool isMoved =
      operation.kind == OperationKind::Apply &&
      (operation.function == ScalarFunction::Add || operation.function == ScalarFunction::Subtract);
  if (!isMoved || operation.operands[0] != value)
    return std::nullopt;
  const Operation& number = statement.operations[operation.operands[1]];
  if (number.kind != OperationKind::Number || !valuesOf(number.dtype))
    return std::nullopt;
  return Link{operation.kind, operation.dtype, operation.function, number.integer};
}

std::optional<Values> valuesBehind(const Link& link, Values range) {
  if (link.kind == OperationKind::Apply) {
    int64_t by = link.function == ScalarFunction::Add ? link.number : -link.number;
    range = {range.least + by, range.most + by};
  }
  auto all = valuesOf(link.dtype);
  return all && range.isIn(*all) ? std::optional(range) : std::nullopt;
}

/// What is done to elements, and what numbers that gives.
struct Chain {
  std::vector<Link> links;
  Values range;
};

Chain chainOf(const Statement& statement, uint32_t load, uint32_t& end) {
  Chain chain{{}, *valuesOf(statement.operations[load].dtype)};
  end = load;
  while (auto user = onlyUser(statement, end)) {
    auto link = linkOf(statement, *user, end);
    auto range = link ? valuesBehind(*link, chain.range) : std::nullopt;
    if (!range)
      break;
    chain.links.push_back(*link);
    chain.range = *range;
    end = *user;
  }
  return chain;
}

/// Stores what readers would have made.
void computeFirst(Statement& statement, Store& store, const Chain& chain, DType dtype) {
  uint32_t value = store.value;
  for (const Link& link : chain.links) {
    if (link.kind == OperationKind::Cast) {
      value = addCast(statement, value, link.dtype);
      continue;
    }
    uint32_t number = addOperation(
        statement, {.kind = OperationKind::Number, .dtype = link.dtype, .integer = link.number});
    value = addOperation(statement, {.kind = OperationKind::Apply,
                                     .dtype = link.dtype,
                                     .function = link.function,
                                     .operands = {value, number}});
  }
  store.value = addCast(statement, value, dtype);
}

/// Puts a conversion of what is loaded in place of the end of a chain.
void convertOnly(Statement& statement, uint32_t load, uint32_t end, DType dtype) {
  DType result = statement.operations[end].dtype;
  statement.operations[load].dtype = dtype;
  statement.operations[end] = {.kind = OperationKind::Cast, .dtype = result, .operands = {load}};
}

} // namespace

void keep(Nest& nest, Arguments arguments) {
  uint32_t buffer = findScratch(nest, arguments[0]);
  auto dtype = runtime::parseDType(arguments[1]);
  if (!dtype || !valuesOf(*dtype) || !valuesOf(nest.buffers[buffer].dtype))
    refuse(fmt::format("`{}` and `{}` are not both of whole numbers of 32 bits at most",
                       arguments[0], arguments[1]));
  std::optional<Chain> chain;
  forEachNode(nest.body, [&](Node& node) {
    auto* statement = std::get_if<Statement>(&node.what);
    for (uint32_t i = 0; statement && i < statement->operations.size(); ++i) {
      const Operation& load = statement->operations[i];
      if (load.kind != OperationKind::Load || load.buffer != buffer)
        continue;
      uint32_t end = i;
      Chain own = chainOf(*statement, i, end);
      if (own.links.empty() || !load.operands.empty() || (chain && chain->links != own.links))
        refuse("readers make of it nothing, or something else each");
      chain = std::move(own);
      convertOnly(*statement, i, end, *dtype);
    }
  });
  if (!chain || !chain->range.isIn(*valuesOf(*dtype)))
    refuse(fmt::format("what readers make of `{}` is more than `{}` holds", arguments[0],
                       arguments[1]));
  nest.buffers[buffer].dtype = *dtype;
  forEachNode(nest.body, [&](Node& node) {
    auto* statement = std::get_if<Statement>(&node.what);
    for (size_t i = 0; statement && i < statement->stores.size(); ++i) {
      if (statement->stores[i].buffer != buffer)
        continue;
      if (statement->combiner)
        refuse(fmt::format("values are joined to `{}`", arguments[0]));
      computeFirst(*statement, statement->stores[i], *chain, *dtype);
    }
  });
}

} // namespace loops::rewrites
