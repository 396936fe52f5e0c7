// Anchors are moved by what was predicted, and the best kept.
#include "runtime/natives/proposal.h"

#include "runtime/natives/elements.h"
#include "runtime/natives/score_order.h"
#include "runtime/natives/tensor_data.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace natives {

namespace {

/// A box by its corners, both of which belong to it.
template <typename T>
struct Box {
  std::array<T, 4> at;
  T score = 0;

  T width() const { return at[2] - at[0] + T(1); }
  T height() const { return at[3] - at[1] + T(1); }
};

/// The box of one anchor at the first place, for a ratio of its height to its width.
std::array<double, 4> anchorOf(double ratio, double scale, double stride) {
  double middle = 0.5 * (stride - 1);
  double width = std::floor(std::sqrt(std::floor(stride * stride / ratio)) + 0.5) * scale;
  double height = std::floor(width / scale * ratio + 0.5) * scale;
  return {middle - 0.5 * (width - 1), middle - 0.5 * (height - 1), middle + 0.5 * (width - 1),
          middle + 0.5 * (height - 1)};
}

/// An anchor moved and stretched by what was predicted.
template <typename T>
Box<T> moved(const Box<T>& anchor, const std::array<T, 4>& deltas, bool addsDeltas) {
  Box<T> box = anchor;
  if (addsDeltas) {
    for (size_t i = 0; i < 4; ++i)
      box.at[i] += deltas[i];
    return box;
  }
  const T extents[2] = {anchor.width(), anchor.height()};
  for (size_t i = 0; i < 2; ++i) {
    T middle = anchor.at[i] + T(0.5) * (extents[i] - T(1));
    middle = deltas[i] * extents[i] + middle;
    T half = T(0.5) * (std::exp(deltas[i + 2]) * extents[i] - T(1));
    box.at[i] = middle - half;
    box.at[i + 2] = middle + half;
  }
  return box;
}

template <typename T>
T overlapOf(const Box<T>& a, const Box<T>& b) {
  auto common = [&](size_t i) {
    return std::max(T(0), std::min(a.at[i + 2], b.at[i + 2]) - std::max(a.at[i], b.at[i]) + T(1));
  };
  T shared = common(0) * common(1);
  return shared / (a.width() * a.height() + b.width() * b.height() - shared);
}

/// The data of one call: scores, deltas and pictures, and their sizes.
template <typename T>
struct Predictions {
  std::vector<T> scores, deltas, pictures;
  int64_t anchors, height, width;

  int64_t perPicture() const { return height * width * anchors; }
};

template <typename T>
std::vector<T> readAs(const Tensor& tensor) {
  std::vector<double> values = readReals(tensor);
  return {values.begin(), values.end()};
}

/// A box inside its picture. One that is too small, or has no place in the picture, is worth
/// nothing.
template <typename T>
Box<T> predictedBox(const Predictions<T>& all, const ProposalParameters& parameters, int64_t batch,
                    int64_t index) {
  int64_t k = index % all.anchors, place = index / all.anchors;
  int64_t y = place / all.width, x = place % all.width, area = all.height * all.width;
  std::array<double, 4> base =
      anchorOf(parameters.ratios[size_t(k) / parameters.scales.size()],
               parameters.scales[size_t(k) % parameters.scales.size()], double(parameters.stride));
  Box<T> anchor{};
  std::array<T, 4> deltas;
  for (size_t i = 0; i < 4; ++i) {
    anchor.at[i] = T(base[i]) + T((i % 2 ? y : x) * parameters.stride);
    deltas[i] = all.deltas[size_t(((batch * all.anchors + k) * 4 + int64_t(i)) * area + place)];
  }
  Box<T> box = moved(anchor, deltas, parameters.addsDeltas);
  const T* picture = &all.pictures[size_t(batch * 3)];
  for (size_t i = 0; i < 4; ++i)
    box.at[i] = std::max(std::min(box.at[i], picture[i % 2 ? 0 : 1] - T(1)), T(0));
  box.score = all.scores[size_t((batch * 2 * all.anchors + all.anchors + k) * area + place)];
  if (!(T(y) < std::trunc(picture[0] / T(parameters.stride))) ||
      !(T(x) < std::trunc(picture[1] / T(parameters.stride))))
    box.score = -1;
  T least = picture[2] * T(parameters.leastSize);
  if (box.width() < least || box.height() < least) {
    for (size_t i = 0; i < 4; ++i)
      box.at[i] += (i < 2 ? -least : least) / T(2);
    box.score = -1;
  }
  return box;
}

/// The best boxes of a picture that do not overlap a better one; `most` at the utmost.
template <typename T>
std::vector<Box<T>> bestBoxes(const std::vector<Box<T>>& boxes, int64_t looked, double threshold,
                              int64_t most) {
  std::vector<int64_t> order =
      byScore(int64_t(boxes.size()), [&](int64_t i) { return double(boxes[size_t(i)].score); });
  if (looked > 0 && looked < int64_t(order.size()))
    order.resize(size_t(looked));
  std::vector<Box<T>> kept;
  for (int64_t i : order) {
    const Box<T>& box = boxes[size_t(i)];
    if (int64_t(kept.size()) == most)
      break;
    if (std::ranges::none_of(
            kept, [&](const Box<T>& better) { return overlapOf(better, box) > T(threshold); }))
      kept.push_back(box);
  }
  return kept;
}

template <typename T>
void propose(const NativeCall& call, const ProposalParameters& parameters, Tensor& result) {
  const Shape& shape = call.inputs[0].shape();
  Predictions<T> all{readAs<T>(call.inputs[0]),
                     readAs<T>(call.inputs[1]),
                     readAs<T>(call.inputs[2]),
                     shape[1] / 2,
                     shape[2],
                     shape[3]};
  for (int64_t batch = 0; batch < shape[0]; ++batch) {
    std::vector<Box<T>> boxes;
    for (int64_t i = 0; i < all.perPicture(); ++i)
      boxes.push_back(predictedBox(all, parameters, batch, i));
    std::vector<Box<T>> kept =
        bestBoxes(boxes, parameters.before, parameters.threshold, parameters.after);
    for (int64_t i = 0; i < parameters.after && !kept.empty(); ++i) {
      int64_t row = (batch * parameters.after + i) * 5;
      writeReal(result, row, double(batch));
      for (size_t k = 0; k < 4; ++k)
        writeReal(result, row + 1 + int64_t(k), double(kept[size_t(i) % kept.size()].at[k]));
    }
  }
}

bool areFactors(const std::vector<double>& factors) {
  return !factors.empty() && factors.size() <= mostAnchors &&
         std::ranges::all_of(factors, [](double x) { return x > 0 && std::isfinite(x); });
}

bool isFloat(const NativeType& type, size_t rank) {
  return type.dtype.isFloat() && isKnown(type.dtype) && type.rank == rank;
}

NativeResults proposalResults(NativeTypes inputs, const ProposalParameters& parameters) {
  bool isGood = inputs.size() == 3 && isFloat(inputs[0], 4) && isFloat(inputs[1], 4) &&
                isFloat(inputs[2], 2) && inputs[1].dtype == inputs[0].dtype &&
                inputs[2].dtype == inputs[0].dtype && areFactors(parameters.scales) &&
                areFactors(parameters.ratios) && parameters.stride > 0 &&
                parameters.stride <= mostStride && parameters.after >= 0;
  return isGood ? NativeResults({{inputs[0].dtype, 2}}) : std::nullopt;
}

/// Whether there are scores, deltas and pictures for all anchors.
bool proposalFits(const NativeCall& call, const ProposalParameters& parameters) {
  const Shape& scores = call.inputs[0].shape();
  auto anchors = int64_t(parameters.scales.size() * parameters.ratios.size());
  return scores[1] == 2 * anchors &&
         call.inputs[1].shape() == Shape{scores[0], 4 * anchors, scores[2], scores[3]} &&
         call.inputs[2].shape() == Shape{scores[0], 3};
}

NativeFault runProposal(const NativeCall& call, const ProposalParameters& parameters) {
  if (!proposalFits(call, parameters))
    return {NativeFaultCode::Shapes};
  const Tensor& scores = call.inputs[0];
  Tensor& result = call.outputs.emplace_back(
      scores.dtype(), Shape{extentTimes(scores.shape()[0], parameters.after), 5});
  scores.dtype() == runtime::Float64 ? propose<double>(call, parameters, result)
                                     : propose<float>(call, parameters, result);
  return {};
}

/// The overlap of two boxes (top, left, bottom, right) over their union; 0 if one is empty.
float cornerOverlap(const float* a, const float* b) {
  float areaA = (a[2] - a[0]) * (a[3] - a[1]), areaB = (b[2] - b[0]) * (b[3] - b[1]);
  if (!(areaA > 0 && areaB > 0))
    return 0;
  auto common = [&](size_t i) {
    return std::max(std::min(a[i + 2], b[i + 2]) - std::max(a[i], b[i]), 0.0f);
  };
  float shared = common(0) * common(1);
  return shared / (areaA + areaB - shared);
}

struct Detection {
  int64_t box, type;
  float score;
};

/// The boxes of one picture that one class keeps, the best first; `scores` are `step` apart.
std::vector<Detection> detectionsOf(int64_t type, const float* boxes, const float* scores,
                                    int64_t step, int64_t count,
                                    const RegularParameters& parameters) {
  std::vector<Detection> found, kept;
  for (int64_t i = 0; i < count; ++i)
    if (scores[i * step] >= parameters.score)
      found.push_back({i, type, scores[i * step]});
  std::ranges::stable_sort(found, std::greater<>(), &Detection::score);
  for (const Detection& detection : found) {
    if (int64_t(kept.size()) == parameters.perClass)
      break;
    if (std::ranges::none_of(kept, [&](const Detection& better) {
          return cornerOverlap(boxes + 4 * better.box, boxes + 4 * detection.box) >
                 parameters.overlap;
        }))
      kept.push_back(detection);
  }
  return kept;
}

NativeResults detectedResults(NativeTypes inputs, const RegularParameters& parameters) {
  bool isGood = inputs.size() == 2 && isFloat(inputs[0], 3) && isFloat(inputs[1], 3) &&
                parameters.perClass >= 0 && parameters.most >= 0 && parameters.classes >= 0;
  const NativeType row{runtime::Float32, 2};
  return isGood ? NativeResults({{runtime::Float32, 3}, row, row, {runtime::Int32, 1}})
                : std::nullopt;
}

bool detectionFits(const NativeCall& call, const RegularParameters& parameters) {
  const Shape &boxes = call.inputs[0].shape(), &scores = call.inputs[1].shape();
  return agree(boxes, scores, 0, 2) && boxes[2] == 4 && scores[2] >= parameters.classes;
}

NativeFault runRegular(const NativeCall& call, const RegularParameters& parameters) {
  if (!detectionFits(call, parameters))
    return {NativeFaultCode::Shapes};
  const Shape& shape = call.inputs[1].shape();
  int64_t batches = shape[0], count = shape[1], width = shape[2], most = parameters.most;
  std::vector<float> boxes = readAs<float>(call.inputs[0]), scores = readAs<float>(call.inputs[1]);
  Tensor corners(runtime::Float32, {batches, most, 4}), types(runtime::Float32, {batches, most});
  Tensor best(runtime::Float32, {batches, most}), counts(runtime::Int32, {batches});
  for (int64_t batch = 0; batch < batches; ++batch) {
    const float* first = boxes.data() + batch * count * 4;
    std::vector<Detection> all;
    for (int64_t type = 0; type < parameters.classes && count > 0; ++type) {
      int64_t column = width - parameters.classes + type;
      auto found = detectionsOf(type, first, scores.data() + batch * count * width + column, width,
                                count, parameters);
      all.insert(all.end(), found.begin(), found.end());
      std::ranges::stable_sort(all, std::greater<>(), &Detection::score);
      if (int64_t(all.size()) > most)
        all.resize(size_t(most));
    }
    for (size_t i = 0; i < all.size(); ++i) {
      size_t to = size_t(batch * most) + i;
      std::copy_n(first + 4 * all[i].box, 4, corners.elements<float>().data() + 4 * to);
      types.elements<float>()[to] = float(all[i].type);
      best.elements<float>()[to] = all[i].score;
    }
    counts.elements<int32_t>()[size_t(batch)] = int32_t(all.size());
  }
  call.outputs = {corners, types, best, counts};
  return {};
}

} // namespace

constinit const NativeOf<ProposalParameters> proposeBoxes =
    native<ProposalParameters, proposalResults, runProposal>("proposeBoxes");
constinit const NativeOf<RegularParameters> detectBoxes =
    native<RegularParameters, detectedResults, runRegular>("detectBoxes");

} // namespace natives
