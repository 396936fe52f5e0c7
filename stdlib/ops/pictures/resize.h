// Interpolation of pictures along their spatial dimensions, which resizing and upsampling share.
//
// The result at position o along a dimension of `in` elements that gets `out` ones is read at a
// coordinate c(o), which the coordinate mode gives; coordinates are computed in float64. All
// methods work dimension by dimension, the last one first. Positions outside the picture read its
// border.
#pragma once

#include "lang/op/compute.h"

namespace stdlib {

enum class ResizeMethod : uint8_t { Nearest, Linear, Cubic };

/// How to read between and outside the elements.
struct Sampling {
  ResizeMethod method = ResizeMethod::Nearest;
  /// As the attribute of `image.resize2d` spells it.
  std::string_view coordinates = "asymmetric";
  /// For Nearest; empty means `round` for align_corners, else `floor`.
  std::string_view rounding = {};
  double cubicAlpha = -0.5;
  /// Cubic: weights outside the picture count zero and the others are scaled up.
  bool excludesOutside = false;
  /// For tf_crop_and_resize: the starts, then the ends, of all spatial dimensions, in float64.
  std::vector<lang::Scalar> region = {};
  /// For tf_crop_and_resize: the value at coordinates outside the picture.
  double extrapolation = 0;
};

/// The method of that name, or nothing; `bi` and `tri` before it are understood.
std::optional<ResizeMethod> resizeMethod(std::string_view name);

/// True when coordinateAt knows the mode.
bool isCoordinateMode(std::string_view name);
bool isRoundingMethod(std::string_view name);

/// Defines the next result of `call`: its first operand with the dimensions `axes`, in order,
/// interpolated to the extents of the result.
void computeResize(lang::ComputeCall& call, const Sampling& sampling,
                   const std::vector<size_t>& axes);

} // namespace stdlib
