// Places of extreme values. Of all lanes the extreme is found first, then its place; a NaN among
// them is rare and takes the way of one after the other.
#include "codegen/strips/run_places.h"

#include "lower/elements/wide_registers.h"

#include <type_traits>

namespace strips {

namespace {

/// Strips, and the best so far: one, or one for each lane.
template <typename T>
struct Strips {
  int64_t* bestPlaces;
  T* bestValues;
  const int64_t* places;
  const T* values;
  size_t count;
};

/// Which of two values or places counts.
template <bool isLargest, bool isLast>
struct Order {
  template <typename T>
  static bool isBetter(T a, T b) {
    return isLargest ? a > b : a < b;
  }
  static bool isFurther(int64_t a, int64_t b) { return isLast ? a > b : a < b; }
  /// Less far than any place.
  static constexpr int64_t nowhere = isLast ? INT64_MIN : INT64_MAX;
};

/// NaN beats every number; of equal values the place decides. Nothing here branches, so that it is
/// done for several lanes at once.
template <typename Order, typename T>
[[gnu::always_inline]] inline bool isTakenFor(T value, int64_t place, T best, int64_t bestPlace) {
  int isNaN = value != value, wasNaN = best != best, isEqual = value == best;
  int isFurther = Order::isFurther(place, bestPlace);
  return (int(Order::isBetter(value, best)) | (isNaN & ~wasNaN) |
          ((isEqual | (isNaN & wasNaN)) & isFurther)) != 0;
}

template <typename Order, typename T>
[[gnu::always_inline]] inline void joinLanes(const Strips<T>& in) {
  int64_t* __restrict bestPlaces = in.bestPlaces;
  T* __restrict bestValues = in.bestValues;
  const int64_t* __restrict places = in.places;
  const T* __restrict values = in.values;
  for (size_t j = 0, count = in.count; j < count; ++j) {
    T value = values[j], best = bestValues[j];
    int64_t place = places[j], bestPlace = bestPlaces[j];
    bool isTaken = isTakenFor<Order>(value, place, best, bestPlace);
    bestValues[j] = isTaken ? value : best;
    bestPlaces[j] = isTaken ? place : bestPlace;
  }
}

template <typename T>
[[gnu::always_inline]] inline bool hasNaN(const T* values, size_t count) {
  unsigned found = 0;
  if constexpr (std::is_floating_point_v<T>)
    for (size_t j = 0; j < count; ++j)
      found |= unsigned(values[j] != values[j]);
  return found != 0;
}

/// Lanes that are computed side by side.
constexpr size_t width = 16;

template <typename Order, typename T>
[[gnu::always_inline]] inline T extremeOf(T best, const T* values, size_t count) {
  T parts[width];
  for (T& part : parts)
    part = best;
  for (size_t j = 0; j < count; j += width)
    for (size_t k = 0; k < width; ++k)
      parts[k] = Order::isBetter(values[j + k], parts[k]) ? values[j + k] : parts[k];
  for (T part : parts)
    best = Order::isBetter(part, best) ? part : best;
  return best;
}

/// The place that counts of those of a value, and one more.
template <typename Order, typename T>
[[gnu::always_inline]] inline int64_t placeOf(T value, int64_t place, const Strips<T>& in,
                                              size_t count) {
  int64_t parts[width];
  for (int64_t& part : parts)
    part = place;
  for (size_t j = 0; j < count; j += width)
    for (size_t k = 0; k < width; ++k) {
      bool isTaken = (in.values[j + k] == value) & Order::isFurther(in.places[j + k], parts[k]);
      parts[k] = isTaken ? in.places[j + k] : parts[k];
    }
  for (int64_t part : parts)
    place = Order::isFurther(part, place) ? part : place;
  return place;
}

template <typename Order, typename T>
[[gnu::always_inline]] inline void joinAll(const Strips<T>& in) {
  size_t whole = in.count / width * width;
  T before = *in.bestValues;
  if (before != before || hasNaN(in.values, whole))
    whole = 0;
  T extreme = extremeOf<Order>(before, in.values, whole);
  int64_t start = whole == 0 || extreme == before ? *in.bestPlaces : Order::nowhere;
  int64_t place = placeOf<Order>(extreme, start, in, whole);
  for (size_t j = whole; j < in.count; ++j)
    if (isTakenFor<Order>(in.values[j], in.places[j], extreme, place)) {
      extreme = in.values[j];
      place = in.places[j];
    }
  *in.bestPlaces = place;
  *in.bestValues = extreme;
}

template <typename Order, typename T>
[[gnu::always_inline]] inline void joinBoth(const Strips<T>& in, bool isEachLane) {
  if (isEachLane)
    joinLanes<Order>(in);
  else
    joinAll<Order>(in);
}

template <typename Order, typename T>
BATON_WIDE void joinWide(const Strips<T>& in, bool isEachLane) {
  joinBoth<Order>(in, isEachLane);
}

template <typename Order, typename T>
void joinInOrder(const Strips<T>& in, bool isEachLane) {
  if (lower::hasWideRegisters())
    joinWide<Order>(in, isEachLane);
  else
    joinBoth<Order>(in, isEachLane);
}

template <typename T>
void join(const Instruction& how, std::byte* const* registers, size_t count) {
  Strips<T> in{reinterpret_cast<int64_t*>(registers[how.out]),
               reinterpret_cast<T*>(registers[how.c]),
               reinterpret_cast<const int64_t*>(registers[how.a]),
               reinterpret_cast<const T*>(registers[how.b]), count};
  bool isEachLane = (how.flags & EachLane) != 0, isLast = (how.flags & LastWins) != 0;
  if ((how.flags & Largest) != 0)
    isLast ? joinInOrder<Order<true, true>>(in, isEachLane)
           : joinInOrder<Order<true, false>>(in, isEachLane);
  else
    isLast ? joinInOrder<Order<false, true>>(in, isEachLane)
           : joinInOrder<Order<false, false>>(in, isEachLane);
}

} // namespace

void joinPlaces(const Instruction& how, std::byte* const* registers, size_t count) {
  switch (how.element) {
  case Element::Float64:
    return join<double>(how, registers, count);
  case Element::Float32:
    return join<float>(how, registers, count);
  case Element::UInt64:
    return join<uint64_t>(how, registers, count);
  case Element::Int32:
    return join<int32_t>(how, registers, count);
  default:
    return join<int64_t>(how, registers, count);
  }
}

} // namespace strips
