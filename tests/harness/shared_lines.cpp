// Lines are placed from the last to the first: what uses a line inside of another one's value uses
// it where that is bound. A place is the way to it from the body of the definition.
#include "tests/harness/shared_lines.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace harness {

namespace {

constexpr size_t wholeValue = SIZE_MAX;

/// Into a part of an expression; or, as the whole value, into that of a line that is bound here.
struct Step {
  NodeId node;
  size_t part;
  bool operator==(const Step&) const = default;
};

using Path = std::vector<Step>;

struct Line {
  std::string number;
  NodeId value;
  Step item;
};

class Placing {
public:
  Placing(const Program& program, NodeId root) : program_(program), root_(root) {
    for (const Definition& definition : program.definitions)
      visit(definition.function);
  }

  SharedLines run() {
    for (size_t i = lines_.size(); i-- > 0;)
      place(lines_[i]);
    return std::move(placed_);
  }

  std::vector<Line> lines() { return std::move(lines_); }

private:
  /// Notes lines in the order in which their values end.
  void visit(NodeId id) {
    const Node& node = program_.node(id);
    if (node.kind == NodeKind::Graph)
      uses_[node.text].push_back(id);
    for (size_t i = 0; i < node.parts.size(); ++i) {
      parents_[node.parts[i]] = {id, i};
      visit(node.parts[i]);
      if (i < node.items.size() && node.items[i].kind == ItemKind::Graph) {
        lines_.push_back({node.items[i].binder.name, node.parts[i], {id, i}});
        lineOf_[node.parts[i]] = lines_.back().number;
      }
    }
  }

  /// The way to an expression, through the lines that are bound on it; nothing to what is no part
  /// of the definition.
  std::optional<Path> wayTo(NodeId id) const {
    Path way;
    while (id != root_) {
      if (auto line = lineOf_.find(id); line != lineOf_.end()) {
        auto bound = ways_.find(line->second);
        if (bound == ways_.end())
          return std::nullopt;
        way.push_back({id, wholeValue});
        way.insert(way.end(), bound->second.rbegin(), bound->second.rend());
        break;
      }
      auto parent = parents_.find(id);
      if (parent == parents_.end())
        return std::nullopt;
      way.push_back(parent->second);
      id = parent->second.node;
    }
    std::ranges::reverse(way);
    return way;
  }

  void place(const Line& line) {
    std::vector<Path> ways;
    if (auto block = wayTo(line.item.node)) {
      block->push_back(line.item);
      ways.push_back(std::move(*block));
    }
    size_t items = ways.size();
    for (NodeId use : uses_[line.number])
      if (auto way = wayTo(use))
        ways.push_back(std::move(*way));
    // What nothing uses may need names that are not in scope where the line around it is bound.
    bool isLost = ways.size() == items && items > 0 &&
                  std::ranges::count(ways[0], wholeValue, &Step::part) > 0;
    if (!ways.empty() && !isLost)
      placeAround(line, ways);
  }

  void placeAround(const Line& line, const std::vector<Path>& ways) {
    size_t common = 0;
    auto agrees = [&](auto same) {
      return std::ranges::all_of(ways, [&](const Path& way) {
        return common < way.size() && common < ways[0].size() && same(way[common], ways[0][common]);
      });
    };
    while (agrees(std::equal_to<Step>()))
      ++common;
    Path way(ways[0].begin(), ways[0].begin() + ptrdiff_t(common));
    bool isInOne = agrees([](const Step& a, const Step& b) { return a.node == b.node; });
    if (isInOne && ways[0][common].part != wholeValue &&
        program_.node(ways[0][common].node).kind == NodeKind::Block) {
      size_t first = ways[0][common].part;
      for (const Path& each : ways)
        first = std::min(first, each[common].part);
      way.push_back({ways[0][common].node, first});
    }
    NodeId node = root_;
    size_t item = 0;
    if (!way.empty()) {
      const Step& last = way.back();
      bool isItem = program_.node(last.node).kind == NodeKind::Block && last.part != wholeValue;
      node = isItem ? last.node : childOf(last);
      item = isItem ? last.part : 0;
    }
    auto& numbers = placed_[node][item];
    numbers.insert(numbers.begin(), line.number);
    ways_[line.number] = std::move(way);
  }

  NodeId childOf(const Step& step) const {
    return step.part == wholeValue ? step.node : program_.node(step.node).parts[step.part];
  }

  const Program& program_;
  NodeId root_;
  std::vector<Line> lines_;
  std::map<NodeId, Step> parents_;
  std::map<NodeId, std::string> lineOf_;
  std::map<std::string, std::vector<NodeId>> uses_;
  std::map<std::string, Path> ways_;
  SharedLines placed_;
};

} // namespace

std::map<std::string, NodeId> lineValues(const Program& program) {
  std::map<std::string, NodeId> values;
  for (const Line& line : Placing(program, 0).lines())
    values[line.number] = line.value;
  return values;
}

SharedLines placeLines(const Program& program, const Definition& definition) {
  return Placing(program, program.functionOf(definition).parts[0]).run();
}

} // namespace harness
