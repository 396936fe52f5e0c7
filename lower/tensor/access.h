// How tensor functions read their tensors: what decides which of them are computed together.
#pragma once

#include "lower/tensor/expression.h"
#include "lower/tensor/verify.h"

#include <set>
#include <unordered_set>
#include <vector>

namespace tensor {

using ScalarNodes = std::vector<const ScalarNode*>;

/// Calls `visit` with each node of an expression once, users before operands.
template <typename Visit>
void forEachNode(const ScalarNode* root, Visit&& visit) {
  std::unordered_set<const ScalarNode*> seen{root};
  ScalarNodes stack{root};
  while (!stack.empty()) {
    const ScalarNode* node = stack.back();
    stack.pop_back();
    visit(*node);
    forEachOperand(*node, [&](const ScalarNode* operand) {
      if (seen.insert(operand).second)
        stack.push_back(operand);
    });
  }
}

/// Calls `visit` with each node of an expression that is not known, operands before users; it makes
/// the node known.
template <typename IsKnown, typename Visit>
void forEachUnknownNode(const ScalarNode* root, IsKnown&& isKnown, Visit&& visit) {
  ScalarNodes stack{root};
  while (!stack.empty()) {
    const ScalarNode* node = stack.back();
    size_t before = stack.size();
    if (!isKnown(node)) {
      forEachOperand(*node, [&](const ScalarNode* operand) {
        if (!isKnown(operand))
          stack.push_back(operand);
      });
      if (stack.size() > before)
        continue;
      visit(*node);
    }
    stack.pop_back();
  }
}

/// Whether two extents are known to be equal.
bool isSameExtent(const ScalarNode* a, const ScalarNode* b);

/// How the stages of a function read one tensor.
struct Reading {
  /// Where maps read it, as the nodes of the positions.
  std::set<ScalarNodes> positions = {};
  /// Some element may be read for several elements of a result.
  bool isShared = false;
  /// Some element may be read again in the loops of a reduction, as factors of a product are.
  bool isReused = false;
  /// In a reduction.
  bool isReduced = false;
  /// By a reduction along the last dimension alone, for each row of its result.
  bool isByRows = false;
  /// As a whole, by a scan.
  bool isWhole = false;
  /// Under another shape, which takes no time.
  bool isViewed = false;
};

/// By tensor.
std::vector<Reading> readingsOf(const TensorFunction& function);

/// What computing one element takes.
struct Work {
  size_t nodes = 0;
  size_t loads = 0;
  /// Something in it takes as long as many additions do.
  bool isDear = false;
  bool reduces = false;

  bool isCheap() const { return !isDear && !reduces && nodes <= mostCheap; }

private:
  static constexpr size_t mostCheap = 16;
};
Work workOf(const ScalarNode* body);

/// Whether elements of the inputs may make the function fail: as positions, or as divisors.
bool mayFault(const TensorFunction& function);

} // namespace tensor
