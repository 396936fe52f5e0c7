// The notation of gradient rules: operators and functions on terms, and the forms that rules share.
//
//   .gradient = GradientRule{[](GradientCall& d) { give(d, 0, d.cotangent() * exp(d.operand(0)));
//   }}
//
// Each function emits a call of the operator of its name. Operands broadcast as they do in the
// language; a plain number takes the element type of the other side. What a rule gives an operand
// must have the operand's very type: `toBroadcast` sums back what broadcasting repeated, and `give`
// says that a shape is that of the operand where the types leave it open.
#pragma once

#include "lang/op/op.h"
#include "lang/rules/gradient.h"

namespace stdlib {

struct Layout;

using lang::GradientCall;
using lang::GradientRule;
using lang::Term;

Term operator+(const Term& a, const Term& b);
Term operator-(const Term& a, const Term& b);
Term operator*(const Term& a, const Term& b);
Term operator/(const Term& a, const Term& b);
Term operator-(const Term& a);
/// A scalar constant of the element type of `like`.
Term number(const Term& like, double value);
Term operator+(const Term& a, double b);
Term operator-(const Term& a, double b);
Term operator*(const Term& a, double b);
Term operator/(const Term& a, double b);
Term operator+(double a, const Term& b);
Term operator-(double a, const Term& b);
Term operator*(double a, const Term& b);
Term operator/(double a, const Term& b);
// Comparisons give bool.
Term operator<(const Term& a, const Term& b);
Term operator<=(const Term& a, const Term& b);
Term operator>(const Term& a, const Term& b);
Term operator>=(const Term& a, const Term& b);
Term operator==(const Term& a, const Term& b);
Term operator<(const Term& a, double b);
Term operator<=(const Term& a, double b);
Term operator>(const Term& a, double b);
Term operator>=(const Term& a, double b);
Term operator==(const Term& a, double b);

/// Both conditions hold.
Term operator&&(const Term& a, const Term& b);

/// A call of the operator of that name on one term.
Term map(std::string_view op, const Term& a);
Term exp(const Term& a);
Term log(const Term& a);
Term sqrt(const Term& a);
Term power(const Term& a, const Term& b);
Term maximum(const Term& a, const Term& b);
Term minimum(const Term& a, const Term& b);
Term where(const Term& condition, const Term& then, const Term& otherwise);
/// `then` where the condition holds and zero elsewhere.
Term maskedBy(const Term& condition, const Term& then);
/// `otherwise` where the condition does not hold and zero elsewhere.
Term unlessMasked(const Term& condition, const Term& otherwise);
Term zerosLike(const Term& like);
Term onesLike(const Term& like);
/// The element type changed, where it is another one.
Term castTo(const Term& a, runtime::DType dtype);

/// Sums over dimensions; over none it is the term itself.
Term sum(const Term& a, const std::vector<size_t>& axes, bool keepsDims = false);
Term sumOfAll(const Term& a);
Term mean(const Term& a, const std::vector<size_t>& axes, bool keepsDims = false);
std::vector<size_t> allAxes(size_t rank);
/// All dimensions but one.
std::vector<size_t> allAxesBut(size_t axis, size_t rank);
/// Sums over all dimensions but one.
Term summedExcept(const Term& a, size_t axis);
/// A vector that broadcasts along dimension `axis` of a tensor of `rank` dimensions.
Term alongAxis(const Term& vector, size_t axis, size_t rank);
/// New dimensions of extent 1 before dimension `axis`.
Term expandDims(const Term& a, size_t axis, size_t count = 1);
Term transposed(const Term& a, const std::vector<size_t>& order);
/// A tensor that is in layout `from`, in layout `to`.
Term inLayout(const Term& a, const Layout& from, const Layout& to);
/// The elements in row-major order in the shape of `like`.
Term reshapedLike(const Term& a, const Term& like);
Term reshaped(const Term& a, const std::vector<int64_t>& shape);
/// A tensor with its leading dimensions joined to rows.
Term asRows(Term a);
Term broadcastLike(const Term& a, const Term& like);
/// Cut at the ends of the given dimensions to the extents of `like`.
Term slicedLike(const Term& a, const Term& like, const std::vector<size_t>& axes);
Term take(const Term& a, const Term& indices, size_t axis);
/// The part at one position of a dimension, without that dimension.
Term partAt(const Term& a, int64_t position, size_t axis);
Term concatenated(const std::vector<Term>& parts, size_t axis);
/// Terms of one type along a new dimension.
Term stacked(const std::vector<Term>& parts, size_t axis);

Term reversed(const Term& a, size_t axis);
/// Part of one dimension, from `begin` to before `end`; both may count from the back.
Term sliced(const Term& a, size_t axis, int64_t begin, int64_t end);
inline constexpr int64_t toEnd = 2147483647;
/// Padded with a constant, or cut where a width is negative.
Term padded(const Term& a, const std::vector<std::pair<int64_t, int64_t>>& widths,
            double value = 0);
/// `to` with `a`, which is nowhere larger, at the start of all dimensions.
Term setAtStart(const Term& to, const Term& a);
/// The same with zeros like `like`.
Term placedAtStart(const Term& a, const Term& like);
/// The running sum along a dimension.
Term runningSum(const Term& a, size_t axis, bool isExclusive = false);
/// How many elements the dimensions have together, a scalar of the type of the elements: a number
/// where that is known.
Term countOf(const Term& a, const std::vector<size_t>& axes);
/// The extent of a dimension, int64.
Term extentOf(const Term& a, size_t axis);
/// The extents of all dimensions, an int64 vector.
Term shapeVector(const Term& a);
/// The int64 positions along a dimension, a vector.
Term positionsAlong(const Term& a, size_t axis);
/// A vector of int64 constants.
Term integers(lang::TermWriter& d, const std::vector<int64_t>& values);
/// The int64 positions of the elements of `like` in row-major order, in its shape.
Term placesLike(const Term& like);
/// Adds up the elements of a cotangent at the places of a tensor like `like`; the adjoint of every
/// operator that moves elements, which moves the places of its operand as well.
Term addedAtPlaces(const Term& cotangent, const Term& places, const Term& like);
/// All attributes of the call, for one with the same ones.
std::vector<lang::Setting> sameAttributes(const GradientCall& d);

/// What operand `i`, a tensor, or its first field has gathered so far, to add parts to; the result
/// is what it is to be given. Only for rules that say so (GradientRule::addsParts).
Term sumOf(GradientCall& d, size_t i);
/// The positions of a slice that a vector of them along each dimension makes, for `scatter_nd`:
/// each has the rank of the slice and broadcasts to it.
Term jointPositions(const std::vector<Term>& positions);

/// Gives operand `i`, a tensor, or a field of it its cotangent.
void give(GradientCall& d, size_t i, const Term& cotangent);
void giveField(GradientCall& d, size_t i, size_t field, const Term& cotangent);
/// Gives every operand zeros: what a call gets that computes nothing, or never comes to an end.
void giveZeros(GradientCall& d);
/// Gives operand 0 the cotangent in its own shape.
void reshapeBack(GradientCall& d);
/// Sums over what broadcasting from the shape of `like` repeated; the result has its type.
Term summedLike(const Term& a, const Term& like);
/// Gives operand `i` a cotangent of the shape that it was broadcast to.
void toBroadcast(GradientCall& d, size_t i, const Term& cotangent);
/// The cotangent of a field of the result; zeros where none comes in.
Term incoming(GradientCall& d, size_t field);

} // namespace stdlib
