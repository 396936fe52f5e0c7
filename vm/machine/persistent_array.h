// An array whose copies share what they have in common, for states that branch and meet again.
//
// A tree with sixteen ways in each node. A copy costs nothing; a write copies the nodes above the
// element that another array shares. Comparing two arrays passes by what they share, so the cost is
// that of the differences. Elements that equal `T()` take no place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace vm {

template <typename T>
class PersistentArray {
public:
  /// At least `size` elements, all `T()`; writing behind them makes it larger. Only arrays of one
  /// size can be compared.
  explicit PersistentArray(size_t size) {
    while (size > 0 && isBeyond(size - 1))
      ++levels_;
  }

  /// An element, or null for one that was not set.
  const T* find(size_t index) const {
    const void* node = isBeyond(index) ? nullptr : root_.get();
    for (size_t level = levels_; node && level > 1; --level)
      node = static_cast<const Inner*>(node)->children[digit(index, level - 1)].get();
    if (!node)
      return nullptr;
    const auto& leaf = *static_cast<const Leaf*>(node);
    size_t at = digit(index, 0);
    return leaf.isSet >> at & 1 ? &leaf.elements[at] : nullptr;
  }

  /// An element to be changed; it is set from here on.
  T& edit(size_t index) {
    while (isBeyond(index))
      grow();
    std::shared_ptr<void>* node = &root_;
    for (size_t level = levels_; level > 1; --level)
      node = &own<Inner>(*node).children[digit(index, level - 1)];
    Leaf& leaf = own<Leaf>(*node);
    size_t at = digit(index, 0);
    leaf.isSet |= uint16_t(1 << at);
    return leaf.elements[at];
  }

  /// Makes an element `T()` again.
  void erase(size_t index) {
    if (!find(index))
      return;
    std::array<std::shared_ptr<void>*, 16> path;
    std::shared_ptr<void>* node = &root_;
    for (size_t level = levels_; level > 1; --level) {
      path[level - 1] = node;
      node = &own<Inner>(*node).children[digit(index, level - 1)];
    }
    path[0] = node;
    Leaf& leaf = own<Leaf>(*node);
    size_t at = digit(index, 0);
    leaf.elements[at] = T();
    leaf.isSet &= uint16_t(~(1 << at));
    bool isEmpty = leaf.isSet == 0;
    for (size_t level = 0; isEmpty && level < levels_; ++level) {
      path[level]->reset();
      isEmpty = level + 1 < levels_ && isWithoutChildren(*path[level + 1]);
    }
  }

  /// The first element that is set from `index` on; SIZE_MAX when there is none.
  size_t next(size_t index) const {
    return isBeyond(index) ? SIZE_MAX : nextIn(root_.get(), levels_, 0, index);
  }

  /// Calls `differ(i)` for the elements of which one is set and the other is not, or `isSame` is
  /// false.
  template <typename Same, typename Differ>
  void compare(const PersistentArray& other, Same&& isSame, Differ&& differ) const {
    compareNodes(root_.get(), other.root_.get(), levels_, 0, isSame, differ);
  }

private:
  static constexpr size_t bits = 4, ways = 16;

  struct Leaf {
    std::array<T, ways> elements = {};
    uint16_t isSet = 0;
  };
  struct Inner {
    std::array<std::shared_ptr<void>, ways> children = {};
  };

  static size_t digit(size_t index, size_t level) { return index >> (level * bits) & (ways - 1); }

  bool isBeyond(size_t index) const { return levels_ * bits < 64 && index >> (levels_ * bits) > 0; }

  void grow() {
    ++levels_;
    if (!root_)
      return;
    auto above = std::make_shared<Inner>();
    above->children[0] = std::move(root_);
    root_ = std::move(above);
  }

  template <typename Node>
  static Node& own(std::shared_ptr<void>& node) {
    if (!node)
      node = std::make_shared<Node>();
    else if (node.use_count() > 1)
      node = std::make_shared<Node>(*static_cast<const Node*>(node.get()));
    return *static_cast<Node*>(node.get());
  }

  static bool isWithoutChildren(const std::shared_ptr<void>& node) {
    for (const auto& child : static_cast<const Inner*>(node.get())->children)
      if (child)
        return false;
    return true;
  }

  // Recursion follows the levels, of which there are at most sixteen.

  static size_t nextIn(const void* node, size_t level, size_t base, size_t index) {
    if (!node)
      return SIZE_MAX;
    size_t first = index > base ? digit(index, level - 1) : 0;
    for (size_t at = first; at < ways; ++at) {
      size_t begin = base + (at << ((level - 1) * bits));
      if (level == 1) {
        if (static_cast<const Leaf*>(node)->isSet >> at & 1)
          return begin;
        continue;
      }
      size_t found =
          nextIn(static_cast<const Inner*>(node)->children[at].get(), level - 1, begin, index);
      if (found != SIZE_MAX)
        return found;
    }
    return SIZE_MAX;
  }

  template <typename Same, typename Differ>
  static void compareNodes(const void* left, const void* right, size_t level, size_t base,
                           Same&& isSame, Differ&& differ) {
    if (left == right)
      return;
    if (level > 1) {
      const auto *a = static_cast<const Inner*>(left), *b = static_cast<const Inner*>(right);
      for (size_t at = 0; at < ways; ++at)
        compareNodes(a ? a->children[at].get() : nullptr, b ? b->children[at].get() : nullptr,
                     level - 1, base + (at << ((level - 1) * bits)), isSame, differ);
      return;
    }
    const auto *a = static_cast<const Leaf*>(left), *b = static_cast<const Leaf*>(right);
    unsigned inA = a ? a->isSet : 0, inB = b ? b->isSet : 0;
    for (size_t at = 0; at < ways; ++at)
      if ((inA ^ inB) >> at & 1)
        differ(base + at);
      else if (inA >> at & 1 && !isSame(a->elements[at], b->elements[at]))
        differ(base + at);
  }

  size_t levels_ = 1;
  std::shared_ptr<void> root_;
};

} // namespace vm
