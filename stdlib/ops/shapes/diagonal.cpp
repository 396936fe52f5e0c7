// Writing the diagonals of matrices: matrix_set_diag.
//
// Diagonal k is the elements at (i, i + k). A band k1 to k2 is stored as rows, the highest diagonal
// first; shorter diagonals stand at the left or the right end of their rows.
#include "runtime/checks/declared.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/gradient.h"
#include "stdlib/ops/shape_rules.h"

#include <algorithm>
#include <fmt/format.h>

namespace stdlib {

namespace {

using namespace lang;

/// How far the longest of the diagonals can go until rows or columns end.
struct DiagonalRoom {
  const Dim* rows;
  const Dim* columns;
};

DiagonalRoom roomOf(const RelationCall& call, int64_t low, int64_t high) {
  auto shifted = [&](const Dim* dim, int64_t by) {
    return call.types.add(dim, call.types.constant(by));
  };
  return {shifted(call.shape(0)[call.rank(0) - 2], std::min<int64_t>(high, 0)),
          shifted(call.shape(0)[call.rank(0) - 1], -std::max<int64_t>(low, 0))};
}

/// The extents that the diagonals must have. The last is the lesser of two; between names that
/// stand for every size, what is given decides which one that is.
std::vector<const Dim*> diagonalDims(const RelationCall& call, int64_t low, int64_t high) {
  Dims input = call.shape(0);
  size_t batch = input.size() - 2;
  std::vector<const Dim*> shape(input.begin(), input.begin() + ptrdiff_t(batch));
  if (low != high)
    shape.push_back(call.types.constant(high - low + 1));
  auto [rows, columns] = roomOf(call, low, high);
  if (call.steps) {
    shape.push_back(call.steps->compute(checks::SizeKind::Least, rows, columns));
    return shape;
  }
  const Dim* more = call.types.subtract(columns, rows);
  bool isFewerColumns = more->isConstant() && more->value < 0;
  const Dim* given = call.rank(1) > 0 ? call.shape(1).back() : rows;
  bool asksForColumns =
      !more->isConstant() && (given == columns || matchDims(rows, given) == DimMatch::Different);
  shape.push_back(more->isAny() ? more : isFewerColumns || asksForColumns ? columns : rows);
  return shape;
}

RelationResult matrixSetDiagRelation(const RelationCall& call) {
  if (call.rank(0) < 2)
    return call.failedAt(0, fmt::format("the input must be matrices, but its shape is `{}`",
                                        shapeText(call.shape(0))));
  if (auto problem = requireSameDType(call, 0, 1))
    return *problem;
  int64_t low = call.attributes.integer("k1"), high = call.attributes.integer("k2");
  const Dim *rows = call.shape(0)[call.rank(0) - 2], *columns = call.shape(0)[call.rank(0) - 1];
  bool inside = low <= high && low > -INT32_MAX && high < INT32_MAX &&
                (!rows->isConstant() || -low < rows->value) &&
                (!columns->isConstant() || high < columns->value);
  if (!inside)
    return call.failed(fmt::format("matrices of shape `{}` have no diagonals {} to {}",
                                   shapeText(call.shape(0)), low, high));
  std::vector<const Dim*> expected = diagonalDims(call, low, high);
  bool good = expected.size() == call.rank(1);
  for (size_t i = 0; good && i < expected.size(); ++i)
    good = call.meetDims(expected[i], call.shape(1)[i]);
  if (!good)
    return call.failedAt(1,
                         fmt::format("the diagonals {} to {} of `{}` have the shape `{}`, but it "
                                     "is `{}`",
                                     low, high, shapeText(call.shape(0)), shapeText(expected),
                                     shapeText(call.shape(1))));
  RelationResult result = sameAsFirst(call);
  requireAtLeast(result, rows, 1 - low);
  requireAtLeast(result, columns, 1 + high);
  DiagonalRoom room = roomOf(call, low, high);
  for (const Dim* other : {room.rows, room.columns})
    requireAtLeast(result, call.types.subtract(other, expected.back()), 0);
  return result;
}

void computeMatrixSetDiag(ComputeCall& call) {
  TensorHandle x = call.input(0), diagonal = call.input(1);
  Scalar low = call.integer(call.attributes().integer("k1"));
  Scalar high = call.integer(call.attributes().integer("k2"));
  bool band = diagonal.rank() == x.rank();
  size_t batch = x.rank() - 2;
  Scalar rows = x.extent(batch), columns = x.extent(batch + 1), zero = call.integer(0);
  Scalar longest = diagonal.extent(diagonal.rank() - 1);
  call.result([&](const Position& at) {
    Scalar row = at[batch], column = at[batch + 1], k = column - row;
    Position place(at.begin(), at.begin() + ptrdiff_t(batch));
    Scalar shift = zero;
    if (band) {
      place.push_back(high - k);
      Scalar upper = longest - minimum(rows, columns - k);
      Scalar lower = longest - minimum(rows + k, columns);
      shift = select(k >= zero, call.attributes().boolean("super_diag_right_align") ? upper : zero,
                     call.attributes().boolean("sub_diag_right_align") ? lower : zero);
    }
    place.push_back(select(k >= zero, row, column) + shift);
    return select(k >= low && k <= high, diagonal(place), x(at));
  });
}

constexpr OperandRow operands[] = {{"input", "the matrices, in the last two dimensions"},
                                   {"diagonal", "the diagonals to write"}};
constexpr AttributeRow attributes[] = {
    {"k1", AttributeKind::Int, "0", "the lowest diagonal; negative ones lie below the main one"},
    {"k2", AttributeKind::Int, "0", "the highest diagonal"},
    {"super_diag_right_align", AttributeKind::Bool, "True",
     "whether diagonals from 0 up stand at the right of their rows"},
    {"sub_diag_right_align", AttributeKind::Bool, "False",
     "whether diagonals below 0 stand at the right of their rows"}};
constexpr Example examples[] = {
    {"matrix_set_diag([[1, 1], [1, 1]], [7, 8])", "[[7, 1], [1, 8]]"},
    {"matrix_set_diag([[1, 1], [1, 1]], [[0, 5], [7, 8]], k2=1)", "[[7, 5], [1, 8]]"}};

void matrixSetDiagGradient(GradientCall& d) {
  Term input = d.operand(0), diagonal = d.operand(1);
  Term kept = d.call("matrix_set_diag", {d.cotangent(), zerosLike(diagonal)}, sameAttributes(d));
  give(d, 0, kept);
  Term places =
      d.call("matrix_set_diag", {castTo(zerosLike(input), runtime::Int64), placesLike(diagonal)},
             sameAttributes(d));
  give(d, 1, addedAtPlaces(d.cotangent() - kept, places, diagonal));
}

constexpr OperatorRow rows[] = {
    {.name = "matrix_set_diag",
     .doc = "Gives matrices with a diagonal, or a band of them, replaced.",
     .details = "One diagonal is stored as a vector, diagonals k1 < k2 as k2 - k1 + 1 rows of the "
                "length of the longest, the highest diagonal first.",
     .operands = operands,
     .attributes = attributes,
     .attributesKey = "relay.attrs.MatrixSetDiagAttrs",
     .relation = matrixSetDiagRelation,
     .compute = computeMatrixSetDiag,
     .gradient = GradientRule{matrixSetDiagGradient},
     .examples = examples},
};

} // namespace

OperatorFamily diagonalFamily() {
  return rows;
}

} // namespace stdlib
