// A call that shows a value while a program runs.
#pragma once

#include "runtime/source_range.h"

#include <cstdint>
#include <string_view>

namespace runtime {

struct Shown {
  SourceRange where;
  /// What the program calls the value, or empty.
  std::string_view label = {};
  /// How many calls at this place there are for one that is shown.
  int64_t every = 1;
  /// Whether it is why the run ends there.
  bool ends = false;

  operator SourceRange() const { return where; }
};

} // namespace runtime
