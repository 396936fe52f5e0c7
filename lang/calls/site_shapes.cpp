// Learning: the relation is asked about more and more names in place of the numbers at hand.
#include "lang/calls/site_shapes.h"

#include "lang/op/op.h"

#include <set>

namespace lang {

namespace {

constexpr size_t mostFunctions = 16, mostLessons = 32, mostExtents = 32;

/// Opens extents as far as the relation still answers: one by one as names of their own, else as
/// a name that an equal extent has, else together with all equal ones; what is left stays a number.
class Generalisation {
public:
  Generalisation(const OperatorRow& row, Types operands, const Attributes& attributes,
                 std::span<const int64_t> extents)
      : row_(row), operands_(operands), attributes_(attributes), extents_(extents) {
    for (int64_t extent : extents)
      dims_.push_back(types_.constant(extent));
    best_ = ask();
  }

  std::optional<ShapeFunction> run() {
    for (size_t i = 0; best_ && i < dims_.size(); ++i) {
      const Dim* own = types_.symbol("n" + std::to_string(i));
      if (!tryName(own, {&i, 1}) && dims_[i]->isConstant())
        joinEqual(i, own);
    }
    return std::move(best_);
  }

private:
  void joinEqual(size_t i, const Dim* own) {
    std::vector<size_t> equal;
    for (size_t j = 0; j < dims_.size(); ++j) {
      if (extents_[j] != extents_[i])
        continue;
      if (dims_[j]->isConstant())
        equal.push_back(j);
      else if (tryName(dims_[j], {&i, 1}))
        return;
    }
    tryName(own, equal);
  }

  /// Keeps the name in these places when the relation answers with it.
  bool tryName(const Dim* name, std::span<const size_t> places) {
    std::vector<const Dim*> before = dims_;
    for (size_t place : places)
      dims_[place] = name;
    auto wider = ask();
    if (wider)
      best_ = std::move(wider);
    else
      dims_ = std::move(before);
    return wider.has_value();
  }

  std::optional<ShapeFunction> ask() {
    size_t next = 0;
    std::vector<const Type*> named;
    for (const Type* operand : operands_)
      named.push_back(withDims(types_, operand, [&](const Dim*) { return dims_[next++]; }));
    auto function = shapeFunction(row_, named, attributes_);
    bool isOfThese = function && applies(*function);
    return isOfThese ? std::move(function) : std::nullopt;
  }

  bool applies(const ShapeFunction& function) const {
    std::vector<int64_t> results(function.results.size());
    return function.apply(extents_, results);
  }

  const OperatorRow& row_;
  Types operands_;
  const Attributes& attributes_;
  std::span<const int64_t> extents_;
  TypeContext types_;
  std::vector<const Dim*> dims_;
  std::optional<ShapeFunction> best_;
};

size_t extentCount(Types operands) {
  std::vector<const Type*> tensors;
  size_t count = 0;
  for (const Type* operand : operands)
    if (!appendTensors(operand, tensors))
      return 0;
  for (const Type* tensor : tensors)
    count += tensor->shape.size();
  return count;
}

} // namespace

SiteShapes::SiteShapes(const OperatorRow& row, Types operands, const Attributes& attributes)
    : row_(row), operands_(operands), attributes_(attributes) {
  if (auto function = shapeFunction(row, operands, attributes))
    functions_.push_back(std::move(*function));
}

bool SiteShapes::learn(std::span<const int64_t> operands) {
  if (lessons_ == mostLessons || operands.size() > mostExtents ||
      operands.size() != extentCount(operands_))
    return false;
  ++lessons_;
  auto function = Generalisation(row_, operands_, attributes_, operands).run();
  if (!function)
    return false;
  if (functions_.size() == mostFunctions)
    functions_.erase(functions_.begin());
  functions_.push_back(std::move(*function));
  latest_ = functions_.size() - 1;
  return true;
}

bool SiteShapes::apply(std::span<const int64_t> operands, std::span<int64_t> results) {
  if (latest_ < functions_.size() && functions_[latest_].apply(operands, results))
    return true;
  for (size_t i = 0; i < functions_.size(); ++i)
    if (i != latest_ && functions_[i].apply(operands, results)) {
      latest_ = i;
      return true;
    }
  return learn(operands) && functions_[latest_].apply(operands, results);
}

namespace {

/// Sizes that a call might come along with.
class Sample {
public:
  explicit Sample(Types operands) {
    std::vector<const Type*> tensors;
    for (const Type* operand : operands)
      appendTensors(operand, tensors);
    for (const Type* tensor : tensors)
      for (size_t i = 0; i < tensor->shape.size(); ++i)
        places_.push_back(placeOf(tensor->shape[i], tensor->shape.size() - i));
  }

  /// Of how many sizes the types say nothing.
  size_t choices() const { return choices_.size(); }
  /// What may be anything is as large as all that is as far from the end of its shape, but those
  /// whose bits are set are 1.
  std::vector<int64_t> extents(uint64_t ones) const {
    std::vector<int64_t> extents;
    for (const Place& place : places_)
      extents.push_back(place.choice != none && (ones >> place.choice & 1) ? 1 : place.number);
    return extents;
  }
  /// All that may be anything is of one size.
  std::vector<int64_t> alike(int64_t size) const {
    std::vector<int64_t> extents;
    for (const Place& place : places_)
      extents.push_back(place.choice == none ? place.number : size);
    return extents;
  }
  /// Sizes that something may depend on: 0, 1 and some of those in the types.
  const std::set<int64_t>& numbers() const { return numbers_; }
  /// Whether a function that was learned from such sizes serves others, too.
  bool isGeneral(const ShapeFunction& function) const {
    return std::ranges::none_of(function.instructions, [&](const auto& each) {
      return each.step == ShapeFunction::Step::NeedsNumber && !numbers_.contains(each.number) &&
             places_[each.left].choice != none;
    });
  }

private:
  static constexpr size_t none = SIZE_MAX, mostNumbers = 6;
  struct Place {
    int64_t number = 0;
    size_t choice = none;
  };

  /// Names and forms are one choice wherever they stand, each `?` is one of its own.
  Place placeOf(const Dim* dim, size_t fromEnd) {
    if (dim->isConstant()) {
      if (numbers_.size() < mostNumbers)
        numbers_.insert(dim->value);
      return {.number = dim->value};
    }
    auto isSame = [&](const Choice& choice) { return choice.dim == dim; };
    auto found = dim->isAny() ? choices_.end() : std::ranges::find_if(choices_, isSame);
    auto choice = size_t(found - choices_.begin());
    if (found == choices_.end())
      choices_.push_back({dim, int64_t(12 * (1 + fromEnd))});
    return {.number = choices_[choice].usual, .choice = choice};
  }

  struct Choice {
    const Dim* dim;
    int64_t usual;
  };
  std::vector<Choice> choices_;
  std::vector<Place> places_;
  std::set<int64_t> numbers_{0, 1};
};

} // namespace

std::vector<ShapeFunction> foreseenShapes(const OperatorRow& row, Types operands,
                                          size_t resultExtents, const Attributes& attributes) {
  constexpr uint64_t mostSamples = 16;
  if (row.shapeNeeds != ShapeNeeds::Shapes)
    return {};
  Sample sample(operands);
  SiteShapes shapes(row, operands, attributes);
  std::vector<int64_t> results(resultExtents);
  // One that is learned when there are as many as a site keeps would drop another.
  auto learn = [&](const std::vector<int64_t>& extents) {
    if (shapes.known().size() < mostFunctions)
      shapes.apply(extents, results);
  };
  uint64_t samples = sample.choices() < 4 ? uint64_t(1) << sample.choices() : mostSamples;
  for (uint64_t ones = 0; ones < samples; ++ones)
    learn(sample.extents(ones));
  learn(sample.alike(24));
  for (int64_t size : sample.numbers())
    learn(sample.alike(size));
  std::vector<ShapeFunction> general;
  std::ranges::copy_if(
      shapes.known(), std::back_inserter(general), [&](const ShapeFunction& function) {
        return function.results.size() == resultExtents && sample.isGeneral(function);
      });
  return general;
}

} // namespace lang
