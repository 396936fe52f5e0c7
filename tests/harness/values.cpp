// Values can be long lists, so both comparisons keep a stack of their own.
#include "tests/harness/values.h"

#include "lang/calls/run_value.h"
#include "tests/harness/operand_data.h"
#include "tests/harness/types.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace harness {

using namespace lang;
using runtime::Value;
using runtime::ValueKind;

namespace {

constexpr int64_t mostElements = 4096;

std::string tensorProblem(const runtime::Tensor& tensor, const Type* type) {
  bool fits =
      type->isTensor() && type->dtype == tensor.dtype() && type->shape.size() == tensor.rank();
  for (size_t i = 0; fits && i < tensor.rank(); ++i)
    fits = !type->shape[i]->isConstant() || type->shape[i]->value == tensor.shape()[i];
  if (fits && tensor.dtype().isBool() &&
      std::ranges::any_of(tensor.elements<uint8_t>(), [](uint8_t each) { return each > 1; }))
    return "a tensor of bools of which one is neither 0 nor 1";
  if (fits)
    return "";
  return fmt::format("a tensor of shape ({}) and element type {} where the type is `{}`",
                     fmt::join(tensor.shape(), ", "), runtime::dtypeName(tensor.dtype()),
                     typeText(type));
}

struct Pair {
  Value value;
  const Type* type;
};

/// The problem of one value; its parts are added to the stack.
std::string partProblem(TypeContext& types, const Pair& pair, std::vector<Pair>& stack) {
  const auto& [value, type] = pair;
  if (!value.isSet())
    return "a part has no value";
  auto fields = value.kind() == ValueKind::Tuple || value.kind() == ValueKind::Constructor
                    ? value.fields()
                    : std::span<const Value>{};
  std::string expected = "something else where the type is `" + typeText(type) + "`";
  switch (value.kind()) {
  case ValueKind::Tensor:
    return tensorProblem(value.tensor(), type);
  case ValueKind::Tuple:
    if (!type->isTuple() || type->parts.size() != fields.size())
      return expected;
    for (size_t i = 0; i < fields.size(); ++i)
      stack.push_back({fields[i], type->parts[i]});
    return "";
  case ValueKind::Constructor:
    if (type->kind != TypeKind::Data || lang::constructorOf(value).definition != type->definition ||
        lang::constructorOf(value).fields.size() != fields.size())
      return expected;
    for (size_t i = 0; i < fields.size(); ++i)
      stack.push_back({fields[i], fieldType(types, lang::constructorOf(value), i, type)});
    return "";
  case ValueKind::Reference:
    if (type->kind != TypeKind::Reference)
      return expected;
    return "";
  default:
    return type->kind == TypeKind::Function || type->kind == TypeKind::Operator ? "" : expected;
  }
}

} // namespace

std::string typeProblem(TypeContext& types, const Value& value, const Type* type) {
  constexpr size_t mostParts = 100'000;
  std::vector<Pair> stack{{value, type}};
  for (size_t count = 0; !stack.empty() && count < mostParts; ++count) {
    Pair top = std::move(stack.back());
    stack.pop_back();
    std::string problem = partProblem(types, top, stack);
    if (!problem.empty())
      return problem;
    // A cell can hold itself; the bound on parts ends that.
    if (top.value.kind() == ValueKind::Reference)
      stack.push_back({top.value.content(), top.type->parts[0]});
  }
  return "";
}

std::optional<Value> argumentValue(const Type* type, const std::map<std::string, int64_t>& sizes,
                                   uint64_t seed) {
  if (type->isTuple()) {
    std::vector<Value> fields;
    for (size_t i = 0; i < type->parts.size(); ++i) {
      auto field = argumentValue(type->parts[i], sizes, mixSeed(seed, i));
      if (!field)
        return std::nullopt;
      fields.push_back(std::move(*field));
    }
    return runtime::tupleValue(std::move(fields));
  }
  if (!type->isTensor() || !type->dtype.isComputable())
    return std::nullopt;
  runtime::Shape shape;
  for (const Dim* dim : type->shape) {
    auto found = sizes.find(dimText(dim));
    shape.push_back(dim->isConstant() ? dim->value : found == sizes.end() ? 2 : found->second);
  }
  auto count = runtime::elementCount(shape);
  if (!count || *count > mostElements)
    return std::nullopt;
  runtime::Tensor tensor(type->dtype, shape);
  Random random(seed);
  fillTensor(tensor, Data::Positions, random);
  return runtime::tensorValue(std::move(tensor));
}

} // namespace harness
