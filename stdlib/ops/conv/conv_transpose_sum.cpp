// The sums of transposed convolutions.
//
// With strides, elements of the result whose places leave the same rest by the strides meet the
// same taps, and no others: each such phase is a convolution of its own with these taps, and no
// product is with a zero. A few phases are a tensor each, many are dimensions of one tensor; then
// all have as many taps as the longest. Where taps are apart as well, the data is spread, zeros
// between its elements, and all is as without strides.
#include "stdlib/ops/common.h"
#include "stdlib/ops/conv/conv_call.h"
#include "stdlib/ops/conv/conv_forms.h"

#include <algorithm>

namespace stdlib {

namespace {

using namespace lang;

Layout withoutTiles(const Layout& layout) {
  Layout plain;
  std::ranges::copy_if(layout.dims, std::back_inserter(plain.dims), &LayoutDim::isPrimal);
  return plain;
}

/// The data with strides - 1 zeros between neighbours. `layout` is that of the data, and then that
/// of the answer.
TensorHandle spread(ComputeCall& call, const ConvAttributes& conv, TensorHandle data,
                    Layout& layout) {
  const auto& strides = conv.window.strides;
  if (std::ranges::all_of(strides, [](int64_t stride) { return stride == 1; }))
    return data;
  Layout from = layout;
  layout = withoutTiles(from);
  Extents shape = convertExtents(from, layout, data.shape());
  std::vector<int64_t> stepOf(layout.rank(), 1);
  for (size_t i = 0; i < conv.dims; ++i) {
    size_t dim = *layout.find(spatialAxes(conv.dims)[i]);
    stepOf[dim] = strides[i];
    shape[dim] = maximum((shape[dim] - 1.0) * double(strides[i]) + 1.0, call.integer(0));
  }
  return call.define(shape, [&](const Position& at) {
    Position source = at;
    std::optional<Scalar> isElement;
    for (size_t i = 0; i < at.size(); ++i) {
      if (stepOf[i] == 1)
        continue;
      Scalar fits = floorMod(at[i], stepOf[i]) == 0.0;
      isElement = isElement ? *isElement && fits : fits;
      source[i] = floorDivide(at[i], stepOf[i]);
    }
    return select(*isElement, data(convertPosition(layout, from, source)),
                  call.number(data.dtype(), 0));
  });
}

/// Data and weight at canonical positions.
struct Readers {
  std::function<Scalar(const Position&)> data, weight;
  /// How many channels of the data a group has.
  Scalar inputs;
};

/// Along a spatial dimension, what the places of a phase read. The kernel is run backwards, so that
/// the steps through the data are positive.
struct PhaseDim {
  int64_t stride;
  double dilation;
  Scalar taps, firstTap;
  /// Where the last tap of the first place reads.
  Scalar start;

  Scalar read(Scalar place, Scalar tap) const { return place + tap * dilation + start; }
  Scalar tapOf(Scalar tap) const { return (taps - 1.0 - tap) * double(stride) + firstTap; }
};

/// The phase of places that leave `rest`, with taps for a kernel of that extent.
PhaseDim phaseDim(const ConvAttributes& conv, size_t i, int64_t stride, Scalar rest,
                  Scalar kernel) {
  int64_t steps = conv.window.before[i] / stride, past = conv.window.before[i] % stride;
  PhaseDim phase{.stride = stride,
                 .dilation = double(conv.window.dilation[i]),
                 .taps = floorDivide(kernel + double(stride - 1), stride),
                 .firstTap = rest,
                 .start = number(rest, double(steps))};
  if (past != 0) {
    phase.firstTap = floorMod(rest + double(past), stride);
    phase.start = phase.start + floorDivide(rest + double(past), stride);
  }
  phase.start = phase.start - (phase.taps - 1.0) * phase.dilation;
  return phase;
}

/// The element at `at` of the result: its image, its channel in the group, its place in the phase.
Scalar transposedSum(ComputeCall& call, const Readers& readers, const std::vector<PhaseDim>& phases,
                     Scalar group, const Position& at) {
  Extents taps{readers.inputs};
  for (const PhaseDim& phase : phases)
    taps.push_back(phase.taps);
  return call.sumOver(taps, [&](const Position& tap) {
    Scalar input = group * readers.inputs + tap[0];
    Position from{at[0], input}, of{input, at[1]};
    for (size_t i = 0; i < phases.size(); ++i) {
      from.push_back(phases[i].read(at[2 + i], tap[1 + i]));
      of.push_back(phases[i].tapOf(tap[1 + i]));
    }
    return readers.data(from) * readers.weight(of);
  });
}

/// A transposed convolution by phases.
struct Phased {
  const ConvAttributes& conv;
  Readers readers;
  /// The extents of the kernel, and of the result at canonical positions.
  Extents kernel, shape;
  /// Channels of the result in a group.
  Scalar members;

  const std::vector<int64_t>& strides() const { return conv.window.strides; }
};

/// The place of an element of the result in the phases: `[image, group, channel of the group,
/// places...]`.
Position placeOf(ComputeCall& call, const Phased& phased, const Position& where) {
  bool isWhole = phased.conv.groups == 1;
  Position place{where[0], isWhole ? call.integer(0) : floorDivide(where[1], phased.members),
                 isWhole ? where[1] : floorMod(where[1], phased.members)};
  for (size_t i = 0; i < phased.conv.dims; ++i)
    place.push_back(floorDivide(where[2 + i], phased.strides()[i]));
  return place;
}

Extents groupExtents(ComputeCall& call, const Phased& phased) {
  return {phased.shape[0], call.integer(phased.conv.groups), phased.members};
}

using PartAt = std::function<Scalar(const Position& where)>;

/// One tensor, in which the rests are dimensions behind the places.
PartAt jointPhases(ComputeCall& call, const Phased& phased) {
  size_t dims = phased.conv.dims;
  Extents extents = groupExtents(call, phased);
  for (size_t i = 0; i < dims; ++i)
    extents.push_back(
        floorDivide(phased.shape[2 + i] + double(phased.strides()[i] - 1), phased.strides()[i]));
  for (int64_t stride : phased.strides())
    extents.push_back(call.integer(stride));
  TensorHandle all = call.define(extents, [&](const Position& at) {
    std::vector<PhaseDim> phases;
    for (size_t i = 0; i < dims; ++i)
      phases.push_back(
          phaseDim(phased.conv, i, phased.strides()[i], at[3 + dims + i], phased.kernel[i]));
    Position place(at.begin(), at.begin() + ptrdiff_t(3 + dims));
    return transposedSum(call, phased.readers, phases, at[1], eraseAt(place, 1));
  });
  return [all, dims, &call, &phased](const Position& where) {
    Position place = placeOf(call, phased, where);
    for (size_t i = 0; i < dims; ++i)
      place.push_back(floorMod(where[2 + i], phased.strides()[i]));
    return all(place);
  };
}

/// The rests of places by the strides, in row-major order.
std::vector<std::vector<int64_t>> restsOf(const std::vector<int64_t>& strides) {
  std::vector<std::vector<int64_t>> all{{}};
  for (int64_t stride : strides) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t>& rests : all)
      for (int64_t rest = 0; rest < stride; ++rest) {
        longer.push_back(rests);
        longer.back().push_back(rest);
      }
    all = std::move(longer);
  }
  return all;
}

/// One tensor for each phase, with the taps that it has.
PartAt separatePhases(ComputeCall& call, const Phased& phased) {
  size_t dims = phased.conv.dims;
  auto allRests = restsOf(phased.strides());
  std::vector<TensorHandle> parts;
  for (const std::vector<int64_t>& rests : allRests) {
    std::vector<PhaseDim> phases;
    Extents extents = groupExtents(call, phased);
    for (size_t i = 0; i < dims; ++i) {
      int64_t stride = phased.strides()[i];
      int64_t firstTap = (rests[i] + phased.conv.window.before[i]) % stride;
      phases.push_back(phaseDim(phased.conv, i, stride, call.integer(rests[i]),
                                phased.kernel[i] - double(firstTap)));
      extents.push_back(floorDivide(phased.shape[2 + i] + double(stride - 1 - rests[i]), stride));
    }
    parts.push_back(call.define(extents, [&](const Position& at) {
      return transposedSum(call, phased.readers, phases, at[1], eraseAt(at, 1));
    }));
  }
  return [=, &call, &phased](const Position& where) {
    Position place = placeOf(call, phased, where);
    Scalar element = parts.back()(place);
    for (size_t k = parts.size() - 1; k-- > 0;) {
      std::optional<Scalar> isHere;
      for (size_t i = 0; i < dims; ++i)
        if (int64_t stride = phased.strides()[i]; stride > 1) {
          Scalar fits = floorMod(where[2 + i], stride) == double(allRests[k][i]);
          isHere = isHere ? *isHere && fits : fits;
        }
      element = select(*isHere, parts[k](place), element);
    }
    return element;
  };
}

constexpr int64_t mostParts = 16;

enum class StrideForm : uint8_t { None, Separate, Joint, Spread };

StrideForm strideForm(const ConvAttributes& conv) {
  int64_t phases = 1;
  bool isApart = false;
  for (size_t i = 0; i < conv.dims; ++i) {
    int64_t stride = conv.window.strides[i];
    phases = std::min(phases * std::min(stride, mostParts + 1), mostParts + 1);
    isApart |= stride > 1 && conv.window.dilation[i] > 1;
  }
  if (phases == 1)
    return StrideForm::None;
  return isApart               ? StrideForm::Spread
         : phases <= mostParts ? StrideForm::Separate
                               : StrideForm::Joint;
}

} // namespace

void convTransposeResult(ComputeCall& call, const ConvAttributes& conv, TensorHandle data,
                         TensorHandle weight) {
  Extents weightShape = convertExtents(conv.weight, conv.canonicalWeight, weight.shape());
  Extents kernel(weightShape.begin() + 2, weightShape.end());
  Layout layout = conv.data;
  StrideForm form = strideForm(conv);
  if (form == StrideForm::Spread)
    data = spread(call, conv, data, layout);
  Readers readers{
      canonicalReader(call, data, conv.canonicalData, layout, true),
      canonicalReader(call, weight, conv.canonicalWeight, conv.weight, form == StrideForm::Joint),
      floorDivide(weightShape[0], conv.groups)};
  if (form == StrideForm::Separate || form == StrideForm::Joint) {
    Extents shape = convertExtents(conv.result, conv.canonicalData, call.outputShape());
    Phased phased{conv, readers, kernel, shape, floorDivide(shape[1], conv.groups)};
    PartAt part =
        form == StrideForm::Joint ? jointPhases(call, phased) : separatePhases(call, phased);
    return call.result([&](const Position& at) {
      return part(convertPosition(conv.result, conv.canonicalData, at));
    });
  }
  std::vector<PhaseDim> phases;
  for (size_t i = 0; i < conv.dims; ++i)
    phases.push_back(phaseDim(conv, i, 1, call.integer(0), kernel[i]));
  resultByGroups(call, conv.result, conv.canonicalData, 'C', conv.groups,
                 [&](Scalar group, const Position& at) {
                   return transposedSum(call, readers, phases, group, at);
                 });
}

} // namespace stdlib
