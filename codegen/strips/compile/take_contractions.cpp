// What is looked for stands in a body as loops are built: an accumulator is allocated, made 0,
// joined to in loops of its own, and read behind them.
#include "codegen/strips/compile/contraction.h"
#include "codegen/strips/compile/factors.h"
#include "lower/elements/products.h"
#include "lower/loops/build_values.h"
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <algorithm>

namespace strips {

namespace {

using loops::Loop;
using loops::Node;
using loops::Operation;
using loops::OperationKind;
using loops::Statement;

/// A node and the body that it stands in.
struct Step {
  std::vector<Node>* body;
  size_t at;
  Node& node() const { return (*body)[at]; }
  const Loop* loop() const { return std::get_if<Loop>(&node().what); }
};

/// An accumulator by the place of its allocation, and the nodes around it, outermost first.
struct Found {
  std::vector<Step> around;
  std::vector<Node>* body;
  size_t at;
  uint32_t accumulator;
  const Statement* joiner;
  std::vector<const Loop*> summed;
  /// How many of the loops around, from the innermost on, it is made for at once.
  size_t depth = 0;
};

bool isZero(const Statement& statement, uint32_t buffer) {
  if (statement.combiner || statement.stores[0].buffer != buffer)
    return false;
  const Operation& value = statement.operations[statement.stores[0].value];
  return value.kind == OperationKind::Number && value.real == 0 && value.integer == 0;
}

class ContractionFinder {
public:
  explicit ContractionFinder(Nest& nest) : nest_(nest) {}

  /// Calls `take` with each until one is taken.
  template <typename Take>
  bool find(std::vector<Node>& body, std::vector<Step> around, Take&& take) {
    for (size_t i = 0; i < body.size(); ++i) {
      if (auto found = at(body, i, around); found && take(*found))
        return true;
      around.push_back({&body, i});
      if (find(body[i].body, around, take))
        return true;
      around.pop_back();
    }
    return false;
  }

private:
  std::optional<Found> at(std::vector<Node>& body, size_t i, const std::vector<Step>& around) {
    const auto* allocation = std::get_if<loops::Allocation>(&body[i].what);
    if (!allocation || i + 2 >= body.size() || !nest_.buffers[allocation->buffer].extents.empty())
      return std::nullopt;
    const auto* maker = std::get_if<Statement>(&body[i + 1].what);
    if (!maker || !isZero(*maker, allocation->buffer))
      return std::nullopt;
    Found found{around, &body, i, allocation->buffer, nullptr, {}};
    const Node* next = &body[i + 2];
    while (std::holds_alternative<Loop>(next->what) && next->body.size() == 1) {
      found.summed.push_back(&std::get<Loop>(next->what));
      next = &next->body[0];
    }
    found.joiner = std::get_if<Statement>(&next->what);
    bool isSum = found.joiner && found.joiner->combiner == tensor::Combiner::Sum &&
                 found.joiner->stores[0].buffer == found.accumulator && !found.summed.empty() &&
                 !loops::mayFail(found.joiner->operations) && productOf(*found.joiner) != none;
    bool isOrdered = nest_.numbers == loops::Numbers::Reference &&
                     nest_.buffers[found.accumulator].dtype.isFloat();
    return isSum && !isOrdered && countStores(body, found.accumulator) == 2 && isWorthWhile(found)
               ? std::optional(std::move(found))
               : std::nullopt;
  }

  static size_t countStores(const std::vector<Node>& body, uint32_t buffer) {
    size_t count = 0;
    loops::forEachNode(body, [&](const Node& node) {
      if (const auto* statement = std::get_if<Statement>(&node.what))
        for (const loops::Store& store : statement->stores)
          count += store.buffer == buffer;
    });
    return count;
  }

  /// Finds how far out it can be made, until there are rows and columns; beyond that only through
  /// loops that hold nothing else.
  bool isWorthWhile(Found& found) {
    std::set<uint32_t> read;
    for (const Operation& operation : found.joiner->operations)
      if (operation.kind == OperationKind::Load)
        read.insert(operation.buffer);
    FactorAxes axes(nest_, *found.joiner);
    std::vector<const Loop*> taken;
    Counts counts;
    for (size_t i = found.around.size(); i-- > 0;) {
      const Loop* loop = found.around[i].loop();
      bool isEnough = counts.rows > 0 && counts.columns > 0;
      if (!loop || (isEnough && found.around[i].node().body.size() > 1) ||
          !isFree(*loop, found.around[i].node(), taken, found, read))
        break;
      taken.push_back(loop);
      bool left = axes.left.contains(loop->variable), right = axes.right.contains(loop->variable);
      if (left != right) {
        (left ? counts.rows : counts.columns) += 1;
        (left ? counts.rowCount : counts.columnCount) *= countOf(loop->end);
        counts.hasRow |= isReadInRow(*found.joiner, loop->variable);
      }
      ++found.depth;
    }
    double depth = 1;
    for (const Loop* loop : found.summed)
      depth *= countOf(loop->end);
    bool isLarge = counts.rowCount * counts.columnCount * depth >= 1024;
    double few = std::min(counts.rowCount, counts.columnCount),
           many = std::max(counts.rowCount, counts.columnCount);
    // A vector times rows along the sum is as fast by strips, and so are short sums.
    bool isVector = few < 2 && many >= 16 && counts.hasRow && depth >= double(lower::blockDepth);
    return depth >= 2 && isLarge && (few >= 2 || isVector);
  }

  struct Counts {
    size_t rows = 0, columns = 0;
    double rowCount = 1, columnCount = 1;
    /// Whether a factor lies in a row along one of them.
    bool hasRow = false;
  };

  bool isReadInRow(const Statement& joiner, Name variable) {
    return std::ranges::any_of(joiner.operations, [&](const Operation& operation) {
      if (operation.kind != OperationKind::Load)
        return false;
      auto slope = sizes::slopeOf(nest_.table, flatPlace(nest_, operation), variable);
      return slope && nest_.table.constantOf(*slope) == 1;
    });
  }

  double countOf(Form form) const { return double(nest_.table.constantOf(form).value_or(1000)); }

  /// Whether all iterations of a loop may be done in front of it.
  bool isFree(const Loop& loop, const Node& node, std::span<const Loop* const> inner,
              const Found& found, const std::set<uint32_t>& read) const {
    auto mentions = [&](const Loop* other) {
      return nest_.table.mentions(other->end, loop.variable);
    };
    if (std::ranges::any_of(inner, mentions) || std::ranges::any_of(found.summed, mentions))
      return false;
    bool isFree = true;
    loops::forEachNode(node.body, [&](const Node& each) {
      if (const auto* statement = std::get_if<Statement>(&each.what))
        for (const loops::Store& store : statement->stores)
          isFree &= !read.contains(store.buffer);
    });
    return isFree;
  }

  Nest& nest_;
};

/// Whether so few products are added up that float32 does well.
bool isShortSum(const Nest& nest, const Statement& statement) {
  if (productOf(statement) == none)
    return false;
  int64_t count = 1;
  for (const loops::Reduced& axis : statement.reduced) {
    auto extent = nest.table.constantOf(axis.extent);
    if (!extent || *extent > int64_t(lower::blockDepth))
      return false;
    count *= *extent;
  }
  return count <= int64_t(lower::blockDepth);
}

/// Makes accumulators as wide as what is added up where nothing needs more.
void narrowAll(Nest& nest) {
  std::vector<std::string> names;
  loops::forEachNode(std::as_const(nest).body, [&](const Node& node) {
    const auto* statement = std::get_if<Statement>(&node.what);
    if (!statement || statement->combiner != tensor::Combiner::Sum)
      return;
    const loops::Buffer& total = nest.buffers[statement->stores[0].buffer];
    bool isScratch = total.space == loops::Space::Scratch;
    if (isScratch && (total.dtype == runtime::Int64 || isShortSum(nest, *statement)))
      names.push_back(total.name);
  });
  ContractionFinder(nest).find(nest.body, {}, [&](const Found& found) {
    names.push_back(nest.buffers[found.accumulator].name);
    return false;
  });
  for (const std::string& name : names)
    if (auto narrowed = loops::applied(nest, {"narrow", {name}}))
      nest = *std::move(narrowed);
}

class Taker {
public:
  Taker(Nest& nest, Found& found) : nest_(nest), found_(found) {}

  /// Gives the buffer that the sums are made in.
  uint32_t take() {
    size_t first = found_.around.size() - found_.depth;
    std::vector<Form> position, extents;
    for (size_t i = first; i < found_.around.size(); ++i) {
      position.push_back(loops::variableForm(nest_, found_.around[i].loop()->variable));
      extents.push_back(found_.around[i].loop()->end);
    }
    std::vector<Node> sum{std::move((*found_.body)[found_.at + 2])};
    std::vector<Node>& body = *found_.body;
    body.erase(body.begin() + ptrdiff_t(found_.at), body.begin() + ptrdiff_t(found_.at) + 3);
    Step anchor = found_.around[first];
    bool isWhole = isPlainResult(first);
    loops::Store target{found_.accumulator, position, 0};
    if (isWhole)
      target = std::get<Statement>(body[0].what).stores[0];
    storeAt(sum, target);
    for (size_t i = found_.around.size(); i-- > first;) {
      Loop loop = *found_.around[i].loop();
      loop.kind = loops::RunKind::Serial;
      std::vector<Node> inner = std::move(sum);
      sum.clear();
      sum.push_back({loop, std::move(inner)});
    }
    sum = loops::copyOf(nest_, sum);
    if (isWhole) {
      anchor.node() = std::move(sum[0]);
      return target.buffer;
    }
    nest_.buffers[found_.accumulator].extents = extents;
    loops::forEachAccess(
        body, found_.accumulator, [](std::vector<Form>&) {},
        [&](Operation& load) {
          load.places.clear();
          for (Form form : position)
            load.places.push_back({form});
        });
    std::vector<Node> before;
    before.push_back({loops::Allocation{found_.accumulator}});
    before.push_back(std::move(sum[0]));
    anchor.body->insert(anchor.body->begin() + ptrdiff_t(anchor.at),
                        std::make_move_iterator(before.begin()),
                        std::make_move_iterator(before.end()));
    return found_.accumulator;
  }

private:
  static void storeAt(std::vector<Node>& sum, const loops::Store& target) {
    Node* next = &sum[0];
    while (std::holds_alternative<Loop>(next->what))
      next = &next->body[0];
    loops::Store& store = std::get<Statement>(next->what).stores[0];
    store.buffer = target.buffer;
    store.position = target.position;
  }

  /// Whether what is left of the loops stores the sum as it is, evenly.
  bool isPlainResult(size_t first) {
    for (size_t i = first; i < found_.around.size(); ++i)
      if (found_.around[i].node().body.size() != 1)
        return false;
    const auto* statement = std::get_if<Statement>(&(*found_.body)[0].what);
    if (!statement || statement->combiner || statement->operations.size() != 1 ||
        statement->operations[0].kind != OperationKind::Load ||
        statement->operations[0].buffer != found_.accumulator)
      return false;
    Form flat = flatPlace(nest_, statement->stores[0]);
    for (size_t i = first; i < found_.around.size(); ++i) {
      auto stride = sizes::slopeOf(nest_.table, flat, found_.around[i].loop()->variable);
      if (!stride || !nest_.table.constantOf(*stride))
        for (size_t k = first; k < found_.around.size(); ++k)
          if (!stride || nest_.table.mentions(*stride, found_.around[k].loop()->variable))
            return false;
    }
    return true;
  }

  Nest& nest_;
  Found& found_;
};

} // namespace

std::set<uint32_t> takeContractions(Nest& nest) {
  narrowAll(nest);
  std::set<uint32_t> taken;
  while (ContractionFinder(nest).find(nest.body, {}, [&](Found& found) {
    // Of floats that are added up wider than they are multiplied, the sum is rounded by its
    // readers.
    taken.insert(Taker(nest, found).take());
    return true;
  })) {
  }
  return taken;
}

std::optional<ContractionNest> contractionOf(const Node& node, const std::set<uint32_t>& taken) {
  ContractionNest found;
  const Node* next = &node;
  while (const auto* loop = std::get_if<Loop>(&next->what)) {
    if (next->body.size() != 1)
      return std::nullopt;
    found.loops.push_back(*loop);
    next = &next->body[0];
  }
  found.statement = std::get_if<Statement>(&next->what);
  bool isTaken = found.statement && found.statement->combiner &&
                 taken.contains(found.statement->stores[0].buffer);
  return isTaken ? std::optional(std::move(found)) : std::nullopt;
}

} // namespace strips
