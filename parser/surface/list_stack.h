// Lists under construction. All lists of one element type share one stack: the innermost is on top.
//
// An error may drop an inner list half way, so the stack can hold leftovers above a list. Every
// operation therefore first cuts the stack to where its own list ends.
#pragma once

#include "parser/surface/value.h"
#include "runtime/arena.h"

namespace parser {

template <typename T>
class ListStack {
public:
  /// Starts a list with one element on top of all others.
  List start(const T& element) {
    List list{uint32_t(elements_.size()), 1};
    elements_.push_back(element);
    return list;
  }

  /// Appends to a list.
  List push(List list, const T& element) {
    elements_.resize(list.start + list.count);
    elements_.push_back(element);
    return {list.start, list.count + 1};
  }

  /// Takes a finished list off the stack, into the arena; `{}` is the empty list.
  std::span<const T> take(runtime::Arena& arena, List list) {
    if (list.count == 0)
      return {};
    std::span<const T> copied =
        arena.copy(std::span<const T>(elements_).subspan(list.start, list.count));
    elements_.resize(list.start);
    return copied;
  }

private:
  std::vector<T> elements_;
};

} // namespace parser
