// Directions stand behind the parameters of `@main`, in their order.
#include "tests/harness/line.h"

#include "lang/ir/copy.h"
#include "lang/ir/differentiable.h"
#include "stdlib/ops.h"
#include "tests/harness/operand_data.h"
#include "typecheck/check.h"

#include <fmt/format.h>

namespace harness {

using namespace lang;
using runtime::Value;

namespace {

bool isFloatTensor(const Type* type) {
  return type->isTensor() && type->dtype.isFloat();
}

/// The floats of a result, each through a sine; what is in data types stays as it is.
Atom weighed(BlockBuilder& out, Atom value, const Type* type) {
  if (isFloatTensor(type))
    return out.call("sin", {value});
  if (!type->isTuple())
    return value;
  std::vector<Atom> fields;
  for (uint32_t i = 0; i < type->parts.size(); ++i)
    if (const Type* part = type->parts[i]; holdsFloats(part) && !holdsFunctions(part))
      fields.push_back(weighed(out, out.project(value, i), part));
  return out.tuple(fields);
}

/// Whether `weighed` keeps some floats.
bool hasResult(const Type* type) {
  if (!type->isTuple())
    return holdsFloats(type) && !holdsFunctions(type);
  return std::ranges::any_of(
      type->parts, [](const Type* part) { return holdsFloats(part) && !holdsFunctions(part); });
}

/// The function through `main`, whose types are declared.
const Function* lineThrough(Builder& make, const Global& main) {
  std::vector<const Var*> parameters, directions;
  std::vector<Atom> arguments;
  const Type* scalar = make.types.scalar(runtime::Float64);
  const Var* t = make.var(VarOrigin::Parameter, "t", scalar);
  BlockBuilder body(make);
  const Type* ofMain = main.function->resultAnnotation;
  if (!ofMain)
    return nullptr;
  for (const Var* old : main.function->parameters) {
    const Type* type = old->annotation;
    if (!type)
      return nullptr;
    bool isMoved = isFloatTensor(type);
    const Type* wide = isMoved ? make.types.tensor(type->shape, runtime::Float64) : type;
    parameters.push_back(make.var(VarOrigin::Parameter, old->name, wide));
    arguments.push_back(parameters.back());
    if (!isMoved)
      continue;
    directions.push_back(make.var(VarOrigin::Parameter, fmt::format("d{}", old->name), wide));
    Atom step = body.call("multiply", {t, directions.back()});
    Atom moved = body.call("add", {arguments.back(), step});
    if (type->dtype != runtime::Float64)
      moved = body.call("cast", {moved}, {{"dtype", type->dtype}});
    arguments.back() = moved;
  }
  if (directions.empty() || !hasResult(ofMain))
    return nullptr;
  parameters.insert(parameters.end(), directions.begin(), directions.end());
  parameters.push_back(t);
  Atom result = body.call(&main, arguments);
  return make.function(parameters, body.finish(weighed(body, result, ofMain)));
}

Value randomFloats(const runtime::Shape& shape, Random& random, double low, double high) {
  runtime::Tensor tensor(runtime::Float64, shape);
  std::vector<double> numbers(size_t(tensor.size()));
  for (double& number : numbers)
    number = low + (high - low) * double(random.next() >> 11) * 0x1p-53;
  writeNumbers(tensor, numbers);
  return runtime::tensorValue(std::move(tensor));
}

} // namespace

std::optional<transform::TypedModule> withLine(const Module& module, const Typing& typing) {
  std::unique_ptr<Module> made = copyDeclared(module, typing);
  const Global* main = made->find("main");
  Builder make(*made, stdlib::operatorTable());
  const Function* line = main ? lineThrough(make, *main) : nullptr;
  if (!line)
    return std::nullopt;
  make.define(lineName, line);
  Diagnostics diagnostics;
  Typing found = typecheck::checkModule(*made, stdlib::operatorTable(), diagnostics);
  if (diagnostics.hasErrors())
    throw std::logic_error(fmt::format("the line through a program is refused: {}",
                                       diagnostics.all().front().text.plain()));
  return transform::TypedModule{std::move(made), std::move(found)};
}

std::vector<Value> lineArguments(const std::vector<Value>& ofMain, Random& random) {
  struct Range {
    double low, high;
  };
  static constexpr Range ranges[] = {{-2, 2}, {0.1, 2}, {-0.9, 0.9}, {1.1, 3}};
  Range range = ranges[random.index(std::size(ranges))];
  std::vector<Value> values, directions;
  for (const Value& value : ofMain) {
    bool isMoved = value.kind() == runtime::ValueKind::Tensor && value.tensor().dtype().isFloat();
    if (!isMoved) {
      values.push_back(value);
      continue;
    }
    values.push_back(randomFloats(value.tensor().shape(), random, range.low, range.high));
    directions.push_back(randomFloats(value.tensor().shape(), random, -1, 1));
  }
  values.insert(values.end(), directions.begin(), directions.end());
  return values;
}

} // namespace harness
