// What is cut off keeps its name in front, and gets new ones behind.
#include "lower/loops/tile_sums.h"

namespace loops {

namespace {

/// Cuts loops in two behind their first node, innermost first; the names of those behind.
std::optional<std::vector<std::string>> cutBehindFirst(Trial& trial,
                                                       const std::vector<std::string>& tile) {
  std::vector<std::string> behind(tile.size());
  for (size_t k = tile.size(); k-- > 0;) {
    if (!trial.attempt("fission", {tile[k], "1"}))
      return std::nullopt;
    behind[k] = trial.fresh()[0];
  }
  return behind;
}

} // namespace

std::optional<TileLoops> sumInside(Trial& trial, const Contraction& contraction,
                                   std::vector<std::string> tile) {
  auto summed = cutBehindFirst(trial, tile);
  auto readers = summed ? cutBehindFirst(trial, *summed) : std::nullopt;
  if (!readers)
    return std::nullopt;
  for (size_t k = tile.size(); k-- > 0;)
    for (const std::string& loop : contraction.summed)
      if (!trial.attempt("reorder", {(*summed)[k], loop}))
        return std::nullopt;
  return TileLoops{*std::move(summed), *std::move(readers)};
}

} // namespace loops
