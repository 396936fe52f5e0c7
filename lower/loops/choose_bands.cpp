// Outer loops first, so that bands are found in what is left inside of those that were joined.
#include "lower/loops/choose_bands.h"

#include "lower/loops/edit.h"
#include "lower/loops/trial.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

namespace loops {

namespace {

class Bands {
public:
  explicit Bands(Scheduled made) : made_(std::move(made)) {}

  Scheduled run() {
    while (auto pair = nextPair(made_.nest().body))
      joinPair(*pair);
    return made_.take();
  }

private:
  using Names = std::vector<std::string>;

  std::string nameOf(const Node& node) {
    return made_.nest().table.textOf(std::get<Loop>(node.what).variable);
  }

  struct Pair {
    std::string first, second;
    auto operator<=>(const Pair&) const = default;
  };

  /// Two loops that follow each other, share scratch, and were not tried yet.
  std::optional<Pair> nextPair(const std::vector<Node>& body) {
    const Node* last = nullptr;
    for (const Node& node : body) {
      bool isLoop = std::holds_alternative<Loop>(node.what);
      if (isLoop && last && !scratchBetween(*last, node).empty())
        if (Pair pair{nameOf(*last), nameOf(node)}; tried_.insert(pair).second)
          return pair;
      if (isLoop || !std::holds_alternative<Allocation>(node.what))
        last = isLoop ? &node : nullptr;
    }
    for (const Node& node : body)
      if (auto pair = nextPair(node.body))
        return pair;
    return std::nullopt;
  }

  /// Scratch that both use.
  Names scratchBetween(const Node& first, const Node& second) {
    Names found;
    for (uint32_t i = 0; i < made_.nest().buffers.size(); ++i)
      if (made_.nest().buffers[i].space == Space::Scratch && uses(first, i) && uses(second, i))
        found.push_back(made_.nest().buffers[i].name);
    return found;
  }

  /// Joins loops until scratch between them is that of a band, or one does not join.
  void joinPair(const Pair& pair) {
    Scheduled before = made_.made();
    std::string loop = pair.first;
    for (std::optional<std::string> next = pair.second; next; next = loopBehind(loop)) {
      const Names between =
          scratchBetween(findLoop(made_.nest(), loop).node(), findLoop(made_.nest(), *next).node());
      if (!join(loop, *next))
        break;
      bool isKept = false;
      for (const std::string& buffer : between)
        isKept |= made_.attemptVerified("privatise", {buffer, loop});
      if (isKept)
        return;
    }
    made_.restore(std::move(before));
  }

  std::optional<std::string> loopBehind(const std::string& loop) {
    Spot spot = findLoop(made_.nest(), loop);
    for (size_t i = spot.at + 1; i < spot.body->size(); ++i)
      if (std::holds_alternative<Loop>((*spot.body)[i].what))
        return nameOf((*spot.body)[i]);
      else if (!std::holds_alternative<Allocation>((*spot.body)[i].what))
        return std::nullopt;
    return std::nullopt;
  }

  /// Bands are few of the pieces that either loop goes in. Scratch is made private only of what is
  /// good: the rewrite takes that for granted.
  bool join(std::string& first, std::string second) {
    constexpr int64_t mostPieces = 4;
    auto count = made_.countOf(first), other = made_.countOf(second);
    if (!count || !other || *count < 2 || *other < 2)
      return false;
    int64_t bands = std::gcd(*count, *other);
    return bands * mostPieces >= std::min(*count, *other) && cutToBands(first, *count, bands) &&
           cutToBands(second, *other, bands) && made_.attemptVerified("join", {first, second});
  }

  bool cutToBands(std::string& loop, int64_t count, int64_t bands) {
    if (count == bands)
      return true;
    if (!made_.attempt("split", {loop, fmt::format("{}", count / bands)}))
      return false;
    loop = made_.fresh()[0];
    return true;
  }

  Trial made_;
  std::set<Pair> tried_;
};

} // namespace

void joinBands(Scheduled& made) {
  made = Bands(std::move(made)).run();
}

} // namespace loops
