// Gradients of the convolution family.
//
// A convolution, the transposed one and the gradient by the weight are the partial derivatives of
// one trilinear form, so each rule is written with the other two operators.
#pragma once

#include "lang/rules/gradient.h"

namespace stdlib {

struct ConvAttributes;

/// Whether a call multiplies nothing: windows may then not fit what they would slide over.
bool isEmptyConvolution(lang::GradientCall& d);

struct ConvCotangents {
  lang::Term data, weight;
};

/// The cotangents of `data` and `weight`, in the layouts that `conv` says, for the call's result,
/// which is their convolution. Nothing may be empty.
ConvCotangents convCotangents(lang::GradientCall& d, const ConvAttributes& conv,
                              const lang::Term& data, const lang::Term& weight);

/// The rules of nn.conv{dims}d, nn.conv{dims}d_transpose and nn.conv{dims}d_backward_weight.
void convGradientOver(lang::GradientCall& d, size_t dims);
void convTransposeGradientOver(lang::GradientCall& d, size_t dims);
void convBackwardWeightGradientOver(lang::GradientCall& d, size_t dims);

template <size_t dims>
void convGradient(lang::GradientCall& d) {
  convGradientOver(d, dims);
}

template <size_t dims>
void convTransposeGradient(lang::GradientCall& d) {
  convTransposeGradientOver(d, dims);
}

template <size_t dims>
void convBackwardWeightGradient(lang::GradientCall& d) {
  convBackwardWeightGradientOver(d, dims);
}

} // namespace stdlib
