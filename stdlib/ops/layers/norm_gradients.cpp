// The gradients of the normalisations.
#include "stdlib/ops/layers/norm_gradients.h"

#include "stdlib/ops/gradient.h"

#include <algorithm>

namespace stdlib {

namespace {

/// What the norms with scale and shift share: operands `data`, `gamma` and `beta`.
struct NormGradient {
  GradientCall& d;
  Term data;
  size_t axis;

  explicit NormGradient(GradientCall& call)
      : d(call), data(call.operand(0)), axis(call.axis("axis", data.rank())) {}

  bool scales() const { return d.attributes().boolean("scale"); }
  /// A vector operand, made to broadcast along `axis`.
  Term along(const Term& vector) const { return alongAxis(vector, axis, data.rank()); }
  Term epsilon() const { return number(data, d.attributes().real("epsilon")); }

  void giveVectors(const Term& unit, const Term& cotangent) const {
    give(d, 1, scales() ? summedExcept(cotangent * unit, axis) : zerosLike(d.operand(1)));
    bool shifts = d.attributes().boolean("center");
    give(d, 2, shifts ? summedExcept(cotangent, axis) : zerosLike(d.operand(2)));
  }

  /// The rule of a norm that averages over `axes` of the data in the form that `view` gives it.
  template <typename View>
  void build(const std::vector<size_t>& axes, View view) const {
    Term scaled = scales() ? d.cotangent() * along(d.operand(1)) : d.cotangent();
    Term seen = view(data), grow = view(scaled);
    Term centered = seen - mean(seen, axes, true);
    Term root = sqrt(mean(centered * centered, axes, true) + epsilon());
    Term unit = centered / root;
    Term pull = (grow - mean(grow, axes, true) - unit * mean(grow * unit, axes, true)) / root;
    give(d, 0, reshapedLike(pull, data));
    giveVectors(reshapedLike(unit, data), d.cotangent());
  }
};

constexpr auto asItIs = [](const Term& term) { return term; };

/// Sums over windows of `size` along `axis`, zeros outside: a difference of two running sums, cut
/// out of the one over the padded tensor.
Term windowSum(const Term& of, size_t axis, int64_t size) {
  std::vector<std::pair<int64_t, int64_t>> widths(of.rank());
  widths[axis] = {size / 2 + 1, size / 2};
  Term running = runningSum(padded(of, widths), axis);
  return sliced(running, axis, size, toEnd) - sliced(running, axis, 0, -size);
}

} // namespace

void batchNormGradient(GradientCall& d) {
  NormGradient norm(d);
  Term mean = d.operand(3), variance = d.operand(4) + norm.epsilon();
  Term byMean = incoming(d, 1), byVariance = incoming(d, 2);
  if (!d.hasCotangent(0)) {
    give(d, 3, byMean);
    return give(d, 4, byVariance);
  }
  Term grow = d.cotangent(0), root = sqrt(variance);
  Term scale = norm.scales() ? d.operand(1) / root : 1 / root;
  Term centered = norm.data - norm.along(mean);
  // Factors are taken into the sums, where they count for nothing when there are no elements.
  Term moved = grow * norm.along(scale);
  give(d, 0, moved);
  norm.giveVectors(centered / norm.along(root), grow);
  give(d, 3, byMean - summedExcept(moved, norm.axis));
  Term shares = moved * centered / norm.along(2 * variance);
  give(d, 4, byVariance - summedExcept(shares, norm.axis));
}

void layerNormGradient(GradientCall& d) {
  NormGradient norm(d);
  norm.build({norm.axis}, asItIs);
}

void instanceNormGradient(GradientCall& d) {
  NormGradient norm(d);
  std::vector<size_t> axes = allAxesBut(norm.axis, norm.data.rank());
  std::erase(axes, size_t(0));
  norm.build(axes, asItIs);
}

void groupNormGradient(GradientCall& d) {
  NormGradient norm(d);
  std::vector<int64_t> shape(norm.axis, 0);
  shape.insert(shape.end(), {-4, d.attributes().integer("num_groups"), -1, -2});
  std::vector<size_t> axes;
  for (size_t i = norm.axis + 1; i <= norm.data.rank(); ++i)
    axes.push_back(i);
  norm.build(axes, [&](const Term& term) { return reshaped(term, shape); });
}

void l2NormalizeGradient(GradientCall& d) {
  Term x = d.operand(0);
  std::vector<size_t> axes;
  for (int64_t axis : d.attributes().integers("axis"))
    axes.push_back(size_t(axis < 0 ? axis + int64_t(x.rank()) : axis));
  std::ranges::sort(axes);
  axes.erase(std::ranges::unique(axes).begin(), axes.end());
  if (axes.empty())
    axes = allAxes(x.rank());
  Term squares = sum(x * x, axes, true), least = number(x, d.attributes().real("eps"));
  Term norm = sqrt(d.call("maximum", {squares, least}));
  Term pull = x * (sum(d.cotangent() * x, axes, true) / (norm * norm * norm));
  give(d, 0, d.cotangent() / norm - maskedBy(squares > least, pull));
}

void lrnGradient(GradientCall& d) {
  Term x = d.operand(0);
  size_t axis = d.axis("axis", x.rank());
  const lang::Dim* extent = x.dim(axis);
  int64_t size = d.attributes().integer("size");
  int64_t half = extent->isConstant() ? std::min(size / 2, extent->value) : size / 2;
  Term rate = number(x, d.attributes().real("alpha")) / number(x, double(size));
  Term beta = number(x, d.attributes().real("beta"));
  // The window is symmetric, so the adjoint of summing over it is the same sum.
  Term squares = windowSum(x * x, axis, 2 * half + 1);
  Term base = squares * rate + d.attributes().real("bias");
  Term share = d.cotangent() * power(base, -beta);
  Term pull = windowSum(share * x / base, axis, 2 * half + 1);
  give(d, 0, share - 2 * beta * rate * x * pull);
}

} // namespace stdlib
