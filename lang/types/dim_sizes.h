// Dimensions as sizes of a table, which values are compared with and shapes are found by while a
// program runs. This is the one place that makes them of each other.
#pragma once

#include "lang/types/dim.h"
#include "runtime/checks/declared.h"

#include <unordered_map>

namespace lang {

/// Puts dimensions into a table, each once; `?` and unknowns are Open.
class DimSizes {
public:
  /// Whether people read what the sizes are.
  enum class Texts : uint8_t { Kept, LeftOut };

  /// The table must outlive this, and nobody else adds to it.
  DimSizes(checks::SizeTable& table, Texts texts) : table_(table), texts_(texts) {}

  /// The place of a dimension in the table. Recursion follows the form, whose depth is bounded.
  uint32_t of(const Dim* dim);
  /// Has a dimension stand for a new size.
  uint32_t put(const Dim* dim, checks::Size size);

private:
  checks::SizeTable& table_;
  Texts texts_;
  std::unordered_map<const Dim*, uint32_t> places_;
};

} // namespace lang
