// Operators that write elements at positions given by data: scatter_elements and scatter_nd.
//
// They are kernels, because positions may repeat: updates are applied one after the other in
// row-major order, so that the last one wins. Negative positions count from the back, once.
#include "stdlib/ops/checks.h"
#include "stdlib/ops/common.h"
#include "stdlib/ops/element_types.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/shape_rules.h"

#include <array>
#include <fmt/format.h>
#include <numeric>

namespace stdlib {

namespace {

using namespace lang;
using runtime::Shape;
using runtime::Tensor;

using DimVector = std::vector<const Dim*>;

/// How an update and what stands at its place become one.
enum class Joining : uint8_t { Update, Add, Mul, Mean, Min, Max };

constexpr std::array<std::string_view, 6> joiningNames = {"update", "add", "mul",
                                                          "mean",   "min", "max"};

/// The joining of a name; `scatter_nd` has no mean.
std::optional<Joining> joiningOf(std::string_view name, bool withMean) {
  for (size_t i = 0; i < joiningNames.size(); ++i)
    if (joiningNames[i] == name && (withMean || Joining(i) != Joining::Mean))
      return Joining(i);
  return std::nullopt;
}

/// Integers wrap; the extremes of floats are NaN when either side is.
template <typename W>
W joinWide(Joining joining, W old, W update) {
  constexpr bool isInteger = std::is_integral_v<W>;
  bool takesUpdate = false;
  switch (joining) {
  case Joining::Update:
    return update;
  case Joining::Add:
  case Joining::Mean: {
    W sum = isInteger ? W(uint64_t(old) + uint64_t(update)) : W(old + update);
    return joining == Joining::Mean ? W(sum / 2) : sum;
  }
  case Joining::Mul:
    return isInteger ? W(uint64_t(old) * uint64_t(update)) : W(old * update);
  case Joining::Min:
    takesUpdate = update < old || update != update;
    break;
  case Joining::Max:
    takesUpdate = update > old || update != update;
    break;
  }
  return takesUpdate ? update : old;
}

template <typename T>
T join(Joining joining, T old, T update) {
  return T(joinWide(joining, wide(old), wide(update)));
}

/// Row-major distances between neighbours along each dimension; meaningless, but defined, for empty
/// shapes whose other extents overflow.
std::vector<int64_t> stridesOf(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = int64_t(uint64_t(strides[i]) * uint64_t(shape[i]));
  return strides;
}

/// Moves `at` to the next position of `shape` in row-major order.
void advance(std::vector<int64_t>& at, const Shape& shape) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++at[i] < shape[i])
      return;
    at[i] = 0;
  }
}

/// An index made non-negative, or nothing when it lies outside.
std::optional<int64_t> placeOf(int64_t index, int64_t extent) {
  int64_t place = index < 0 ? index + extent : index;
  if (place < 0 || place >= extent)
    return std::nullopt;
  return place;
}

std::string outsideProblem(int64_t index, int64_t extent) {
  return fmt::format("the index {} lies outside an extent of {}", index, extent);
}

Tensor copyOf(const Tensor& tensor) {
  Tensor copy(tensor.dtype(), tensor.shape());
  if (copy.byteSize() > 0)
    std::memcpy(copy.bytes(), tensor.bytes(), copy.byteSize());
  return copy;
}

/// Joins runs of `run` updates into `to`: update run k goes to the elements from `places[k]` on.
std::string joinAt(Tensor& to, const Tensor& updates, std::span<const int64_t> places, size_t run,
                   Joining joining) {
  bool isBool = to.dtype().isBool();
  bool known = visitElementType(to.dtype(), [&](auto zero) {
    using T = decltype(zero);
    auto target = to.elements<T>();
    auto source = updates.elements<T>();
    for (size_t k = 0; k < places.size(); ++k)
      for (size_t i = 0; i < run; ++i) {
        T& element = target[size_t(places[k]) + i];
        element = join(joining, element, source[k * run + i]);
        if (isBool)
          element = wide(element) != Wide<T>(0) ? T(1) : T(0);
      }
  });
  return known ? "" : "the element type is not supported";
}

RelationResult scatterElementsRelation(const RelationCall& call) {
  int64_t given = call.attributes.integer("axis");
  auto axis = call.normalAxis(given, call.rank(0));
  if (!axis)
    return axisFailure(call, "axis", given);
  if (!joiningOf(call.attributes.text("reduction"), true))
    return call.failed(fmt::format("`reduction` is `{}`, but it must be one of {}",
                                   call.attributes.text("reduction"),
                                   fmt::join(joiningNames, ", ")));
  if (!call.dtype(1).isInteger())
    return call.failedAt(1, fmt::format("`indices` must hold integers, but its type is `{}`",
                                        typeText(call.operands[1])));
  if (auto problem = requireSameDType(call, 0, 2))
    return *problem;
  Dims data = call.shape(0), indices = call.shape(1), updates = call.shape(2);
  bool good = indices.size() == data.size() && updates.size() == data.size();
  for (size_t i = 0; good && i < data.size(); ++i) {
    const Dim* rest = call.types.subtract(data[i], indices[i]);
    bool larger = i != *axis && rest->isConstant() && rest->value < 0;
    good = !larger && meetDims(indices[i], updates[i]);
  }
  if (!good)
    return call.failedAt(
        1, fmt::format("indices of shape `{}` and updates of shape `{}` do not fit "
                       "data of shape `{}` along axis {}",
                       shapeText(indices), shapeText(updates), shapeText(data), *axis));
  RelationResult result = sameAsFirst(call);
  for (size_t i = 0; i < data.size(); ++i)
    if (i != *axis)
      requireAtLeast(result, call.types.subtract(data[i], indices[i]), 0);
  return result;
}

RelationResult scatterNdRelation(const RelationCall& call) {
  if (!joiningOf(call.attributes.text("mode"), false))
    return call.failed(
        fmt::format("`mode` is `{}`, but it must be one of update, add, mul, min, max",
                    call.attributes.text("mode")));
  if (!call.dtype(1).isInteger())
    return call.failedAt(1, fmt::format("`indices` must hold integers, but its type is `{}`",
                                        typeText(call.operands[1])));
  if (auto problem = requireSameDType(call, 0, 2))
    return *problem;
  Dims data = call.shape(0), indices = call.shape(1), updates = call.shape(2);
  if (indices.empty() || !indices[0]->isConstant() || indices[0]->value > int64_t(data.size()))
    return call.failedAt(1, fmt::format("the first extent of `indices` must be a number up to {}, "
                                        "but its shape is `{}`",
                                        data.size(), shapeText(indices)));
  DimVector expected(indices.begin() + 1, indices.end());
  expected.insert(expected.end(), data.begin() + ptrdiff_t(indices[0]->value), data.end());
  bool good = expected.size() == updates.size();
  for (size_t i = 0; good && i < expected.size(); ++i)
    good = meetDims(expected[i], updates[i]);
  if (!good)
    return call.failedAt(2, fmt::format("the updates must have the shape `{}`, but it is `{}`",
                                        shapeText(expected), shapeText(updates)));
  return sameAsFirst(call);
}

bool fits(const Tensor& data, const Tensor& indices, const Tensor& updates, size_t axis) {
  if (indices.rank() != data.rank() || indices.shape() != updates.shape())
    return false;
  for (size_t i = 0; i < data.rank(); ++i)
    if (i != axis && indices.shape()[i] > data.shape()[i])
      return false;
  return true;
}

KernelResult scatterElements(const KernelCall& call) {
  const Tensor &data = call.inputs[0], &indices = call.inputs[1], &updates = call.inputs[2];
  int64_t given = call.attributes.integer("axis");
  size_t axis = size_t(given < 0 ? given + int64_t(data.rank()) : given);
  auto index = integerValues(indices);
  if (!index || !fits(data, indices, updates, axis))
    return {{}, "the shapes of data, indices and updates do not fit"};
  std::vector<int64_t> strides = stridesOf(data.shape()), at(data.rank()), places;
  for (int64_t wanted : *index) {
    auto place = placeOf(wanted, data.shape()[axis]);
    if (!place)
      return {{}, outsideProblem(wanted, data.shape()[axis])};
    int64_t flat = std::inner_product(at.begin(), at.end(), strides.begin(), int64_t(0));
    places.push_back(flat + (*place - at[axis]) * strides[axis]);
    advance(at, indices.shape());
  }
  Tensor result = copyOf(data);
  std::string problem =
      joinAt(result, updates, places, 1, *joiningOf(call.attributes.text("reduction"), true));
  return {{result}, problem};
}

KernelResult scatterNd(const KernelCall& call) {
  const Tensor &data = call.inputs[0], &indices = call.inputs[1], &updates = call.inputs[2];
  auto index = integerValues(indices);
  size_t depth = indices.rank() == 0 ? 0 : size_t(indices.shape()[0]);
  if (!index || indices.rank() == 0 || depth > data.rank())
    return {{}, "the shape of the indices does not fit the data"};
  auto count = runtime::elementCount(std::span(indices.shape()).subspan(1));
  auto run = runtime::elementCount(std::span(data.shape()).subspan(depth));
  if (updates.size() == 0)
    return {{copyOf(data)}, {}};
  if (!count || !run || *count == 0 || updates.size() / *count != *run ||
      updates.size() % *count != 0)
    return {{}, "the shape of the updates does not fit data and indices"};
  std::vector<int64_t> strides = stridesOf(data.shape()), places(size_t(*count), 0);
  for (size_t m = 0; m < depth; ++m)
    for (size_t k = 0; k < places.size(); ++k) {
      int64_t wanted = (*index)[m * places.size() + k];
      auto place = placeOf(wanted, data.shape()[m]);
      if (!place)
        return {{}, outsideProblem(wanted, data.shape()[m])};
      places[k] += *place * strides[m];
    }
  Tensor result = copyOf(data);
  std::string problem = joinAt(result, updates, places, size_t(*run),
                               *joiningOf(call.attributes.text("mode"), false));
  return {{result}, problem};
}

/// The pieces that the gradients of both operators are made of, as text.
struct ScatterTexts {
  Joining joining;
  std::string dtype;
  /// `{}` stands for the tensor to read at the indices.
  std::string (*gathered)(const RelationCall& call, std::string_view tensor);
  /// The operator again, on other data and updates.
  std::string (*scattered)(const RelationCall& call, std::string_view data,
                           std::string_view updates);
};

std::string gatheredElements(const RelationCall& call, std::string_view tensor) {
  size_t axis = *call.normalAxis(call.attributes.integer("axis"), call.rank(0));
  std::vector<size_t> cut;
  for (size_t i = 0; i < call.rank(0); ++i)
    if (i != axis && call.shape(0)[i] != call.shape(1)[i])
      cut.push_back(i);
  std::string source(tensor);
  if (!cut.empty())
    source = fmt::format("slice_like({}, %indices, axes=[{}])", tensor, fmt::join(cut, ", "));
  return fmt::format("gather({}, cast(%indices, dtype=\"int64\"), axis={})", source, axis);
}

std::string scatteredElements(const RelationCall& call, std::string_view data,
                              std::string_view updates) {
  return fmt::format("scatter_elements({}, %indices, {}, axis={}, reduction=\"{}\", "
                     "attrs_type_key=\"relay.attrs.ScatterElementsAttrs\")",
                     data, updates, call.attributes.integer("axis"),
                     call.attributes.text("reduction"));
}

std::string gatheredSlices(const RelationCall&, std::string_view tensor) {
  return fmt::format("gather_nd({}, %indices)", tensor);
}

std::string scatteredSlices(const RelationCall& call, std::string_view data,
                            std::string_view updates) {
  return fmt::format("scatter_nd({}, %indices, {}, mode=\"{}\", "
                     "attrs_type_key=\"relay.attrs.ScatterNDAttrs\")",
                     data, updates, call.attributes.text("mode"));
}

std::string scatterGradient(const RelationCall& call, const ScatterTexts& texts) {
  std::string cotangent = texts.gathered(call, "%cotangent");
  switch (texts.joining) {
  case Joining::Update:
    return fmt::format("({}, {}, {})", texts.scattered(call, "%cotangent", "zeros_like(%updates)"),
                       "None", cotangent);
  case Joining::Add:
    return fmt::format("(%cotangent, None, {})", cotangent);
  case Joining::Mul:
    return fmt::format("(%cotangent * {}, None, divide({}, %updates))",
                       texts.scattered(call, "ones_like(%data)", "%updates"),
                       texts.gathered(call, "(%cotangent * %result)"));
  case Joining::Mean:
    return fmt::format("(%cotangent * {}, None, {} * cast(0.5f, dtype=\"{}\"))",
                       texts.scattered(call, "ones_like(%data)", "zeros_like(%updates)"), cotangent,
                       texts.dtype);
  case Joining::Min:
  case Joining::Max:
    break;
  }
  return fmt::format("(where(equal(%result, %data), %cotangent, zeros_like(%cotangent)), None, "
                     "where(equal({}, %updates), {}, zeros_like(%updates)))",
                     texts.gathered(call, "%result"), cotangent);
}

std::string scatterElementsGradient(const RelationCall& call) {
  return scatterGradient(call,
                         {*joiningOf(call.attributes.text("reduction"), true),
                          runtime::dtypeName(call.dtype(0)), gatheredElements, scatteredElements});
}

std::string scatterNdGradient(const RelationCall& call) {
  return scatterGradient(call,
                         {*joiningOf(call.attributes.text("mode"), false),
                          runtime::dtypeName(call.dtype(0)), gatheredSlices, scatteredSlices});
}

constexpr OperandRow operands[] = {{"data", "the tensor to write into a copy of"},
                                   {"indices", "the positions to write at"},
                                   {"updates", "what to write"}};

constexpr AttributeRow elementsAttributes[] = {
    {"axis", AttributeKind::Int, "0", "the dimension that the indices are positions in", false,
     true},
    {"reduction", AttributeKind::String, "\"update\"",
     "how an update joins what is there: update, add, mul, mean, min, max"}};
constexpr AttributeRow ndAttributes[] = {
    {"mode", AttributeKind::String, "\"update\"",
     "how an update joins what is there: update, add, mul, min, max"}};

constexpr Example elementsExamples[] = {
    {"scatter_elements([1f, 2f, 3f], [2, 0], [9f, 8f], "
     "attrs_type_key=\"relay.attrs.ScatterElementsAttrs\")",
     "[8f, 2f, 9f]"},
    {"scatter_elements([[1f, 2f], [3f, 4f]], [[1, 1], [0, -1]], [[1f, 2f], [3f, 4f]], axis=1, "
     "reduction=\"add\", attrs_type_key=\"relay.attrs.ScatterElementsAttrs\")",
     "[[1f, 5f], [6f, 8f]]"}};
constexpr Example ndExamples[] = {
    {"scatter_nd([[1f, 2f], [3f, 4f]], [[0, 1], [1, 1]], [8f, 9f], "
     "attrs_type_key=\"relay.attrs.ScatterNDAttrs\")",
     "[[1f, 8f], [3f, 9f]]"},
    {"scatter_nd([[1, 2], [3, 4]], [[1, 1]], [[1, 1], [2, 2]], mode=\"add\", "
     "attrs_type_key=\"relay.attrs.ScatterNDAttrs\")",
     "[[1, 2], [6, 7]]"}};

constexpr OperatorRow rows[] = {
    {.name = "scatter_elements",
     .doc = "Writes single elements at positions along a dimension.",
     .details =
         "For axis 0, result[indices[i, j], j] is joined with updates[i, j]. `mean` halves "
         "the sum with each update. The gradients of `update` and `mean` with respect to the "
         "updates assume that no position repeats.",
     .operands = operands,
     .attributes = elementsAttributes,
     .attributesKey = "relay.attrs.ScatterElementsAttrs",
     .relation = scatterElementsRelation,
     .kernel = scatterElements,
     .gradient = GradientBuilder{scatterElementsGradient},
     .examples = elementsExamples,
     .unregisteredAttributes = true},
    {.name = "scatter_nd",
     .doc = "Writes slices at positions that are tuples along the first dimension of the indices.",
     .details = "result[indices[0, y...], ..., indices[m - 1, y...]] is joined with updates[y...]. "
                "The gradient of `update` with respect to the updates assumes that no position "
                "repeats.",
     .operands = operands,
     .attributes = ndAttributes,
     .attributesKey = "relay.attrs.ScatterNDAttrs",
     .relation = scatterNdRelation,
     .kernel = scatterNd,
     .gradient = GradientBuilder{scatterNdGradient},
     .examples = ndExamples,
     .unregisteredAttributes = true},
};

} // namespace

OperatorFamily scatterFamily() {
  return rows;
}

} // namespace stdlib
