// What forms are made of, as a table keeps it: terms and factors in memory that stays where it is.
//
// Terms and factors are views of that memory, so whoever has a sum may make more forms meanwhile;
// a copy of a table shares what was there with it.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sizes {

/// A form, by its place in its table.
enum class Form : uint32_t {};
/// A name, by the order in which names came to the table.
enum class Name : uint32_t {};
/// A factor of a summand: a name, a quotient, the lesser or the greater of two forms.
enum class Atom : uint32_t {};

/// The factors of a product, in their order.
class Factors {
public:
  Factors() = default;
  Factors(const Atom* first, size_t count) : first_(first), count_(uint32_t(count)) {}
  explicit Factors(std::span<const Atom> atoms) : Factors(atoms.data(), atoms.size()) {}

  const Atom* begin() const { return first_; }
  const Atom* end() const { return first_ + count_; }
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  Atom operator[](size_t i) const { return first_[i]; }

  friend bool operator==(const Factors& a, const Factors& b) { return std::ranges::equal(a, b); }
  friend auto operator<=>(const Factors& a, const Factors& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

private:
  const Atom* first_ = nullptr;
  uint32_t count_ = 0;
};

/// A summand: a product of atoms times a coefficient that is not 0.
struct Term {
  Factors factors;
  int64_t coefficient = 0;
  friend bool operator==(const Term&, const Term&) = default;
};

/// A form written out; terms are sorted by their factors, each product once.
struct Sum {
  std::span<const Term> terms = {};
  int64_t constant = 0;
};

/// Items that stay where they are put. A copy has the same items, and puts its own elsewhere.
template <typename Item>
class Shelf {
public:
  Shelf() = default;
  Shelf(const Shelf& other) : boards_(other.boards_) {}
  Shelf(Shelf&& other) noexcept { swap(other); }
  Shelf& operator=(Shelf other) noexcept {
    swap(other);
    return *this;
  }

  std::span<Item> put(std::span<const Item> items) {
    constexpr size_t least = 64;
    if (items.size() > left_) {
      left_ = std::max(items.size(), least << std::min<size_t>(boards_.size(), 6));
      boards_.push_back(std::make_shared_for_overwrite<Item[]>(left_));
      free_ = boards_.back().get();
    }
    std::span<Item> place(free_, items.size());
    std::ranges::copy(items, place.begin());
    free_ += items.size();
    left_ -= items.size();
    return place;
  }

private:
  void swap(Shelf& other) noexcept {
    std::swap(boards_, other.boards_);
    std::swap(free_, other.free_);
    std::swap(left_, other.left_);
  }

  std::vector<std::shared_ptr<Item[]>> boards_;
  Item* free_ = nullptr;
  size_t left_ = 0;
};

} // namespace sizes
