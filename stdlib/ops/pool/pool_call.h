// What pools are made of: one rule per spatial dimension that says which elements a window has and
// which windows an element is in. Sliding and adaptive pools differ in these rules alone.
#pragma once

#include "stdlib/ops/window.h"

#include <array>
#include <functional>

namespace stdlib {

/// Windows along one spatial dimension. Indices are int64 scalars: `o` a window, `tap` a place in
/// it, `i` an element, `cover` a number among the windows that may contain an element.
struct PoolDim {
  /// The dimension of the layout.
  size_t dim = 0;
  /// How many taps a window has at most, and how many windows an element is in at most.
  lang::Scalar taps, covers;
  /// True when a position may lie outside the data.
  bool mayLeave = false;
  std::function<lang::Scalar(lang::Scalar o, lang::Scalar tap)> position;
  /// Whether a window has that tap at all; unset when it always has.
  std::function<lang::Scalar(lang::Scalar o, lang::Scalar tap)> hasTap;
  /// How many elements of a window count for an average.
  std::function<lang::Scalar(lang::Scalar o)> count;
  std::function<lang::Scalar(lang::Scalar i, lang::Scalar cover)> window;
  /// Whether that window contains the element, if it exists; unset when it always does.
  std::function<lang::Scalar(lang::Scalar i, lang::Scalar cover)> isWindow;
  /// The tap at which that window reads the element.
  std::function<lang::Scalar(lang::Scalar i, lang::Scalar cover)> tap;
};

enum class PoolKind : uint8_t { Maximum, Average };

/// A pool: its windows, the layout of the data and that of the result.
struct Pool {
  PoolKind kind;
  std::vector<PoolDim> dims;
  Layout data, result;
};

/// The windows of a sliding pool of `taps` along spatial dimension `i` of that extent. `includePad`
/// counts padding in averages; with `ceilMode` windows may run past the padding.
PoolDim slidingDim(lang::ComputeCall& call, const Window& window, size_t i, int64_t taps,
                   lang::Scalar extent, bool includePad, bool ceilMode);

/// The windows floor(o * extent / windows) .. ceil((o + 1) * extent / windows) of adaptive pools.
PoolDim adaptiveDim(lang::Scalar extent, lang::Scalar windows);

/// The pool of `data`, in the layout of the data.
lang::TensorHandle pooled(lang::ComputeCall& call, const Pool& pool,
                          const lang::TensorHandle& data);

/// Defines the pool of operand 0.
void poolResult(lang::ComputeCall& call, const Pool& pool);

/// The relation of a pool with a window of fixed size of operand `operand`.
lang::RelationResult relatePool(const lang::RelationCall& call, size_t dims, size_t operand);

/// The pool that the attributes of a call say, of data with these extents.
Pool slidingPool(lang::ComputeCall& call, size_t dims, PoolKind kind, const lang::Extents& data);

/// Defines the gradient by operand 1 from operand 0, the gradient by the pool of it.
void poolGradientResult(lang::ComputeCall& call, const Pool& pool);

/// Defines, for each window of operand 1, the element of operand 0 at the place of the window's
/// first greatest element; zero where that lies outside.
void poolTakenResult(lang::ComputeCall& call, const Pool& pool);

/// The layouts `layout` and `out_layout` of a pool: any axes, of which the spatial ones are not
/// tiled.
struct PoolLayouts {
  Layout data, result;
};
runtime::Checked<PoolLayouts> readPoolLayouts(const lang::Attributes& attributes, size_t dims);

/// Solves with the shape of operand `operand` in which the spatial extents are replaced.
lang::RelationResult solvedPool(const lang::RelationCall& call, size_t operand,
                                const PoolLayouts& layouts,
                                const std::vector<const lang::Dim*>& spatial);

/// The problem when operand `operand` does not have the rank of its layout.
std::optional<lang::RelationResult> requirePoolRank(const lang::RelationCall& call, size_t operand,
                                                    const Layout& layout);

/// Answers for a gradient: operand 0 must be what `pooled`, the relation of the pool on operand 1,
/// gives; the result is like operand 1.
lang::RelationResult solvedPoolGradient(const lang::RelationCall& call,
                                        const lang::RelationResult& pooled);

/// Answers for elements that are taken out of operand 0, which must have the shape of operand 1:
/// the result is what `pooled`, the relation of the pool on operand 1, gives.
lang::RelationResult solvedPoolTaken(const lang::RelationCall& call,
                                     const lang::RelationResult& pooled);

/// The attributes of pools with windows of a fixed size: seven, or with `count_include_pad` eight.
template <size_t count>
constexpr std::array<lang::AttributeRow, count> slidingPoolAttributes(size_t dims) {
  using lang::AttributeKind, lang::AttributeRow;
  constexpr std::string_view ones[] = {"[1]", "[1, 1]", "[1, 1, 1]"};
  constexpr std::string_view zeros[] = {"[0]", "[0, 0]", "[0, 0, 0]"};
  constexpr std::string_view layouts[] = {"\"NCW\"", "\"NCHW\"", "\"NCDHW\""};
  size_t i = dims - 1;
  std::array<AttributeRow, count> rows{{
      AttributeRow{"pool_size", AttributeKind::IntList, "", "extents of the window"}.ofLength(dims),
      {"strides", AttributeKind::IntList, ones[i], "steps of the window"},
      {"dilation", AttributeKind::IntList, ones[i], "distances of the taps of the window"},
      {"padding", AttributeKind::IntList, zeros[i],
       "padding of the data: one number for all sides, one per dimension, or all before, then all "
       "after"},
      {"layout", AttributeKind::String, layouts[i], "layout of the data"},
      {"out_layout", AttributeKind::String, "\"\"",
       "layout of the result; that of the data if empty"},
      {"ceil_mode", AttributeKind::Bool, "False", "also use a last window that is not full"},
  }};
  if constexpr (count == 8)
    rows[7] = {"count_include_pad", AttributeKind::Bool, "False",
               "count padding as elements that are zero"};
  return rows;
}

} // namespace stdlib
