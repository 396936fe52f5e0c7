// What quantised operators share: rules for their scales and zero points, and requantisation, bit
// for bit as TVM computes it.
//
// A quantised integer q stands for the real number `scale * (q - zero point)`. Scales are tensors
// whose values are known at run time only, so what TVM derives from them when it compiles, such as
// a multiplier in fixed point, is computed here by expressions.
#pragma once

#include "lang/op/compute.h"
#include "lang/op/relation.h"

#include <initializer_list>
#include <optional>
#include <string_view>

namespace lang {
class GradientCall;
class Term;
} // namespace lang

namespace stdlib {

/// The problem when operand `i`, which messages call `name`, has none of the element types.
std::optional<lang::RelationResult> requireElements(const lang::RelationCall& call, size_t i,
                                                    std::string_view name,
                                                    std::initializer_list<runtime::DType> choices);

/// The problem when the attribute `out_dtype` is unset or none of the types.
std::optional<lang::RelationResult> requireOutDType(const lang::RelationCall& call,
                                                    std::initializer_list<runtime::DType> choices);

/// The extent that a vector must have of one element or one per channel, of which it has `given`.
/// Sizes of a run tell by themselves which.
const lang::Dim* oneOrAll(const lang::RelationCall& call, const lang::Dim* given,
                          const lang::Dim* channels);

/// Demands that operand `i`, called `name`, is a scalar of type `dtype`, or, unless `channels` is
/// null, a vector of that many. Turns `result` into a failure and returns false when it is not.
bool demandParameter(const lang::RelationCall& call, lang::RelationResult& result, size_t i,
                     std::string_view name, runtime::DType dtype, const lang::Dim* channels);

/// As above, of a float32 scale as operand `i` and an int32 zero point as the one behind it.
bool demandScaleAndZeroPoint(const lang::RelationCall& call, lang::RelationResult& result, size_t i,
                             std::string_view scale, std::string_view zeroPoint,
                             const lang::Dim* channels);

/// Where a scale or zero point has its value for the element at `at`: nowhere in particular if it
/// is a scalar, else along dimension `axis`. Data without dimensions has one channel.
lang::Position channelAt(const lang::TensorHandle& parameter, const lang::Position& at,
                         size_t axis);

/// The type with which requantisation computes.
enum class RequantizeType : uint8_t { Int64, Float32, Float64 };

/// How requantisation computes and rounds halves: up, or away from zero.
struct Requantization {
  RequantizeType type = RequantizeType::Int64;
  bool roundsUpward = true;
};

/// Of the attributes `rounding` and `compute_dtype`, whose "None" stands for TVM's defaults.
Requantization requantizationOf(const lang::Attributes& attributes);

/// The problem with those attributes, if there is one.
std::optional<lang::RelationResult> requantizationProblem(const lang::RelationCall& call);

/// The float64 quotients of float32 scales, in the shape of `from`; `to` is a scalar.
lang::TensorHandle scaleRatio(lang::ComputeCall& call, const lang::TensorHandle& from,
                              const lang::TensorHandle& to);

/// float64 factors as `multiplier * 2^(shift - 31)`: int32 tensors in the shape of the factors. The
/// multiplier is 0 or has a magnitude of 2^30 .. 2^31 - 1. An infinite factor, or NaN, has a shift
/// of 1025, which moves all bits of a product away.
struct FixedPoint {
  lang::TensorHandle multiplier;
  lang::TensorHandle shift;
};
FixedPoint fixedPointOf(lang::ComputeCall& call, const lang::TensorHandle& factors);

/// `value`, an int32, times the factor at `channel`; halves go up.
lang::Scalar fixedPointProduct(lang::Scalar value, const FixedPoint& factors,
                               const lang::Position& channel);

/// Requantisation by factors. As TVM does, it keeps numbers in int32, where they wrap.
class Requantizer {
public:
  /// `ratio` is what scaleRatio() gives.
  Requantizer(lang::ComputeCall& call, Requantization how, const lang::TensorHandle& ratio);

  /// `(value - from) * ratio + to` for integers of any type: an int32, which is not saturated to
  /// the type of the result yet. `channel` is the place in the ratio. Floats are computed as TVM
  /// does for processors without SSE4.1; what int32 can't hold becomes the nearest that it can.
  lang::Scalar operator()(lang::Scalar value, lang::Scalar from, lang::Scalar to,
                          const lang::Position& channel) const;

  const lang::TensorHandle& ratio() const { return ratio_; }

private:
  lang::Scalar wholes(lang::Scalar value, lang::Scalar from, lang::Scalar to,
                      const lang::Position& channel) const;
  lang::Scalar floats(lang::Scalar value, lang::Scalar from, lang::Scalar to,
                      const lang::Position& channel) const;

  Requantization how_;
  lang::TensorHandle ratio_;
  FixedPoint fixed_;
};

/// An int32 as an integer type of at most 32 bits: the nearest that it can hold.
lang::Scalar saturated(lang::Scalar value, runtime::DType dtype);

/// The float32 `x` as quantised integers of type `dtype`: `round(x / scale) + zeroPoint`, halves
/// away from zero, and the nearest that the type can hold; NaN becomes the highest.
lang::Scalar quantized(lang::Scalar x, lang::Scalar scale, lang::Scalar zeroPoint,
                       runtime::DType dtype);

/// The float32 that an integer of at most 32 bits stands for.
lang::Scalar dequantized(lang::Scalar value, lang::Scalar scale, lang::Scalar zeroPoint);

/// Gives operand `i` of a rule, a scale of the data that is operand 0, its cotangent: what `share`,
/// which has the shape of the data, has for each channel.
void giveScale(lang::GradientCall& d, size_t i, const lang::Term& share);

} // namespace stdlib
