// Types may be recursive, so heights are found by looking at all instances again until nothing
// changes any more.
#include "driver/values/random_values.h"

#include "lang/source/utf8.h"
#include "runtime/formats/random_fill.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

namespace driver {

using lang::Constructor;
using lang::Type;
using lang::TypeKind;
using runtime::Done;
using runtime::Error;
using runtime::Result;

namespace {

constexpr size_t mostInstances = 2000;
constexpr size_t deepest = 4;
constexpr uint64_t mostChoices = 1000;
/// The size of names in fields, which nothing else says.
constexpr int64_t innerExtent = 3;

} // namespace

size_t ValueHeights::known(const std::vector<const Type*>& fields) const {
  size_t height = 0;
  for (const Type* field : fields)
    height = std::max(height, known(field));
  return height == none ? none : height + 1;
}

/// By what was found so far; tuples do not count, and types of no values have no height.
size_t ValueHeights::known(const Type* type) const {
  size_t height = 0;
  std::vector<const Type*> open{type};
  while (!open.empty()) {
    const Type* next = open.back();
    open.pop_back();
    if (next->isTuple()) {
      open.insert(open.end(), next->parts.begin(), next->parts.end());
    } else if (!next->isTensor()) {
      auto found = instances_.find(next);
      height = std::max(height, found == instances_.end() ? none : found->second.height);
    }
  }
  return height;
}

void ValueHeights::explore(const Type* type) {
  std::vector<const Type*> open{type};
  std::unordered_set<const Type*> seen;
  while (!open.empty() && instances_.size() < mostInstances) {
    const Type* next = open.back();
    open.pop_back();
    if (!isStructured(*next) || instances_.contains(next) || !seen.insert(next).second)
      continue;
    if (next->isTuple()) {
      open.insert(open.end(), next->parts.begin(), next->parts.end());
      continue;
    }
    Instance& instance = instances_[next];
    for (const Constructor* constructor : next->definition->constructors) {
      instance.fields.push_back(fields_.of(*constructor, next));
      open.insert(open.end(), instance.fields.back().begin(), instance.fields.back().end());
    }
  }
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (auto& [each, instance] : instances_)
      for (const auto& fields : instance.fields)
        if (size_t height = known(fields); height < instance.height) {
          instance.height = height;
          isChanged = true;
        }
  }
}

const ValueHeights::Instance& ValueHeights::instance(const Type* type) {
  if (!instances_.contains(type)) {
    // Names of sizes make types of their own for each value.
    if (instances_.size() >= mostInstances)
      instances_.clear();
    explore(type);
  }
  return instances_.at(type);
}

size_t ValueHeights::of(const Constructor& constructor, const Type* type) {
  return known(instance(type).fields[constructor.index]);
}

size_t ValueHeights::of(const Type* type) {
  explore(type);
  return known(type);
}

bool ValueHeights::isRecursive(const Constructor& constructor, const Type* type) {
  auto [known, isNew] = recursive_.try_emplace(&constructor, false);
  if (!isNew)
    return known->second;
  const auto& fields = instance(type).fields[constructor.index];
  std::vector<const Type*> open(fields.begin(), fields.end());
  std::unordered_set<const Type*> seen;
  while (!open.empty() && !known->second) {
    const Type* next = open.back();
    open.pop_back();
    if (!isStructured(*next) || !seen.insert(next).second)
      continue;
    known->second = next->kind == TypeKind::Data && next->definition == type->definition;
    open.insert(open.end(), next->parts.begin(), next->parts.end());
    if (auto found = instances_.find(next); found != instances_.end())
      for (const auto& inner : found->second.fields)
        open.insert(open.end(), inner.begin(), inner.end());
  }
  return known->second;
}

Result<runtime::Value> RandomValues::fill(size_t number, const lang::Var& parameter,
                                          const Type* type) {
  const std::string name = fit_.parameterName(parameter);
  if (heights_.of(type) == ValueHeights::none)
    return Error{fmt::format("parameter `{}` is `{}`, which has no value of tensors and "
                             "constructors that could be drawn; call a function that takes "
                             "tensors and builds it, with --entry",
                             name, lang::typeText(type, fit_.notation()))};
  Filling filling{number, parameter, type, ValueBuilder(type, types_, name, fit_.notation())};
  ValueBuilder& builder = filling.builder;
  do {
    const Type& wanted = *builder.wanted();
    if (wanted.isTensor()) {
      if (auto good = fillTensor(filling); !good)
        return good.failure();
    } else {
      if (wanted.isTuple())
        builder.openTuple();
      else
        builder.open(choose(filling));
      filling.open.push_back(&wanted);
    }
    builder.closeFull();
    filling.open.resize(builder.depth());
  } while (builder.depth() > 0);
  return builder.value();
}

const Constructor& RandomValues::choose(Filling& filling) {
  const Type* type = filling.builder.wanted();
  const auto depth = size_t(std::ranges::count(filling.open, type->definition, &Type::definition));
  const bool isOutermost = std::ranges::find(filling.open, type) == filling.open.end();
  std::vector<const Constructor*> choices;
  for (const Constructor* each : type->definition->constructors)
    if (heights_.of(*each, type) != ValueHeights::none)
      choices.push_back(each);
  auto isRecursive = [&](const Constructor* each) { return heights_.isRecursive(*each, type); };
  if (depth >= deepest || filling.choices >= mostChoices)
    return **std::ranges::min_element(
        choices, {}, [&](const Constructor* each) { return heights_.of(*each, type); });
  if (isOutermost && std::ranges::any_of(choices, isRecursive))
    std::erase_if(choices, [&](const Constructor* each) { return !isRecursive(each); });
  double drawn = formats::uniformAt(seed_, filling.number, UINT64_MAX - filling.choices++);
  return *choices[size_t(drawn * double(choices.size()))];
}

/// The size of a dimension; names that only the fields of a constructor have are given one.
std::optional<int64_t> RandomValues::extent(const lang::Dim* dim) {
  for (;;) {
    if (auto size = fit_.sizeOf(dim))
      return size;
    const lang::Dim* name = fit_.nameMissing(dim);
    if (!name || fit_.isOfParameters(name))
      return std::nullopt;
    fit_.assume(name, innerExtent);
  }
}

/// Further tensors of a parameter get numbers that no parameter has.
Result<Done> RandomValues::fillTensor(Filling& filling) {
  const Type& type = *filling.builder.wanted();
  runtime::Shape shape;
  for (const lang::Dim* dim : type.shape) {
    auto size = extent(dim);
    if (!size)
      return openShape(filling, dim);
    shape.push_back(*size);
  }
  uint64_t number = filling.number + (filling.tensors++ << 32);
  auto tensor = formats::randomTensor(type.dtype, std::move(shape), seed_, number);
  if (!tensor)
    return Error{fmt::format(
        "parameter `{}` is `{}` and cannot be filled: {}", fit_.parameterName(filling.parameter),
        lang::typeText(filling.type, fit_.notation()), tensor.failure().message)};
  filling.builder.put(runtime::tensorValue(*std::move(tensor)));
  return Done{};
}

Error RandomValues::openShape(const Filling& filling, const lang::Dim* dim) {
  std::vector<std::string> ways{
      fmt::format("it with --input {}=PATH", lang::printable(filling.parameter.name))};
  if (auto name = fit_.nameMissing(dim))
    ways.insert(filling.type->isTensor() ? ways.end() : ways.begin(),
                fmt::format("the size of `{0}` with --dim {0}=SIZE", lang::dimText(name)));
  return Error{fmt::format("parameter `{}` is `{}`, whose shape is open, so it cannot be filled; "
                           "give {}",
                           fit_.parameterName(filling.parameter),
                           lang::typeText(filling.type, fit_.notation()),
                           fmt::join(ways, ", or "))};
}

} // namespace driver
