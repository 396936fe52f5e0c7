// Names of new loops are found by comparing what there was before a step and after it.
#include "lower/loops/trial.h"

#include "lower/loops/edit.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace loops {

namespace {

std::vector<std::string> loopNames(const Nest& nest) {
  std::vector<std::string> names;
  forEachNode(nest.body, [&](const Node& node) {
    if (const auto* loop = std::get_if<Loop>(&node.what))
      names.push_back(nest.table.textOf(loop->variable));
  });
  return names;
}

} // namespace

bool addVerified(Scheduled& made, std::string_view rewrite, std::vector<std::string> arguments) {
  Step step{std::string(rewrite), std::move(arguments)};
  auto next = rewritten(made.nest, step);
  if (!next)
    return false;
  made.nest = *std::move(next);
  made.steps.push_back(std::move(step));
  return true;
}

bool Trial::attempt(std::string_view rewrite, std::vector<std::string> arguments) {
  Step step{std::string(rewrite), std::move(arguments)};
  std::vector<std::string> before = loopNames(made_.nest);
  std::set<std::string> known(before.begin(), before.end());
  auto next = applied(made_.nest, step);
  if (!next)
    return false;
  made_.nest = *std::move(next);
  made_.steps.push_back(std::move(step));
  fresh_.clear();
  for (const std::string& name : loopNames(made_.nest))
    if (!known.contains(name))
      fresh_.push_back(name);
  return true;
}

std::optional<int64_t> Trial::countOf(const std::string& loop) {
  return made_.nest.table.constantOf(findLoop(made_.nest, loop).loop().end);
}

bool Trial::ordered(std::vector<std::string>& loops, const std::vector<std::string>& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i)
    for (size_t at = size_t(std::ranges::find(loops, wanted[i]) - loops.begin()); at > i; --at) {
      if (!attempt("reorder", {loops[at - 1], loops[at]}))
        return false;
      std::swap(loops[at - 1], loops[at]);
    }
  return true;
}

std::optional<Trial::Pieces> Trial::tiled(const std::string& loop, int64_t piece) {
  auto count = countOf(loop);
  if (count)
    piece = std::min(piece, *count);
  if (piece < 2)
    return std::nullopt;
  if (count == piece)
    return Pieces{"", loop};
  bool hasRest = !count || *count % piece != 0;
  if (hasRest) {
    Form end = findLoop(made_.nest, loop).loop().end;
    std::string whole = fmt::format("({})/{}*{}", made_.nest.table.text(end), piece, piece);
    std::erase(whole, ' ');
    if (!attempt("peel", {loop, whole}))
      return std::nullopt;
    if (count && *count / piece == 1)
      return Pieces{"", loop, true};
  }
  if (!attempt("split", {loop, fmt::format("{}", piece)}) || fresh_.size() != 2)
    return std::nullopt;
  return Pieces{fresh_[0], fresh_[1], hasRest};
}

} // namespace loops
