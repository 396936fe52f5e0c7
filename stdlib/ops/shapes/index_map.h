// Index maps: where the element at a position of a tensor stands in another one, as text such as
// `i, j -> j, i // 4, i % 4`.
//
// A map is understood as digits: an index is a number whose digits have bases that the divisions of
// the map tell, and each index of the result is put together from digits. What does not come out
// even that way is no rearrangement of a tensor, and refused.
#pragma once

#include "lang/op/compute.h"
#include "runtime/result.h"

#include <optional>
#include <string_view>
#include <vector>

namespace stdlib {

/// A part of an index of the source: `index[input] // divisor % extent`. Without an extent it is
/// all that the division leaves. Indices from the number of inputs on are fused ones.
struct IndexDigit {
  size_t input;
  int64_t divisor = 1;
  std::optional<int64_t> extent = {};

  friend bool operator==(const IndexDigit&, const IndexDigit&) = default;
};

/// A digit as a part of an index of the result.
struct IndexTerm {
  IndexDigit digit;
  int64_t scale = 1;

  friend bool operator==(const IndexTerm&, const IndexTerm&) = default;
};

/// The terms of an index. They come by falling scales, and only the first may lack its extent.
using IndexTerms = std::vector<IndexTerm>;

/// An index map that rearranges: every digit of the source stands once in the result, or in an
/// index that was put together first and then divided anew, over earlier ones.
struct IndexMap {
  size_t inputs;
  std::vector<IndexTerms> fused = {};
  std::vector<IndexTerms> outputs = {};
};

/// How many indices a map is from and to, without a look at what it does.
struct IndexMapRanks {
  size_t from = 0;
  size_t to = 0;
};
runtime::Checked<IndexMapRanks> indexMapRanks(std::string_view text);

/// Reads a map of tensors with these extents; those that are not known are nothing.
runtime::Checked<IndexMap> readIndexMap(std::string_view text,
                                        std::span<const std::optional<int64_t>> extents);

/// What the extent of each index of the source, and of each fused one, must be a multiple of.
std::vector<int64_t> divisorsOf(const IndexMap& map);

/// The position in the source of the element at `at` of the result.
lang::Position sourcePosition(const IndexMap& map, const lang::Position& at,
                              const lang::Scalar& zero);

} // namespace stdlib
