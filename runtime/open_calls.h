// Of the calls that are open when a run fails, those at both ends: the innermost ones say what went
// wrong, the outermost ones how the program came there, and a deep recursion lies between.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace runtime {

/// Places of open calls, added innermost first. Takes no memory until it is asked for them.
template <typename Place, size_t innermost>
class OpenCalls {
public:
  void add(Place place) {
    bool isInner = count_ < innermost;
    kept_[isInner ? count_ : innermost + (count_ - innermost) % outermost] = place;
    ++count_;
  }

  size_t count() const { return count_; }

  /// The places that were kept, innermost first.
  std::vector<Place> places() const {
    std::vector<Place> places(kept_.begin(), kept_.begin() + std::min(count_, kept_.size()));
    if (count_ > kept_.size())
      std::rotate(places.begin() + innermost,
                  places.begin() + innermost + (count_ - innermost) % outermost, places.end());
    return places;
  }

private:
  static constexpr size_t outermost = 4;

  std::array<Place, innermost + outermost> kept_{};
  size_t count_ = 0;
};

} // namespace runtime
