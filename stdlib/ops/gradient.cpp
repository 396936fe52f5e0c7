// Terms of gradient rules: each function emits one call or a few.
#include "stdlib/ops/gradient.h"

#include "stdlib/ops/layout.h"

#include <array>
#include <numeric>

namespace stdlib {

using lang::Dim;
using lang::DimMatch;

namespace {

Term zip(std::string_view op, const Term& a, const Term& b) {
  return a.rule().call(op, {a, b});
}

} // namespace

Term number(const Term& like, double value) {
  return like.rule().number(like.dtype(), value);
}

Term operator+(const Term& a, const Term& b) {
  return zip("add", a, b);
}
Term operator-(const Term& a, const Term& b) {
  return zip("subtract", a, b);
}
Term operator*(const Term& a, const Term& b) {
  return zip("multiply", a, b);
}
Term operator/(const Term& a, const Term& b) {
  return zip("divide", a, b);
}
Term operator-(const Term& a) {
  return map("negative", a);
}
Term operator+(const Term& a, double b) {
  return a + number(a, b);
}
Term operator-(const Term& a, double b) {
  return a - number(a, b);
}
Term operator*(const Term& a, double b) {
  return a * number(a, b);
}
Term operator/(const Term& a, double b) {
  return a / number(a, b);
}
Term operator+(double a, const Term& b) {
  return number(b, a) + b;
}
Term operator-(double a, const Term& b) {
  return number(b, a) - b;
}
Term operator*(double a, const Term& b) {
  return number(b, a) * b;
}
Term operator/(double a, const Term& b) {
  return number(b, a) / b;
}
Term operator<(const Term& a, const Term& b) {
  return zip("less", a, b);
}
Term operator<=(const Term& a, const Term& b) {
  return zip("less_equal", a, b);
}
Term operator>(const Term& a, const Term& b) {
  return zip("greater", a, b);
}
Term operator>=(const Term& a, const Term& b) {
  return zip("greater_equal", a, b);
}
Term operator==(const Term& a, const Term& b) {
  return zip("equal", a, b);
}
Term operator<(const Term& a, double b) {
  return a < number(a, b);
}
Term operator<=(const Term& a, double b) {
  return a <= number(a, b);
}
Term operator>(const Term& a, double b) {
  return a > number(a, b);
}
Term operator>=(const Term& a, double b) {
  return a >= number(a, b);
}
Term operator==(const Term& a, double b) {
  return a == number(a, b);
}

Term operator&&(const Term& a, const Term& b) {
  return zip("logical_and", a, b);
}

Term map(std::string_view op, const Term& a) {
  return a.rule().call(op, {a});
}
Term exp(const Term& a) {
  return map("exp", a);
}
Term log(const Term& a) {
  return map("log", a);
}
Term sqrt(const Term& a) {
  return map("sqrt", a);
}
Term power(const Term& a, const Term& b) {
  return zip("power", a, b);
}
Term maximum(const Term& a, const Term& b) {
  return zip("maximum", a, b);
}
Term minimum(const Term& a, const Term& b) {
  return zip("minimum", a, b);
}
Term where(const Term& condition, const Term& then, const Term& otherwise) {
  return then.rule().call("where", {condition, then, otherwise});
}
Term maskedBy(const Term& condition, const Term& then) {
  return where(condition, then, number(then, 0));
}
Term unlessMasked(const Term& condition, const Term& otherwise) {
  return where(condition, number(otherwise, 0), otherwise);
}
Term zerosLike(const Term& like) {
  return map("zeros_like", like);
}
Term onesLike(const Term& like) {
  return map("ones_like", like);
}
Term castTo(const Term& a, runtime::DType dtype) {
  return a.dtype() == dtype ? a : a.rule().call("cast", {a}, {{"dtype", dtype}});
}

Term sum(const Term& a, const std::vector<size_t>& axes, bool keepsDims) {
  return axes.empty() ? a : a.rule().call("sum", {a}, {{"axis", axes}, {"keepdims", keepsDims}});
}

Term sumOfAll(const Term& a) {
  return a.rank() == 0 ? a : map("sum", a);
}

Term mean(const Term& a, const std::vector<size_t>& axes, bool keepsDims) {
  return axes.empty() ? a : a.rule().call("mean", {a}, {{"axis", axes}, {"keepdims", keepsDims}});
}

std::vector<size_t> allAxes(size_t rank) {
  return allAxesBut(rank, rank);
}

std::vector<size_t> allAxesBut(size_t axis, size_t rank) {
  std::vector<size_t> axes;
  for (size_t i = 0; i < rank; ++i)
    if (i != axis)
      axes.push_back(i);
  return axes;
}

Term summedExcept(const Term& a, size_t axis) {
  return sum(a, allAxesBut(axis, a.rank()));
}

Term alongAxis(const Term& vector, size_t axis, size_t rank) {
  return expandDims(vector, 1, rank - axis - 1);
}

Term expandDims(const Term& a, size_t axis, size_t count) {
  return count == 0 ? a
                    : a.rule().call("expand_dims", {a}, {{"axis", axis}, {"num_newaxis", count}});
}

Term transposed(const Term& a, const std::vector<size_t>& order) {
  return std::ranges::is_sorted(order) ? a : a.rule().call("transpose", {a}, {{"axes", order}});
}

Term inLayout(const Term& a, const Layout& from, const Layout& to) {
  if (from == to)
    return a;
  return a.rule().call("layout_transform", {a},
                       {{"src_layout", layoutText(from)}, {"dst_layout", layoutText(to)}});
}

namespace {

/// The number of elements where it is known.
std::optional<int64_t> elementCount(lang::Dims shape) {
  int64_t count = 1;
  for (const Dim* dim : shape)
    if (!dim->isConstant() || __builtin_mul_overflow(count, dim->value, &count))
      return std::nullopt;
  return count;
}

} // namespace

Term reshapedLike(const Term& a, const Term& like) {
  auto has = elementCount(a.shape()), wanted = elementCount(like.shape());
  // A call that fails for all data has any gradient.
  if (has && wanted && *has != *wanted)
    return castTo(zerosLike(like), a.dtype());
  return a.type() == like.type() && std::ranges::none_of(a.shape(), &Dim::isAny)
             ? a
             : a.rule().call("reshape_like", {a, like});
}

Term reshaped(const Term& a, const std::vector<int64_t>& shape) {
  return a.rule().call("reshape", {a}, {{"newshape", shape}});
}

Term asRows(Term a) {
  if (a.rank() == 1)
    return expandDims(a, 0);
  while (a.rank() > 2) {
    std::vector<int64_t> shape(a.rank() - 1, 0);
    shape.front() = -3;
    a = reshaped(a, shape);
  }
  return a;
}

Term broadcastLike(const Term& a, const Term& like) {
  return a.type() == like.type() && std::ranges::none_of(a.shape(), &Dim::isAny)
             ? a
             : zip("broadcast_to_like", a, like);
}

Term slicedLike(const Term& a, const Term& like, const std::vector<size_t>& axes) {
  auto fits = [&](size_t i) { return lang::matchDims(a.dim(i), like.dim(i)) == DimMatch::Same; };
  return std::ranges::all_of(axes, fits) ? a
                                         : a.rule().call("slice_like", {a, like}, {{"axes", axes}});
}

Term take(const Term& a, const Term& indices, size_t axis) {
  return a.rule().call("take", {a, indices}, {{"axis", axis}});
}

Term partAt(const Term& a, int64_t position, size_t axis) {
  return take(a, a.rule().number(runtime::Int64, double(position)), axis);
}

Term concatenated(const std::vector<Term>& parts, size_t axis) {
  lang::TermWriter& d = parts.front().rule();
  return d.call("concatenate", {d.tuple(parts)}, {{"axis", axis}});
}

Term stacked(const std::vector<Term>& parts, size_t axis) {
  lang::TermWriter& d = parts.front().rule();
  return d.call("stack", {d.tuple(parts)}, {{"axis", axis}});
}

Term reversed(const Term& a, size_t axis) {
  return a.rule().call("reverse", {a}, {{"axis", axis}});
}

Term sliced(const Term& a, size_t axis, int64_t begin, int64_t end) {
  return a.rule().call("strided_slice", {a},
                       {{"begin", std::vector{begin}},
                        {"end", std::vector{end}},
                        {"strides", std::vector{1}},
                        {"axes", std::vector{axis}}});
}

Term padded(const Term& a, const std::vector<std::pair<int64_t, int64_t>>& widths, double value) {
  std::vector<std::array<lang::AttributeValue, 2>> pairs;
  for (auto [before, after] : widths)
    pairs.push_back({lang::intAttribute(before), lang::intAttribute(after)});
  std::vector<lang::AttributeValue> items;
  for (const auto& pair : pairs)
    items.push_back(lang::listAttribute(pair));
  return a.rule().call("nn.pad", {a, number(a, value)},
                       {{"pad_width", lang::listAttribute(items)}});
}

Term setAtStart(const Term& to, const Term& a) {
  if (a.rank() == 0)
    return a;
  Term begin = integers(a.rule(), std::vector<int64_t>(a.rank(), 0));
  Term strides = integers(a.rule(), std::vector<int64_t>(a.rank(), 1));
  return a.rule().call("strided_set", {to, a, begin, shapeVector(a), strides});
}

Term placedAtStart(const Term& a, const Term& like) {
  return setAtStart(zerosLike(like), a);
}

Term runningSum(const Term& a, size_t axis, bool isExclusive) {
  return a.rule().call("cumsum", {a}, {{"axis", axis}, {"exclusive", isExclusive}});
}

Term extentOf(const Term& a, size_t axis) {
  if (a.dim(axis)->isConstant())
    return a.rule().number(runtime::Int64, double(a.dim(axis)->value));
  return partAt(shapeVector(a), int64_t(axis), 0);
}

Term shapeVector(const Term& a) {
  std::vector<int64_t> extents;
  for (const Dim* dim : a.shape())
    if (dim->isConstant())
      extents.push_back(dim->value);
  return extents.size() == a.rank() ? integers(a.rule(), extents)
                                    : a.rule().call("shape_of", {a}, {{"dtype", "int64"}});
}

Term countOf(const Term& a, const std::vector<size_t>& axes) {
  double known = 1;
  std::optional<Term> open;
  for (size_t axis : axes) {
    if (a.dim(axis)->isConstant())
      known *= double(a.dim(axis)->value);
    else
      open = open ? *open * extentOf(a, axis) : extentOf(a, axis);
  }
  if (!open)
    return number(a, known);
  if (axes.size() == a.rank())
    return castTo(a.rule().call("ndarray_size", {a}, {{"dtype", "int64"}}), a.dtype());
  return castTo(known == 1 ? *open : *open * known, a.dtype());
}

Term positionsAlong(const Term& a, size_t axis) {
  constexpr int64_t longest = 64;
  if (a.dim(axis)->isConstant() && a.dim(axis)->value > longest) {
    Term ones = a.rule().call(
        "ones", {}, {{"shape", std::vector{a.dim(axis)->value}}, {"dtype", runtime::Int64}});
    return runningSum(ones, 0, true);
  }
  if (a.dim(axis)->isConstant()) {
    std::vector<int64_t> positions(size_t(a.dim(axis)->value));
    std::iota(positions.begin(), positions.end(), 0);
    return integers(a.rule(), positions);
  }
  // As many zeros, made of no elements where there are other dimensions.
  Term none = a.rank() == 1 ? zerosLike(a) : sliced(a, axis == 0 ? 1 : 0, 0, 0);
  Term ones = onesLike(castTo(summedExcept(none, axis), runtime::Int64));
  return runningSum(ones, 0, true);
}

Term integers(lang::TermWriter& d, const std::vector<int64_t>& values) {
  runtime::Tensor tensor(runtime::Int64, {int64_t(values.size())});
  std::ranges::copy(values, tensor.elements<int64_t>().begin());
  return d.constant(tensor);
}

Term placesLike(const Term& like) {
  Term ones = castTo(onesLike(reshaped(like, {-1})), runtime::Int64);
  return reshapedLike(runningSum(ones, 0, true), like);
}

Term addedAtPlaces(const Term& cotangent, const Term& places, const Term& like) {
  Term sums = like.rule().call(
      "scatter_elements",
      {zerosLike(reshaped(like, {-1})), reshaped(places, {-1}), reshaped(cotangent, {-1})},
      {{"axis", 0}, {"reduction", "add"}});
  return reshapedLike(sums, like);
}

std::vector<lang::Setting> sameAttributes(const GradientCall& d) {
  std::vector<lang::Setting> settings;
  const lang::Attributes& attributes = d.attributes();
  for (size_t i = 0; i < attributes.rows.size(); ++i)
    settings.emplace_back(attributes.rows[i].name, attributes.values[i]);
  return settings;
}

namespace {

/// The cotangent in the type of its operand, which may know less of its extents, or know them in
/// other words.
Term conformed(const Term& cotangent, const Term& operand) {
  auto isSame = [](const Dim* a, const Dim* b) {
    return lang::matchDims(a, b) == DimMatch::Same || a == b;
  };
  if (std::ranges::equal(cotangent.shape(), operand.shape(), isSame))
    return cotangent;
  return cotangent.rule().call("reshape_like", {cotangent, operand});
}

} // namespace

Term sumOf(GradientCall& d, size_t i) {
  auto sum = d.takeSum(i);
  if (sum)
    return *sum;
  return zerosLike(d.operand(i).type()->isTuple() ? d.field(i, 0) : d.operand(i));
}

Term jointPositions(const std::vector<Term>& positions) {
  if (positions.size() == 1)
    return expandDims(positions[0], 0);
  Term all = positions[0];
  for (size_t i = 1; i < positions.size(); ++i)
    all = all + positions[i];
  std::vector<Term> broadcast;
  for (const Term& each : positions)
    broadcast.push_back(broadcastLike(each, all));
  return stacked(broadcast, 0);
}

void give(GradientCall& d, size_t i, const Term& cotangent) {
  if (d.wants(i))
    d.to(i, conformed(cotangent, d.operand(i)));
}

void giveField(GradientCall& d, size_t i, size_t field, const Term& cotangent) {
  if (d.wants(i, field))
    d.toField(i, field, conformed(cotangent, d.field(i, field)));
}

void giveZeros(GradientCall& d) {
  for (size_t i = 0; i < d.operandCount(); ++i)
    if (d.wants(i))
      give(d, i, zerosLike(d.operand(i)));
}

void reshapeBack(GradientCall& d) {
  give(d, 0, reshapedLike(d.cotangent(), d.operand(0)));
}

Term summedLike(const Term& a, const Term& like) {
  if (a.rank() < like.rank())
    return a.rule().call("collapse_sum_like", {a, like});
  std::vector<size_t> leading(a.rank() - like.rank()), repeated;
  std::iota(leading.begin(), leading.end(), 0);
  for (size_t i = 0; i < like.rank(); ++i) {
    const Dim *from = like.dim(i), *to = a.dim(leading.size() + i);
    if (lang::matchDims(from, to) == DimMatch::Same)
      continue;
    if (!from->isConstant(1))
      return a.rule().call("collapse_sum_like", {a, like});
    repeated.push_back(i);
  }
  return sum(sum(a, leading), repeated, true);
}

void toBroadcast(GradientCall& d, size_t i, const Term& cotangent) {
  if (d.wants(i))
    give(d, i, summedLike(cotangent, d.operand(i)));
}

Term incoming(GradientCall& d, size_t field) {
  return d.hasCotangent(field) ? d.cotangent(field) : zerosLike(d.result(field));
}

} // namespace stdlib
