// Each tensor that the factors reach has a form: which of them an element is times or over, as a
// sum of positions in its dimensions, each with a coefficient. The forms of a stage follow from
// those of the tensors that it reads.
#include "lower/tensor/factor_paths.h"

#include "lower/tensor/access.h"
#include "lower/tensor/fold.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>

namespace tensor {

namespace {

/// Narrower floats come to their ends too soon.
bool isWide(runtime::DType dtype) {
  return dtype.isFloat() && dtype.bits >= 32;
}

/// A sum of loop indices with coefficients, none of which is 0, and a number.
struct Linear {
  std::map<uint32_t, int64_t> loops = {};
  int64_t constant = 0;

  bool operator==(const Linear&) const = default;

  /// Adds another one, `times` over; false where numbers become too large.
  bool add(const Linear& other, int64_t times) {
    bool fits = addTo(constant, other.constant, times);
    for (auto [loop, coefficient] : other.loops) {
      fits &= addTo(loops[loop], coefficient, times);
      if (loops[loop] == 0)
        loops.erase(loop);
    }
    return fits;
  }

private:
  static bool addTo(int64_t& sum, int64_t number, int64_t times) {
    int64_t product = 0;
    return !__builtin_mul_overflow(number, times, &product) &&
           !__builtin_add_overflow(sum, product, &sum);
  }
};

/// A position as such a sum.
std::optional<Linear> linearOf(const ScalarNode* position) {
  Linear sum;
  std::vector<std::pair<const ScalarNode*, int64_t>> stack{{position, 1}};
  while (!stack.empty()) {
    auto [node, times] = stack.back();
    stack.pop_back();
    if (const auto* index = node->as<ScalarIndex>()) {
      if (!sum.add({{{index->axis, 1}}, 0}, times))
        return std::nullopt;
      continue;
    }
    if (auto number = integerOf(node)) {
      if (!sum.add({{}, *number}, times))
        return std::nullopt;
      continue;
    }
    const auto* apply = node->as<ScalarApply>();
    if (!apply || apply->operands.size() != 2)
      return std::nullopt;
    const ScalarNode *a = apply->operands[0], *b = apply->operands[1];
    if (apply->function == ScalarFunction::Multiply) {
      if (integerOf(a))
        std::swap(a, b);
      auto factor = integerOf(b);
      int64_t product = 0;
      if (!factor || __builtin_mul_overflow(times, *factor, &product))
        return std::nullopt;
      stack.emplace_back(a, product);
    } else if (apply->function == ScalarFunction::Add ||
               apply->function == ScalarFunction::Subtract) {
      stack.emplace_back(a, times);
      stack.emplace_back(b, apply->function == ScalarFunction::Add ? times : -times);
    } else {
      return std::nullopt;
    }
  }
  return sum;
}

/// The coefficients of a tensor's form, by dimension, and whether it is over the factors.
struct Form {
  std::vector<int64_t> steps;
  bool isOver = false;
};

/// What the factors make of a value: it stays as it is, is zero whatever they are, is times one of
/// them, or over one, or nobody knows.
struct Effect {
  enum class Kind : uint8_t { None, Zero, Times, Unknown } kind = Kind::None;
  Linear which = {};
  bool isOver = false;

  bool isTimes() const { return kind == Kind::Times; }
};

constexpr auto None = Effect::Kind::None, Zero = Effect::Kind::Zero, Times = Effect::Kind::Times,
               Unknown = Effect::Kind::Unknown;

/// The effect on what is one of two values, or their sum.
Effect joined(const Effect& a, const Effect& b) {
  if (a.kind == Zero || b.kind == Zero)
    return a.kind == Zero ? b : a;
  if (a.kind == b.kind && (!a.isTimes() || (a.which == b.which && a.isOver == b.isOver)))
    return a;
  return {Unknown};
}

/// Follows factors of inputs through a function.
class Follower {
public:
  explicit Follower(const TensorFunction& function)
      : function_(function), forms_(function.tensors.size()) {}

  void start(uint32_t input, Form form) { forms_[input] = std::move(form); }

  /// The form of a tensor behind a sum; nothing where factors get lost or do not reach it.
  std::optional<Form> formOf(uint32_t tensor) {
    run(tensor);
    return lost_.contains(tensor) || !isSummed_ ? std::nullopt : forms_[tensor];
  }

  /// Whether a tensor stays as it is.
  bool keeps(uint32_t tensor) {
    run(tensor);
    return !lost_.contains(tensor) && !forms_[tensor];
  }

private:
  void run(uint32_t tensor) {
    for (size_t i = 0; i < function_.stages.size(); ++i) {
      size_t made = function_.inputCount + i;
      if (made > tensor)
        break;
      if (!follow(function_.stages[i], made))
        lost_.insert(uint32_t(made));
    }
  }

  bool follow(const Stage& stage, size_t made) {
    if (stage.kind == StageKind::Map)
      return followMap(stage, made);
    if (lost_.contains(stage.source))
      return false;
    if (!forms_[stage.source])
      return true;
    if (stage.kind != StageKind::Reshape)
      return false;
    forms_[made] = reshaped(*forms_[stage.source], function_.tensors[stage.source].shape,
                            function_.tensors[made].shape);
    return forms_[made].has_value();
  }

  bool followMap(const Stage& stage, size_t made) {
    Effect effect = effectOn(stage.body);
    if (effect.kind == Unknown || (effect.isTimes() && effect.which.constant != 0))
      return false;
    if (!effect.isTimes())
      return true;
    Form form{{}, effect.isOver};
    for (const LoopAxis& axis : stage.axes) {
      auto found = effect.which.loops.extract(axis.number);
      form.steps.push_back(found ? found.mapped() : 0);
    }
    if (!effect.which.loops.empty())
      return false;
    forms_[made] = std::move(form);
    return true;
  }

  Effect effectOn(const ScalarNode* root) {
    forEachUnknownNode(
        root, [&](const ScalarNode* node) { return effects_.contains(node); },
        [&](const ScalarNode& node) { effects_.emplace(&node, effectOf(node)); });
    return effects_.at(root);
  }

  Effect effectOf(const ScalarNode& node) const {
    if (const auto* number = node.as<ScalarNumber>())
      return {number->dtype.isFloat() && number->real == 0 ? Zero : None};
    if (const auto* load = node.as<ScalarLoad>())
      return effectOfLoad(*load);
    if (const auto* apply = node.as<ScalarApply>())
      return effectOfApply(*apply);
    if (const auto* cast = node.as<ScalarCast>()) {
      const Effect& operand = effects_.at(cast->operand);
      bool staysWide = isWide(cast->dtype) && isWide(cast->operand->dtype);
      return staysWide || operand.kind == None ? operand : Effect{Unknown};
    }
    if (const auto* reduce = node.as<ScalarReduce>())
      return effectOfReduce(*reduce);
    return {};
  }

  Effect effectOfLoad(const ScalarLoad& load) const {
    for (const ScalarNode* position : load.position)
      if (effects_.at(position).kind != None)
        return {Unknown};
    const Effect outside = load.outside ? effects_.at(load.outside) : Effect{Zero};
    if (lost_.contains(load.tensor))
      return {Unknown};
    const std::optional<Form>& form = forms_[load.tensor];
    if (!form)
      return outside.kind == Zero ? Effect{} : joined(Effect{}, outside);
    Linear which;
    for (size_t i = 0; i < form->steps.size(); ++i) {
      int64_t step = form->steps[i];
      auto position = step != 0 ? linearOf(load.position[i]) : Linear{};
      if (!position || !which.add(*position, step))
        return {Unknown};
    }
    return joined({Times, std::move(which), form->isOver}, outside);
  }

  Effect effectOfApply(const ScalarApply& apply) const {
    auto effect = [&](size_t i) -> const Effect& { return effects_.at(apply.operands[i]); };
    switch (apply.function) {
    case ScalarFunction::Add:
    case ScalarFunction::Subtract:
      return joined(effect(0), effect(1));
    case ScalarFunction::Negative:
      return effect(0);
    case ScalarFunction::Multiply:
      if (effect(0).isTimes() && effect(1).isTimes())
        return cancel(effect(0), effect(1)) ? Effect{} : Effect{Unknown};
      if (effect(0).isTimes() || effect(0).kind == Unknown)
        return effect(1).kind == None ? effect(0) : Effect{Unknown};
      return effect(1).isTimes() && effect(0).kind != None ? Effect{Unknown}
                                                           : unlessZero(effect(1));
    case ScalarFunction::Divide:
      return effect(1).kind == None ? unlessZero(effect(0)) : Effect{Unknown};
    case ScalarFunction::Select:
      return effect(0).kind == None || effect(0).kind == Zero ? joined(effect(1), effect(2))
                                                              : Effect{Unknown};
    default: {
      bool isFree = std::ranges::all_of(apply.operands, [&](const ScalarNode* operand) {
        const Effect& each = effects_.at(operand);
        return each.kind == None || each.kind == Zero;
      });
      return {isFree ? None : Unknown};
    }
    }
  }

  static bool cancel(const Effect& a, const Effect& b) {
    return a.which == b.which && a.isOver != b.isOver;
  }

  /// A product or quotient of zero may be NaN.
  static Effect unlessZero(Effect effect) {
    return effect.kind == Zero ? Effect{} : std::move(effect);
  }

  Effect effectOfReduce(const ScalarReduce& reduce) const {
    Effect body = effects_.at(reduce.body);
    if (!body.isTimes())
      return body.kind == Unknown ? body : Effect{};
    bool isOneFactor = std::ranges::none_of(
        reduce.axes, [&](const LoopAxis& axis) { return body.which.loops.contains(axis.number); });
    if (reduce.combiner != Combiner::Sum || !isOneFactor)
      return {Unknown};
    isSummed_ = true;
    return body;
  }

  /// The form under another shape: dimensions that become one must be counted as one, and those
  /// that are split are counted through.
  static std::optional<Form> reshaped(const Form& form, const ScalarNodes& from,
                                      const ScalarNodes& to) {
    Form made{std::vector<int64_t>(to.size(), 0), form.isOver};
    size_t i = 0, k = 0;
    while (i < from.size() || k < to.size()) {
      if (i < from.size() && k < to.size() && isSameExtent(from[i], to[k])) {
        made.steps[k++] = form.steps[i++];
        continue;
      }
      size_t firstFrom = i, firstTo = k;
      int64_t left = 1, right = 1;
      do {
        bool takesLeft = left <= right && i < from.size();
        if (!takesLeft && k == to.size())
          return std::nullopt;
        auto extent = integerOf(takesLeft ? from[i++] : to[k++]);
        int64_t& product = takesLeft ? left : right;
        if (!extent || *extent == 0 || __builtin_mul_overflow(product, *extent, &product))
          return std::nullopt;
      } while (left != right);
      if (!joinForm(form, from, firstFrom, i, made, to, firstTo, k))
        return std::nullopt;
    }
    return made;
  }

  /// The part of a form in dimensions that others of as many elements take the place of.
  static bool joinForm(const Form& form, const ScalarNodes& from, size_t firstFrom, size_t endFrom,
                       Form& made, const ScalarNodes& to, size_t firstTo, size_t endTo) {
    int64_t step = 0, stride = 1;
    for (size_t i = endFrom; i-- > firstFrom; stride *= *integerOf(from[i])) {
      if (*integerOf(from[i]) == 1)
        continue;
      if (step == 0 && stride == 1)
        step = form.steps[i];
      int64_t wanted = 0;
      if (__builtin_mul_overflow(step, stride, &wanted) || form.steps[i] != wanted)
        return false;
    }
    stride = 1;
    for (size_t k = endTo; k-- > firstTo; stride *= *integerOf(to[k]))
      if (__builtin_mul_overflow(step, stride, &made.steps[k]))
        return false;
    return true;
  }

  const TensorFunction& function_;
  /// By tensor, where the factors reach it.
  std::vector<std::optional<Form>> forms_;
  /// Tensors of which nobody knows what the factors make of them.
  std::set<uint32_t> lost_;
  std::unordered_map<const ScalarNode*, Effect> effects_;
  mutable bool isSummed_ = false;
};

/// The one dimension along which a form counts by ones.
std::optional<size_t> dimOf(const Form& form, const ScalarNodes& shape) {
  std::optional<size_t> found;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (form.steps[i] == 0 || integerOf(shape[i]) == 1)
      continue;
    if (form.steps[i] != 1 || found)
      return std::nullopt;
    found = i;
  }
  return found;
}

bool isSized(const TensorInfo& tensor) {
  return std::ranges::all_of(
      tensor.shape, [](const ScalarNode* extent) { return integerOf(extent).value_or(0) > 0; });
}

Form formAlong(const ScalarNodes& shape, size_t dim, bool isOver) {
  Form form{std::vector<int64_t>(shape.size(), 0), isOver};
  form.steps[dim] = 1;
  return form;
}

} // namespace

std::vector<FactorPath> factorPaths(const TensorFunction& function, uint32_t input, size_t result) {
  const uint32_t tensor = function.results[result];
  const ScalarNodes& shape = function.tensors[input].shape;
  if (!isSized(function.tensors[input]) || !isWide(function.tensors[input].dtype) ||
      !isWide(function.tensors[tensor].dtype))
    return {};
  std::vector<FactorPath> paths;
  for (size_t first = 0; first < shape.size(); ++first)
    for (size_t count = 1; count <= 2 && first + count <= shape.size(); ++count) {
      Form form = formAlong(shape, first + count - 1, false);
      int64_t inner = count == 2 ? *integerOf(shape[first + 1]) : 1;
      if (count == 2 && (integerOf(shape[first]) == 1 || inner == 1))
        continue;
      form.steps[first] = inner;
      Follower follower(function);
      follower.start(input, form);
      auto found = follower.formOf(tensor);
      if (!found)
        continue;
      const ScalarNodes& given = function.tensors[tensor].shape;
      auto dim = dimOf(*found, given);
      // A result may be shorter than what it reads.
      if (dim && integerOf(given[*dim]) == *integerOf(shape[first]) * inner)
        paths.push_back({first, count, *dim});
    }
  return paths;
}

std::vector<FactorTrade> factorTrades(const TensorFunction& function, uint32_t from, uint32_t to,
                                      size_t result) {
  const uint32_t tensor = function.results[result];
  const ScalarNodes &left = function.tensors[from].shape, &right = function.tensors[to].shape;
  bool areWide = std::ranges::all_of(std::array{from, to, tensor}, [&](uint32_t each) {
    return isWide(function.tensors[each].dtype);
  });
  bool sums = std::ranges::any_of(function.stages, [](const Stage& stage) {
    return stage.kind == StageKind::Map && workOf(stage.body).reduces;
  });
  std::vector<FactorTrade> trades;
  if (from == to || !areWide || !sums || !isSized(function.tensors[to]))
    return trades;
  for (size_t i = 0; i < left.size(); ++i)
    for (size_t k = 0; k < right.size(); ++k) {
      // One factor would be that of all.
      if (!isSameExtent(left[i], right[k]) || integerOf(right[k]) == 1)
        continue;
      Follower follower(function);
      follower.start(from, formAlong(left, i, false));
      follower.start(to, formAlong(right, k, true));
      if (follower.keeps(tensor))
        trades.push_back({i, k});
    }
  return trades;
}

} // namespace tensor
