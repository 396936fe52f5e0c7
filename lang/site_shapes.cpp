// Learning: the relation is asked about more and more names in place of the numbers at hand.
#include "lang/site_shapes.h"

namespace lang {

namespace {

constexpr size_t mostFunctions = 8, mostLessons = 32, mostExtents = 32;

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
    return shapeFunction(row_, named, attributes_);
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

} // namespace lang
