// The gradient rules of the operators on sparse matrices.
#include "stdlib/ops/data/sparse.h"

namespace stdlib {

using lang::AttributeValue;

namespace {

/// The stored elements as blocks: `[count, rows, columns]`.
Term asBlocks(const Term& entries) {
  return expandDims(entries, entries.rank(), 3 - entries.rank());
}

/// The elements of a matrix in row-major order, and a zero behind them.
Term withNowhere(const Term& whole) {
  return concatenated({reshaped(whole, {-1}), reshaped(sumOfAll(zerosLike(whole)), {1})}, 0);
}

/// The row-major places of the elements of blocks in a matrix like `whole`, or the one behind it.
/// Bounds of rows that hold nothing are equal; the last of them is the one before the block.
Term placesIn(const Term& whole, const Term& blocks, const Term& indices, const Term& indptr) {
  lang::TermWriter& d = whole.rule();
  Term bounds = castTo(indptr, runtime::Int64);
  Term above = d.call("searchsorted", {bounds, positionsAlong(blocks, 0)},
                      {{"right", true}, {"dtype", "int64"}});
  Term isInside = alongAxis(above > 0.0 && above < extentOf(indptr, 0), 0, 3);
  Term rows = alongAxis(above - 1.0, 0, 3) * extentOf(blocks, 1) +
              alongAxis(positionsAlong(blocks, 1), 1, 3);
  Term columns = alongAxis(castTo(indices, runtime::Int64), 0, 3) * extentOf(blocks, 2) +
                 alongAxis(positionsAlong(blocks, 2), 2, 3);
  Term places = rows * extentOf(whole, 1) + columns;
  return where(isInside, places, extentOf(withNowhere(whole), 0) - 1.0);
}

/// What stands at the places of a matrix, zero at the one behind it.
Term readAt(const Term& whole, const Term& places, const Term& like) {
  return reshapedLike(take(withNowhere(whole), places, 0), like);
}

/// The blocks added up at their places in a matrix like `whole`.
Term writtenAt(const Term& blocks, const Term& places, const Term& whole) {
  Term sums = addedAtPlaces(blocks, places, withNowhere(whole));
  return reshapedLike(sliced(sums, 0, 0, -1), whole);
}

/// `left` times the transpose of `right`.
Term timesTransposed(const Term& left, const Term& right) {
  return left.rule().call("nn.dense", {left, right}, {{"units", AttributeValue{}}});
}

/// Gives the sparse matrix its cotangent, and returns that of `dense`, a row of which is a vector
/// that the rows of the sparse matrix are multiplied with. The result has a row for each of them.
Term pulledBack(GradientCall& d, const Term& dense, const Term& pull) {
  Term blocks = asBlocks(d.operand(1));
  Term outer = timesTransposed(transposed(pull, {1, 0}), transposed(dense, {1, 0}));
  Term places = placesIn(outer, blocks, d.operand(2), d.operand(3));
  give(d, 1, readAt(outer, places, d.operand(1)));
  Term matrix = writtenAt(blocks, places, outer);
  return timesTransposed(pull, transposed(matrix, {1, 0}));
}

/// A tensor as a matrix: dimensions before `split` are its rows.
Term asMatrix(Term a, size_t split) {
  while (a.rank() > 2) {
    std::vector<int64_t> shape(a.rank() - 1, 0);
    shape[split > 1 ? 0 : 1] = -3;
    split -= split > 1 ? 1 : 0;
    a = reshaped(a, shape);
  }
  return a;
}

/// Moved by one element in the directions of a tap of a window, with zeros from outside.
Term movedBy(const Term& pictures, int64_t tap, int64_t direction) {
  int64_t y = (tap / 3 - 1) * direction, x = (tap % 3 - 1) * direction;
  return padded(pictures, {{0, 0}, {-y, y}, {-x, x}, {0, 0}});
}

} // namespace

void sparseDenseGradient(GradientCall& d) {
  Term pull = d.cotangent();
  if (d.attributes().boolean("sparse_lhs"))
    pull = transposed(pull, {1, 0});
  give(d, 0, pulledBack(d, d.operand(0), pull));
}

void sparseConvGradient(GradientCall& d) {
  bool isChannelsFirst = d.attributes().text("layout") == "NCHW";
  std::vector<size_t> toLast{0, 2, 3, 1}, toFirst{0, 3, 1, 2};
  Term pictures = d.operand(0), pull = d.cotangent();
  if (isChannelsFirst) {
    pictures = transposed(pictures, toLast);
    pull = transposed(pull, toLast);
  }
  bool isWindow = d.attributes().integers("kernel_size")[0] == 3;
  size_t tapAxis = isChannelsFirst ? 4 : 3;
  Term vectors = pictures;
  if (isWindow) {
    std::vector<Term> taps;
    for (int64_t tap = 0; tap < 9; ++tap)
      taps.push_back(movedBy(pictures, tap, 1));
    vectors = stacked(taps, tapAxis);
  }
  Term back = pulledBack(d, asMatrix(vectors, 3), asMatrix(pull, 3));
  back = reshapedLike(back, vectors);
  if (isWindow) {
    Term sum = movedBy(partAt(back, 0, tapAxis), 0, -1);
    for (int64_t tap = 1; tap < 9; ++tap)
      sum = sum + movedBy(partAt(back, tap, tapAxis), tap, -1);
    back = sum;
  }
  give(d, 0, isChannelsFirst ? transposed(back, toFirst) : back);
}

void sparseAddGradient(GradientCall& d) {
  Term pull = d.cotangent();
  give(d, 0, pull);
  Term places = placesIn(pull, asBlocks(d.operand(1)), d.operand(2), d.operand(3));
  give(d, 1, readAt(pull, places, d.operand(1)));
}

/// The numbers of the entries go where the entries go.
void sparseTransposeGradient(GradientCall& d) {
  Term entries = d.operand(0);
  Term moved =
      d.call("nn.sparse_transpose", {positionsAlong(entries, 0), d.operand(1), d.operand(2)});
  give(d, 0, addedAtPlaces(incoming(d, 0), d.project(moved, 0), entries));
}

} // namespace stdlib
