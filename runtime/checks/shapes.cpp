// Names get their sizes first; then one pass over the table, in which terms stand before what is
// made of them, gives all others.
#include "runtime/checks/shapes.h"

#include "runtime/checks/size_value.h"

#include <algorithm>
#include <memory>

namespace checks {

namespace {

/// The sizes of a table, where some names have one.
class Values {
public:
  explicit Values(const SizeTable& table) : table_(table) {
    if (table.size() > few)
      more_ = std::make_unique_for_overwrite<Value[]>(table.size());
    values_ = more_ ? more_.get() : few_;
    for (size_t i = 0; i < table.size(); ++i)
      values_[i].isKnown = false;
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  void nameExtents(std::span<const uint32_t> sizes, std::span<const int64_t> extents) {
    for (size_t i = 0; i < sizes.size(); ++i)
      if (table_[sizes[i]].kind == SizeKind::Name && !values_[sizes[i]].isKnown)
        values_[sizes[i]] = {extents[i], true};
  }

  /// False when something that is made of others has no value.
  bool evaluate() {
    auto termValue = [&](uint32_t term, int64_t& value) {
      value = values_[term].number;
      return values_[term].isKnown;
    };
    bool areAllKnown = true;
    for (size_t i = 0; i < table_.size(); ++i) {
      if (table_[i].kind == SizeKind::Name || table_[i].kind == SizeKind::Open)
        continue;
      values_[i].isKnown = valueOf(table_[i], termValue, values_[i].number);
      areAllKnown = areAllKnown && values_[i].isKnown;
    }
    return areAllKnown;
  }

  std::optional<int64_t> at(uint32_t size) const {
    return values_[size].isKnown ? std::optional(values_[size].number) : std::nullopt;
  }

  bool are(std::span<const uint32_t> sizes, std::span<const int64_t> extents) const {
    for (size_t i = 0; i < sizes.size(); ++i)
      if (table_[sizes[i]].kind != SizeKind::Open && at(sizes[i]) != extents[i])
        return false;
    return true;
  }

  bool meet(const Shapes& shapes) const {
    auto isEqual = [&](const Shapes::Equal& each) {
      return at(each.left) && at(each.left) == at(each.right);
    };
    auto isBound = [&](const Shapes::Bound& each) {
      auto size = at(each.size);
      return size && *size >= each.least && *size % each.divisor == 0;
    };
    return std::ranges::all_of(shapes.equal, isEqual) &&
           std::ranges::all_of(shapes.bounds, isBound);
  }

private:
  struct Value {
    int64_t number;
    bool isKnown;
  };
  static constexpr size_t few = 64;

  const SizeTable& table_;
  Value few_[few];
  std::unique_ptr<Value[]> more_;
  Value* values_;
};

} // namespace

bool takes(const Shapes& shapes, std::span<const int64_t> operands) {
  if (operands.size() != shapes.operands.size())
    return false;
  Values values(shapes.sizes);
  values.nameExtents(shapes.operands, operands);
  values.evaluate();
  return values.are(shapes.operands, operands);
}

bool fits(const Shapes& shapes, std::span<const int64_t> extents) {
  if (extents.size() != shapes.operands.size() + shapes.results.size())
    return false;
  auto operands = extents.first(shapes.operands.size());
  auto results = extents.subspan(shapes.operands.size());
  Values values(shapes.sizes);
  values.nameExtents(shapes.operands, operands);
  values.nameExtents(shapes.results, results);
  return values.evaluate() && values.are(shapes.operands, operands) &&
         values.are(shapes.results, results) && values.meet(shapes);
}

bool findResults(const Shapes& shapes, std::span<const int64_t> operands,
                 std::span<int64_t> results) {
  if (operands.size() != shapes.operands.size() || results.size() != shapes.results.size())
    return false;
  Values values(shapes.sizes);
  values.nameExtents(shapes.operands, operands);
  if (!values.evaluate() || !values.are(shapes.operands, operands) || !values.meet(shapes))
    return false;
  for (size_t i = 0; i < results.size(); ++i) {
    auto extent = values.at(shapes.results[i]);
    if (!extent || *extent < 0)
      return false;
    results[i] = *extent;
  }
  return true;
}

bool areResultsGiven(const Shapes& shapes) {
  std::vector<bool> given(shapes.sizes.size());
  for (uint32_t size : shapes.operands)
    given[size] = given[size] || shapes.sizes[size].kind == SizeKind::Name;
  for (size_t i = 0; i < given.size(); ++i)
    if (const Size& size = shapes.sizes[i]; size.kind != SizeKind::Name)
      given[i] =
          size.kind != SizeKind::Open &&
          std::ranges::all_of(size.terms, [&](const SizeTerm& term) { return given[term.size]; });
  return std::ranges::all_of(shapes.results, [&](uint32_t size) { return given[size]; });
}

const char* problemOf(const Shapes& shapes, size_t operands, size_t results) {
  if (const char* problem = problemOf(shapes.sizes))
    return problem;
  if (shapes.operands.size() != operands || shapes.results.size() != results)
    return "shapes are of other operands or results";
  auto isThere = [&](uint32_t size) { return size < shapes.sizes.size(); };
  bool isGood =
      std::ranges::all_of(shapes.operands, isThere) && std::ranges::all_of(shapes.results, isThere);
  for (const Shapes::Equal& each : shapes.equal)
    isGood = isGood && isThere(each.left) && isThere(each.right);
  for (const Shapes::Bound& each : shapes.bounds)
    isGood = isGood && isThere(each.size) && each.divisor > 0;
  return isGood ? nullptr : "shapes are of sizes that there are not";
}

} // namespace checks
