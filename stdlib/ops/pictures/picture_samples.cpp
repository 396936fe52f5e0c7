// Each dimension of the pictures has an axis of taps in front of the shape of the samples, so that
// broadcasting makes the products of taps.
#include "stdlib/ops/pictures/picture_samples.h"

#include <numeric>

namespace stdlib {

using lang::Scalar;
using tensor::ScalarFunction;

Scalar floorOf(Scalar a) {
  return lang::apply(ScalarFunction::Floor, {a});
}
Scalar ceilOf(Scalar a) {
  return lang::apply(ScalarFunction::Ceil, {a});
}
Scalar roundOf(Scalar a) {
  return lang::apply(ScalarFunction::Round, {a});
}
Scalar absOf(Scalar a) {
  return lang::apply(ScalarFunction::Abs, {a});
}
Scalar roundEvenOf(Scalar a) {
  return lang::apply(ScalarFunction::RoundEven, {a});
}
Term floorOf(const Term& a) {
  return map("floor", a);
}
Term ceilOf(const Term& a) {
  return map("ceil", a);
}
Term roundOf(const Term& a) {
  return map("round", a);
}
Term absOf(const Term& a) {
  return map("abs", a);
}
Term roundEvenOf(const Term& a) {
  Term isHalf = absOf(a - map("trunc", a)) == 0.5;
  return where(isHalf, roundOf(a / 2.0) * 2.0, roundOf(a));
}
Term select(const Term& condition, const Term& then, const Term& otherwise) {
  return where(condition, then, otherwise);
}

Taps<Term> withSlopes(Taps<Term> taps) {
  Term one = onesLike(taps.weights[0]);
  taps.slopes = {-one, one};
  return taps;
}

runtime::DType wideFloat(runtime::DType a, runtime::DType b) {
  return a == runtime::Float64 || b == runtime::Float64 ? runtime::Float64 : runtime::Float32;
}

namespace {

/// One tensor of the taps of a dimension, its axis the one of that dimension among `ways`.
std::optional<Term> spread(const std::vector<Term>& taps, size_t line, size_t ways) {
  if (taps.empty())
    return std::nullopt;
  Term all = taps.size() == 1 ? expandDims(taps[0], 0) : stacked(taps, 0);
  return expandDims(expandDims(all, 1, ways - 1 - line), 0, line);
}

/// The product of the weights of all dimensions; of one of them the slopes, if it is named.
std::optional<Term> product(const PictureSamples& samples,
                            std::optional<size_t> sloping = std::nullopt) {
  std::optional<Term> all;
  for (size_t i = 0; i < samples.weights.size(); ++i) {
    const auto& factor = i == sloping ? samples.slopes[i] : samples.weights[i];
    if (factor)
      all = all ? *all * *factor : *factor;
  }
  return all;
}

/// Weights for all channels of what they weigh.
Term forChannels(const Term& weights, runtime::DType dtype) {
  return expandDims(castTo(weights, dtype), weights.rank());
}

std::vector<size_t> tapAxes(const PictureSamples& samples) {
  std::vector<size_t> axes(samples.weights.size());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

} // namespace

PictureSamples samplesOf(const Term& pictures, const Term& picture,
                         const std::vector<Taps<Term>>& lines, const std::optional<Term>& isRead) {
  size_t ways = lines.size();
  Term table = padded(asTable(pictures), {{1, 0}, {0, 0}});
  PictureSamples samples{pictures, table, expandDims(picture, 0, ways), {}, {}};
  std::optional<Term> isInside;
  if (isRead)
    isInside = expandDims(*isRead, 0, ways);
  for (size_t i = 0; i < ways; ++i) {
    Term place = *spread(lines[i].places, i, ways), extent = extentOf(pictures, 1 + i);
    Term isIn = place >= 0.0 && place < castTo(extent, place.dtype());
    isInside = isInside ? *isInside && isIn : isIn;
    samples.rows = samples.rows * extent + castTo(place, runtime::Int64);
    samples.weights.push_back(spread(lines[i].weights, i, ways));
    samples.slopes.push_back(spread(lines[i].slopes, i, ways));
  }
  samples.rows = maskedBy(*isInside, samples.rows + 1.0);
  return samples;
}

Term valuesOf(const PictureSamples& samples) {
  Term read = take(samples.table, samples.rows, 0);
  if (auto weights = product(samples))
    read = read * forChannels(*weights, read.dtype());
  return sum(read, tapAxes(samples));
}

Term toPictures(const PictureSamples& samples, const Term& cotangent) {
  Term parts = expandDims(castTo(cotangent, samples.table.dtype()), 0, samples.weights.size());
  if (auto weights = product(samples))
    parts = parts * forChannels(*weights, parts.dtype());
  Term sums = addedRows(parts, samples.rows, samples.table);
  return reshapedLike(sliced(sums, 0, 1, toEnd), samples.pictures);
}

std::vector<Term> toPositions(const PictureSamples& samples, const Term& cotangent) {
  Term read = take(samples.table, samples.rows, 0);
  Term parts = expandDims(castTo(cotangent, read.dtype()), 0, samples.weights.size());
  Term dots = castTo(sum(read * parts, {read.rank() - 1}), runtime::Float64);
  std::vector<Term> given;
  for (size_t i = 0; i < samples.weights.size(); ++i)
    given.push_back(sum(dots * *product(samples, i), tapAxes(samples)));
  return given;
}

Term asTable(const Term& a) {
  Term table = a;
  while (table.rank() > 2)
    table = reshaped(table, {-3, -2});
  return table;
}

Term addedRows(const Term& cotangent, const Term& rows, const Term& table) {
  return table.rule().call("scatter_nd", {zerosLike(table), expandDims(rows, 0), cotangent},
                           {{"mode", "add"}});
}

} // namespace stdlib
