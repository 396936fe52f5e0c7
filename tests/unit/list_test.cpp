// Lists, against vectors that the same is done to.
#include "runtime/list.h"

#include <catch2/catch.hpp>

#include <random>
#include <vector>

using runtime::List;

namespace {

/// An item that is more than bytes, and counts those that are alive.
struct Counted {
  static constexpr bool movesAsBytes = true;
  static inline int alive = 0;

  Counted() noexcept { ++alive; }
  explicit Counted(int value) : numbers{value} { ++alive; }
  Counted(const Counted& other) : numbers(other.numbers) { ++alive; }
  Counted(Counted&& other) noexcept : numbers(std::move(other.numbers)) { ++alive; }
  Counted& operator=(const Counted& other) = default;
  Counted& operator=(Counted&& other) noexcept = default;
  ~Counted() { --alive; }

  bool operator==(const Counted& other) const { return numbers == other.numbers; }

  List<int> numbers;
};

template <typename T>
bool areSame(const List<T>& list, const std::vector<T>& vector) {
  return std::equal(list.begin(), list.end(), vector.begin(), vector.end());
}

/// Does something to both, at random.
template <typename T>
void change(List<T>& list, std::vector<T>& vector, std::mt19937& random) {
  int value = int(random() % 100);
  size_t place = random() % (vector.size() + 1);
  auto at = vector.begin() + ptrdiff_t(place);
  bool isEven = value % 2 == 0;
  switch (random() % 8) {
  case 0:
    list.insert(list.begin() + place, T(value));
    vector.insert(at, T(value));
    break;
  case 1:
    list.erase(list.begin() + place, list.end());
    vector.erase(at, vector.end());
    break;
  case 2:
    list.eraseIf([&](const T& item) { return item == T(value); });
    std::erase(vector, T(value));
    break;
  case 3:
    list.resize(isEven ? place : place + 20);
    vector.resize(isEven ? place : place + 20);
    break;
  case 4: {
    List<T> copy = list;
    list = copy;
    list.append(copy);
    list = std::move(list);
    std::vector<T> other = vector;
    vector.insert(vector.end(), other.begin(), other.end());
    break;
  }
  default:
    for (int i = 0; i < value; ++i) {
      list.push_back(T(i % 7));
      vector.push_back(T(i % 7));
    }
  }
  if (vector.size() > 1000) {
    list.clear();
    vector.clear();
  }
}

} // namespace

TEMPLATE_TEST_CASE("a list does what a vector does", "", int, char, Counted) {
  std::mt19937 random(1);
  {
    List<TestType> list;
    std::vector<TestType> vector;
    for (int i = 0; i < 20'000; ++i) {
      change(list, vector, random);
      REQUIRE(areSame(list, vector));
    }
  }
  CHECK(Counted::alive == 0);
}

TEST_CASE("a list of numbers is made, extended and compared") {
  List<int> list{1, 2, 3};
  list.extend(5, 9);
  CHECK(list == List<int>{1, 2, 3, 9, 9});
  list.assign(2, 7);
  CHECK(list == List<int>(2, 7));
  list.pop_back();
  CHECK((list.front() == 7 && list.back() == 7 && list.size() == 1));
  List<int> other = std::move(list);
  CHECK((list.empty() && other.size() == 1));
  CHECK_THROWS_AS(other.reserve(size_t(1) << 40), std::bad_alloc);
}
