// Steps are tried: what the verifier refuses is left out. Sizes that are open count as large.
#include "lower/loops/choose.h"

#include "lower/loops/choose_bands.h"
#include "lower/loops/choose_contraction.h"
#include "lower/loops/choose_flat.h"
#include "lower/loops/choose_groups.h"
#include "lower/loops/choose_panels.h"
#include "lower/loops/edit.h"
#include "lower/loops/trial.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace loops {

namespace {

std::string nameOf(const Nest& nest, const Loop& loop) {
  return nest.table.textOf(loop.variable);
}

bool hasLoopInside(const Node& node) {
  bool found = false;
  forEachNode(node.body,
              [&](const Node& each) { found |= std::holds_alternative<Loop>(each.what); });
  return found;
}

size_t nodesIn(const Node& node) {
  size_t count = 0;
  forEachNode(node.body, [&](const Node&) { ++count; });
  return count;
}

class Chooser {
public:
  Chooser(Nest nest, const MachineModel& machine) : made_{std::move(nest)}, machine_(machine) {}

  Scheduled run() {
    // As the first step would, so that names are those that are left.
    simplify(made_.nest);
    if (machine_.cutsLoops)
      readPanels(made_);
    while (liftOnce(made_.nest.body)) {
    }
    while (joinOnce(made_.nest.body)) {
    }
    keepRows();
    if (machine_.cutsLoops) {
      splitPanels(made_);
      if (machine_.choices.flattensRows != 0)
        flattenRows(made_, machine_);
      tileAll();
      keepFactors(made_, machine_);
      while (liftAnywhere(made_.nest.body)) {
      }
      if (machine_.choices.joinsBands != 0)
        joinBands(made_);
      if (machine_.threads > 1)
        makePieces();
      vectorise();
    }
    if (machine_.threads > 1)
      spread();
    return std::move(made_);
  }

private:
  /// What tiles leave over is tiled too.
  void tileAll() {
    std::set<std::string> tried;
    for (bool isNew = true; isNew;) {
      isNew = false;
      for (const Contraction& contraction : contractionsIn(made_.nest, made_.nest.body))
        if (!isNew && tried.insert(contraction.accumulator).second) {
          tileContraction(made_, contraction, machine_);
          isNew = true;
        }
    }
  }

  bool attempt(std::string_view rewrite, std::vector<std::string> arguments) {
    return addVerified(made_, rewrite, std::move(arguments));
  }

  /// Whether two nodes have nothing to do with each other.
  bool areApart(const Node& first, const Node& second) const {
    for (uint32_t i = 0; i < made_.nest.buffers.size(); ++i)
      if (made_.nest.buffers[i].space != Space::Input && uses(first, i) && uses(second, i))
        return false;
    return true;
  }

  /// Puts a loop in front of a larger one that it does not hang on, so that what does stands right
  /// behind that; false where there is none.
  bool liftOnce(const std::vector<Node>& body) {
    const Node* last = nullptr;
    for (const Node& node : body) {
      const auto* loop = std::get_if<Loop>(&node.what);
      if (loop && last && pointsOf(node) < pointsOf(*last) && areApart(*last, node) &&
          attempt("lift",
                  {nameOf(made_.nest, std::get<Loop>(last->what)), nameOf(made_.nest, *loop)}))
        return true;
      if (loop || !std::holds_alternative<Allocation>(node.what))
        last = loop ? &node : nullptr;
    }
    return false;
  }

  /// The same in some body.
  bool liftAnywhere(const std::vector<Node>& body) {
    return liftOnce(body) ||
           std::ranges::any_of(body, [&](const Node& node) { return liftAnywhere(node.body); });
  }

  /// Contractions over rows and columns keep loops of their own, so that they are tiled; only what
  /// goes through the same rows and columns behind one is computed with it.
  bool mayJoin(const Node& first, const Node& second) {
    auto depthOf = [&](const Node& node) {
      size_t depth = 0;
      for (const Contraction& contraction : contractionsIn(made_.nest, std::span(&node, 1)))
        if (contraction.isOfProducts)
          depth = std::max(depth, contraction.spatial.size());
      return depth > 1 ? depth : 0;
    };
    if (depthOf(second) > 0)
      return false;
    const Node *left = &first, *right = &second;
    for (size_t depth = depthOf(first); depth > 0; --depth) {
      const auto *one = std::get_if<Loop>(&left->what), *other = std::get_if<Loop>(&right->what);
      if (!one || !other || one->end != other->end ||
          (depth > 1 && (left->body.size() != 1 || right->body.size() != 1)))
        return false;
      if (depth > 1)
        left = &left->body[0], right = &right->body[0];
    }
    return true;
  }

  /// Two loops that were refused once are asked about again when one of them has grown.
  bool join(const Node& first, const Node& second) {
    std::vector<std::string> loops{nameOf(made_.nest, std::get<Loop>(first.what)),
                                   nameOf(made_.nest, std::get<Loop>(second.what))};
    auto asked = std::tuple(loops, nodesIn(first), nodesIn(second));
    if (refusedJoins_.contains(asked) || !mayJoin(first, second))
      return false;
    if (attempt("join", std::move(loops)))
      return true;
    refusedJoins_.insert(std::move(asked));
    return false;
  }

  /// Joins two loops that follow each other, innermost first, so that what becomes of a pair is
  /// known before the next one joins it; false where there are none.
  bool joinOnce(const std::vector<Node>& body) {
    if (std::ranges::any_of(body, [&](const Node& node) { return joinOnce(node.body); }))
      return true;
    const Node* last = nullptr;
    for (const Node& node : body) {
      const auto* loop = std::get_if<Loop>(&node.what);
      if (loop && last && join(*last, node))
        return true;
      if (loop || !std::holds_alternative<Allocation>(node.what))
        last = loop ? &node : nullptr;
    }
    return false;
  }

  /// Moves scratch inwards as far as it goes, and takes single elements as values.
  void keepRows() {
    std::vector<std::string> scratch;
    forEachNode(made_.nest.body, [&](const Node& node) {
      if (const auto* allocation = std::get_if<Allocation>(&node.what))
        scratch.push_back(made_.nest.buffers[allocation->buffer].name);
    });
    for (const std::string& buffer : scratch) {
      while (privatise(buffer)) {
      }
      if (isAllocated(buffer) &&
          made_.nest.buffers[findScratch(made_.nest, buffer)].extents.empty())
        attempt("inline", {buffer});
    }
  }

  /// Scratch that was taken as values is allocated no more.
  bool isAllocated(const std::string& buffer) const {
    bool found = false;
    forEachNode(made_.nest.body, [&](const Node& node) {
      const auto* allocation = std::get_if<Allocation>(&node.what);
      found |= allocation && made_.nest.buffers[allocation->buffer].name == buffer;
    });
    return found;
  }

  /// Moves scratch into the loop beside it that alone uses it, if one does.
  bool privatise(const std::string& buffer) {
    if (!isAllocated(buffer))
      return false;
    uint32_t number = findScratch(made_.nest, buffer);
    const Loop* user = nullptr;
    for (const Node& node : *findAllocation(made_.nest, number).body) {
      if (!uses(node, number))
        continue;
      const auto* loop = std::get_if<Loop>(&node.what);
      if (user || !loop)
        return false;
      user = loop;
    }
    return user && attempt("privatise", {buffer, nameOf(made_.nest, *user)});
  }

  // Lanes.

  /// A loop without one inside, and the accumulator that its statements join to, if they do.
  struct Innermost {
    std::string loop;
    Form end;
    std::optional<uint32_t> accumulator = {};
    int64_t bytes = 8;
  };

  std::vector<Innermost> innermost() const {
    std::vector<Innermost> found;
    forEachNode(made_.nest.body, [&](const Node& node) {
      const auto* loop = std::get_if<Loop>(&node.what);
      if (!loop || loop->kind == RunKind::Grouped || hasLoopInside(node))
        return;
      Innermost inner{nameOf(made_.nest, *loop), loop->end};
      forEachNode(node.body, [&](const Node& each) {
        if (const auto* statement = std::get_if<Statement>(&each.what)) {
          const Store& store = statement->stores[0];
          inner.bytes = int64_t(made_.nest.buffers[store.buffer].dtype.bytes());
          if (statement->combiner)
            inner.accumulator = store.buffer;
        }
      });
      found.push_back(inner);
    });
    return found;
  }

  void vectorise() {
    for (const Innermost& inner : innermost())
      if (!attempt("vector", {inner.loop}) && inner.accumulator)
        sumInLanes(inner);
    // Loops that partial sums begin in are there now.
    for (const Innermost& inner : innermost())
      if (!inner.accumulator && findLoop(made_.nest, inner.loop).loop().kind == RunKind::Serial)
        attempt("vector", {inner.loop});
  }

  /// Partial sums, as many as there are lanes; what is left behind the last whole piece is summed
  /// as it was.
  void sumInLanes(const Innermost& inner) {
    Scheduled before = made_;
    const std::string buffer = made_.nest.buffers[*inner.accumulator].name;
    // Many partial sums err less than one that is as wide.
    int64_t bytes = attempt("narrow", {buffer}) ? 4 : inner.bytes;
    int64_t lanes = std::max<int64_t>(1, machine_.vectorBytes / bytes);
    auto count = made_.nest.table.constantOf(inner.end);
    if (lanes == 1 || (count && *count < 2 * lanes)) {
      made_ = std::move(before);
      return;
    }
    // A sum in several vectors does not wait for each addition. What they leave over counts less.
    for (int64_t i = machine_.choices.sumVectors; i > 1 && (!count || *count >= 8 * lanes); i /= 2)
      lanes *= 2;
    std::string number = fmt::format("{}", lanes);
    bool isRagged = !count || *count % lanes != 0;
    std::string whole = fmt::format("(({})/{})*{}", made_.nest.table.text(inner.end), lanes, lanes);
    std::erase(whole, ' ');
    bool isDone = (!isRagged || attempt("peel", {inner.loop, whole})) &&
                  attempt("split", {inner.loop, number}) &&
                  attempt("partial", {buffer, inner.loop + "i"}) &&
                  attempt("vector", {inner.loop + "i"});
    if (!isDone)
      made_ = std::move(before);
  }

  // Threads.

  /// Makes pieces of long loops that nothing stands around, for threads to share: of rows of
  /// elements, and of what is summed up to one element, for which each piece has a sum of its own.
  void makePieces() {
    std::vector<std::string> rows;
    for (const Node& node : made_.nest.body)
      if (const auto* loop = std::get_if<Loop>(&node.what))
        if (loop->kind == RunKind::Serial && made_.nest.table.constantOf(loop->end) &&
            isWorthThreads(node))
          rows.push_back(nameOf(made_.nest, *loop));
    for (const std::string& loop : rows) {
      Scheduled before = made_;
      if (!makePieces(loop))
        made_ = std::move(before);
    }
  }

  bool makePieces(const std::string& loop) {
    constexpr int64_t mostParts = 1024, mostOfPart = 8192, lanes = 64;
    const Node& node = findLoop(made_.nest, loop).node();
    const auto sums = sumsIn(node);
    const bool isInnermost = !hasLoopInside(node);
    const int64_t count = *made_.nest.table.constantOf(std::get<Loop>(node.what).end);
    std::string pieces = loop;
    if (isInnermost || (!sums.empty() && count > mostParts)) {
      // Sums have not too many pieces, and what is in lanes has not too few of them in a piece.
      int64_t most = sums.empty() ? 0 : (count + mostParts - 1) / mostParts;
      if (isInnermost)
        most = std::max(mostOfPart, (most + lanes - 1) / lanes * lanes);
      auto cut = cutInPieces(loop, count, most, isInnermost ? lanes : 1);
      if (!cut)
        return false;
      pieces = *cut;
    }
    return std::ranges::all_of(sums, [&](const std::string& sum) {
      return attempt("partial", {sum, pieces});
    });
  }

  /// The loop over pieces of so many iterations at most, half of them at least: without a rest
  /// where some number is a divisor.
  std::optional<std::string> cutInPieces(const std::string& loop, int64_t count, int64_t most,
                                         int64_t step) {
    int64_t piece = most;
    while (piece > most / 2 && count % piece != 0)
      piece -= step;
    if (count % piece != 0)
      piece = most;
    int64_t whole = count / piece * piece;
    bool isCut = (count == whole || attempt("peel", {loop, fmt::format("{}", whole)})) &&
                 attempt("split", {loop, fmt::format("{}", piece)});
    return isCut ? std::optional(loop + "o") : std::nullopt;
  }

  /// The scratch of one element outside of a loop to which it joins.
  std::vector<std::string> sumsIn(const Node& loop) const {
    std::vector<uint32_t> joined;
    std::set<uint32_t> inside;
    forEachNode(loop.body, [&](const Node& node) {
      if (const auto* allocation = std::get_if<Allocation>(&node.what))
        inside.insert(allocation->buffer);
      const auto* statement = std::get_if<Statement>(&node.what);
      if (statement && statement->combiner)
        joined.push_back(statement->stores[0].buffer);
    });
    std::vector<std::string> names;
    for (uint32_t buffer : joined)
      if (const Buffer& each = made_.nest.buffers[buffer];
          each.space == Space::Scratch && each.extents.empty() && !inside.contains(buffer))
        names.push_back(each.name);
    return names;
  }

  int64_t extentOf(Form form) const {
    return std::max<int64_t>(0, made_.nest.table.constantOf(form).value_or(openExtent));
  }

  /// About how many statements run in a node.
  double pointsOf(const Node& node) const {
    if (std::holds_alternative<Statement>(node.what))
      return 1;
    double points = 0;
    for (const Node& each : node.body)
      points += pointsOf(each);
    const auto* loop = std::get_if<Loop>(&node.what);
    return loop ? points * double(extentOf(loop->end)) : points;
  }

  bool isWorthThreads(const Node& node) const {
    return pointsOf(node) >= 2.0 * double(machine_.pointsOfThread);
  }

  void spread() {
    std::vector<std::string> worthy;
    for (const Node& node : made_.nest.body)
      if (const auto* loop = std::get_if<Loop>(&node.what))
        if (loop->kind == RunKind::Serial && isWorthThreads(node))
          worthy.push_back(nameOf(made_.nest, *loop));
    for (const std::string& loop : worthy)
      attempt("parallel", {loop});
  }

  Scheduled made_;
  const MachineModel& machine_;
  /// Pairs of loops that are not joined, with how many nodes they had.
  std::set<std::tuple<std::vector<std::string>, size_t, size_t>> refusedJoins_;
};

} // namespace

Scheduled scheduled(Nest nest, const MachineModel& machine) {
  return Chooser(std::move(nest), machine).run();
}

} // namespace loops
