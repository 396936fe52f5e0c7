// What the operators of the convolution family share: their attributes, read and checked, and how
// results are defined by groups.
//
// A canonical layout is the one that the rules are written in: `NCHW` for data and, for weights,
// `OIHW` (convolution), `IOHW` (transposed convolution) or `GOIHW` (when the layout has a `G`).
#pragma once

#include "stdlib/ops/window.h"

#include <array>
#include <functional>
#include <variant>

namespace stdlib {

enum class ConvKind : uint8_t { Forward, Transposed, BackwardWeight };

/// The attributes of one call.
struct ConvAttributes {
  size_t dims = 0;
  Window window;
  /// Transposed only: how much is added to the extents at their end.
  std::vector<int64_t> outputPadding;
  int64_t groups = 1;
  std::optional<int64_t> channels;
  /// Empty when not given.
  std::vector<int64_t> kernelSize;
  Layout data, weight, result;
  Layout canonicalData, canonicalWeight;
  std::optional<runtime::DType> outDType;

  bool hasGroupAxis() const { return canonicalWeight.dims[0].axis == 'G'; }
  /// Where the spatial dimensions begin in the canonical weight.
  size_t weightSpatial() const { return hasGroupAxis() ? 3 : 2; }
};

/// Reads the attributes of an operator over `dims` spatial dimensions. For BackwardWeight, `result`
/// is the layout of the incoming gradient.
runtime::Checked<ConvAttributes> readConv(const lang::Attributes& attributes, size_t dims,
                                          ConvKind kind);

/// What the weight's type, or the attributes in its place, tell.
struct ConvWeight {
  /// Of the result.
  const lang::Dim* channels = nullptr;
  std::vector<const lang::Dim*> kernel;
  /// The type that the weight must have when its own is unknown, else null.
  const lang::Type* inferred = nullptr;
};

using ConvWeightAnswer = std::variant<ConvWeight, lang::RelationResult>;

/// The problem when operands 0 and 1 are not both floats or both integers.
std::optional<lang::RelationResult> requireLikeNumbers(const lang::RelationCall& call);

/// The number of channels in a group; a problem when the groups do not divide them.
runtime::Checked<const lang::Dim*> channelsPerGroup(lang::TypeContext& types,
                                                    const lang::Dim* channels, int64_t groups);

/// The failure that the channels of the data (in a group) are not those that the weight takes.
lang::RelationResult channelProblem(const lang::RelationCall& call, const ConvAttributes& conv,
                                    const lang::Dim* perGroup, const lang::Dim* expected);

/// The weight of unknown type with these leading canonical dimensions; `channels` and `kernel_size`
/// must be given.
ConvWeightAnswer weightFromAttributes(const lang::RelationCall& call, const ConvAttributes& conv,
                                      std::vector<const lang::Dim*> leading);

/// The rest of checking a weight of known type, given the channels that it makes of the data:
/// `channels` and `kernel_size` must agree with it.
ConvWeightAnswer weightFromType(const lang::RelationCall& call, const ConvAttributes& conv,
                                lang::Dims canonical, const lang::Dim* channels);

/// Checks the kernel extents at the end of a weight's canonical shape against `kernel_size`.
runtime::Checked<std::vector<const lang::Dim*>>
meetKernel(const lang::RelationCall& call, const ConvAttributes& conv, lang::Dims weight);

/// Solves with a canonical shape, tiled as `layout` says.
lang::RelationResult solvedInLayout(const lang::RelationCall& call, const Layout& canonical,
                                    const Layout& layout, lang::Dims shape, runtime::DType dtype,
                                    const lang::Type* inferredWeight = nullptr);

/// An element of the result, given its group and its canonical position, in which the grouped axis
/// counts within the group.
using GroupBody = std::function<lang::Scalar(lang::Scalar group, const lang::Position& at)>;

/// Defines the result, whose axis `axis` is split into groups. Where it can, no index is divided:
/// groups and their members get loops of their own.
void resultByGroups(lang::ComputeCall& call, const Layout& layout, const Layout& canonical,
                    char axis, int64_t groups, const GroupBody& body);

/// A tensor read by canonical positions, converted to a type, that of the result if none is given.
/// With `padded`, positions outside read zero.
std::function<lang::Scalar(const lang::Position&)>
canonicalReader(lang::ComputeCall& call, lang::TensorHandle tensor, const Layout& canonical,
                const Layout& layout, bool padded,
                std::optional<runtime::DType> wanted = std::nullopt);

/// The attribute rows of one kind over 1, 2 or 3 dimensions.
constexpr std::array<lang::AttributeRow, 10> convAttributes(size_t dims, bool isBackward = false) {
  using lang::AttributeKind;
  constexpr std::string_view ones[] = {"[1]", "[1, 1]", "[1, 1, 1]"};
  constexpr std::string_view zeros[] = {"[0, 0]", "[0, 0]", "[0, 0, 0]"};
  constexpr std::string_view data[] = {"\"NCW\"", "\"NCHW\"", "\"NCDHW\""};
  constexpr std::string_view weight[] = {"\"OIW\"", "\"OIHW\"", "\"OIDHW\""};
  size_t i = dims - 1;
  return {{
      {"strides", AttributeKind::IntList, ones[i], "steps of the window"},
      {"padding", AttributeKind::IntList, zeros[i],
       "zeros around the data: one number for all sides, one per dimension, or all before, then "
       "all after"},
      {"dilation", AttributeKind::IntList, ones[i], "distances of the taps of the window"},
      {"groups", AttributeKind::Int, "1", "how many groups the channels are split into"},
      {"channels", AttributeKind::Int, "None", "channels of the result; from the weight if unset"},
      lang::AttributeRow{"kernel_size", AttributeKind::IntList, "None",
                         "spatial extents of the weight; from the weight if unset", true}
          .ofLength(dims),
      {"data_layout", AttributeKind::String, data[i],
       isBackward ? "layout of the gradient" : "layout of the data"},
      {"kernel_layout", AttributeKind::String, weight[i],
       isBackward ? "layout of the data, or, with the axes of a weight, of the result"
                  : "layout of the weight"},
      {"out_layout", AttributeKind::String, "\"\"",
       isBackward ? "layout of the result" : "layout of the result; that of the data if empty"},
      {"out_dtype", AttributeKind::DType, "\"\"",
       "element type of sum and result; that of the first operand if empty"},
  }};
}

/// As above, of the transposed convolutions.
constexpr std::array<lang::AttributeRow, 11> convTransposeAttributes(size_t dims) {
  using lang::AttributeKind;
  constexpr std::string_view zeros[] = {"[0]", "[0, 0]", "[0, 0, 0]"};
  constexpr std::string_view weight[] = {"\"IOW\"", "\"IOHW\"", "\"IODHW\""};
  auto base = convAttributes(dims);
  auto [strides, padding, dilation, groups, channels, kernelSize, dataLayout, kernelLayout,
        outLayout, outDType] = base;
  padding.defaultText = zeros[dims - 1];
  padding.doc = "how much is cut from the result: one number for all sides, one per dimension, or "
                "all before, then all after";
  kernelLayout.defaultText = weight[dims - 1];
  lang::AttributeRow added{"output_padding", AttributeKind::IntList, zeros[dims - 1],
                           "how much is added to the extents of the result at their end"};
  return {{channels, kernelSize, strides, added, padding, dilation, groups, dataLayout,
           kernelLayout, outLayout, outDType}};
}

} // namespace stdlib
