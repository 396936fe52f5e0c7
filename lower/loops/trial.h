// A nest in the making by a chooser: steps are tried, and those that apply are kept.
#pragma once

#include "lower/loops/choose.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loops {

/// Adds a step to a nest if it applies and its result verifies.
bool addVerified(Scheduled& made, std::string_view rewrite, std::vector<std::string> arguments);

/// Where steps are not verified one by one, whoever is done asks `problemOf` about the nest.
class Trial {
public:
  explicit Trial(Scheduled made) : made_(std::move(made)) {}

  Nest& nest() { return made_.nest; }
  const Scheduled& made() const { return made_; }
  void restore(Scheduled made) { made_ = std::move(made); }
  Scheduled take() { return std::move(made_); }

  /// Whether a step applied.
  bool attempt(std::string_view rewrite, std::vector<std::string> arguments);
  /// The same if all steps so far and this one are good.
  bool attemptVerified(std::string_view rewrite, std::vector<std::string> arguments) {
    return addVerified(made_, rewrite, std::move(arguments));
  }
  /// The loops that the last step made, in the order of the text.
  const std::vector<std::string>& fresh() const { return fresh_; }

  std::optional<int64_t> countOf(const std::string& loop);

  struct Pieces {
    /// The loop over pieces, if there are several, and that in one.
    std::string outer, inner;
    /// Whether iterations are left over, in a loop behind.
    bool hasRest = false;
  };

  /// Puts loops, each of which is alone in the one before, into another order.
  bool ordered(std::vector<std::string>& loops, const std::vector<std::string>& wanted);

  /// Cuts a loop into whole pieces, and a rest of its own. Nothing where a piece is one iteration.
  std::optional<Pieces> tiled(const std::string& loop, int64_t piece);

private:
  Scheduled made_;
  std::vector<std::string> fresh_;
};

} // namespace loops
