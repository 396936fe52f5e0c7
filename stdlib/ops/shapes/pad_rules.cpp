// What padding by attributes and padding by data share.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/fixes.h"
#include "stdlib/ops/shapes/pad.h"

#include <fmt/format.h>

namespace stdlib {

using namespace lang;
using runtime::Problem;

std::optional<PadMode> padMode(std::string_view text) {
  if (text == "constant")
    return PadMode::Constant;
  if (text == "edge")
    return PadMode::Edge;
  if (text == "reflect" || text == "REFLECT")
    return PadMode::Reflect;
  if (text == "SYMMETRIC")
    return PadMode::Symmetric;
  return std::nullopt;
}

std::optional<RelationResult> requirePadMode(const RelationCall& call) {
  if (isOneOf(call.attributes.text("pad_mode"), {"constant", "edge", "reflect"}))
    return std::nullopt;
  return choiceFailure(call, "pad_mode", "`constant`, `edge` or `reflect`");
}

namespace {

/// The least extent that a dimension can have whose outside is not a constant.
int64_t leastExtent(PadMode mode, int64_t before, int64_t after) {
  int64_t widest = std::max(before, after);
  if (mode == PadMode::Constant || widest <= 0)
    return 0;
  return mode == PadMode::Edge ? 1 : mode == PadMode::Symmetric ? widest : widest + 1;
}

/// The problem of one dimension whose outside is not a constant, or nothing.
std::optional<Problem> reachProblem(PadMode mode, int64_t extent, int64_t before, int64_t after) {
  int64_t widest = std::max(before, after);
  if (extent >= leastExtent(mode, before, after))
    return std::nullopt;
  if (mode == PadMode::Edge)
    return Problem{"an empty dimension has no edge to repeat"};
  return Problem{
      fmt::format("padding by {} mirrors past the far edge of a dimension of {}", widest, extent)};
}

/// Has a dimension that grows by `sum` be at least `least`, unless it is cropped to nothing, which
/// sizes of a run may tell.
void requireReach(const RelationCall& call, RelationResult& result, const Dim* dim, int64_t least,
                  int64_t sum) {
  if (!call.steps || dim->isConstant() || sum > 0 || sum <= -least)
    return requireAtLeast(result, dim, least);
  // Negative between the extent of which nothing is left, below which there is no result, and
  // `least`.
  requireAtLeast(
      result,
      call.types.multiply(offsetDim(call.types, dim, sum), offsetDim(call.types, dim, -least)), 0);
}

} // namespace

RelationResult paddedType(const RelationCall& call, PadMode mode,
                          const std::vector<std::vector<int64_t>>& widths, bool mayCrop) {
  if (widths.size() != call.rank(0))
    return call.failed(fmt::format("`pad_width` has {}, but `data` has {}",
                                   counted(int64_t(widths.size()), "pair"),
                                   counted(int64_t(call.rank(0)), "dimension")));
  std::vector<const Dim*> shape;
  for (size_t i = 0; i < widths.size(); ++i) {
    if (widths[i].size() != 2)
      return call.failed(fmt::format("`pad_width` must hold a pair per dimension, but entry {} has "
                                     "{} numbers",
                                     i, widths[i].size()));
    int64_t before = widths[i][0], after = widths[i][1];
    if (!mayCrop && (before < 0 || after < 0))
      return call.failed(fmt::format("`pad_width` must not be negative, but entry {} is [{}, {}]",
                                     i, before, after));
    const Dim* dim = call.shape(0)[i];
    int64_t sum = 0;
    const Dim* padded =
        __builtin_add_overflow(before, after, &sum) ? nullptr : offsetDim(call.types, dim, sum);
    if (!padded)
      return call.failed(fmt::format("dimension {} of {} can't be padded by [{}, {}]", i,
                                     dimText(dim), before, after));
    if (dim->isConstant() && !padded->isConstant(0))
      if (auto problem = reachProblem(mode, dim->value, before, after))
        return call.failed(fmt::format("dimension {}: {}", i, problem->text));
    shape.push_back(padded);
  }
  RelationResult result = call.solved(shape, call.dtype(0));
  for (size_t i = 0; i < widths.size(); ++i)
    requireReach(call, result, call.shape(0)[i], leastExtent(mode, widths[i][0], widths[i][1]),
                 widths[i][0] + widths[i][1]);
  return result;
}

Scalar inside(PadMode mode, Scalar at, Scalar extent) {
  Scalar zero = number(at, 0), last = extent - 1.0;
  if (mode == PadMode::Edge)
    return maximum(minimum(at, last), zero);
  Scalar repeat = number(at, mode == PadMode::Symmetric ? 1 : 0);
  return select(at < 0.0, zero - at - repeat, select(at > last, last + last + repeat - at, at));
}

} // namespace stdlib
