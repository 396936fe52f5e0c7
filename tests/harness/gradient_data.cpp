// Drawn as doubles and written as the element type.
#include "tests/harness/gradient_data.h"

#include "tests/harness/operand_data.h"
#include "tests/harness/run_operator.h"

#include <functional>

namespace harness {

using lang::Type;
using runtime::Tensor;
using runtime::Value;

namespace {

using Draw = std::function<double()>;

/// A float in (0, 1), and never one of few.
double fraction(Random& random) {
  return (double(random.next() >> 11) + 0.5) * 0x1p-53;
}

/// What the floats of a comparison are.
Draw drawFloats(Random& random, bool withTies) {
  struct Range {
    double low, high;
  };
  static constexpr Range ranges[] = {{-2, 2}, {0.1, 2}, {-0.9, 0.9}, {1.1, 3}, {-8, 8}};
  size_t choice = random.index(withTies ? 7 : 5);
  if (choice >= 5) {
    // Few numbers, for ties and for zeros.
    double unit = choice == 5 ? 0.5 : 1;
    return [&random, unit] { return double(random.integer(-2, 2)) * unit; };
  }
  Range range = ranges[choice];
  return [&random, range] { return range.low + (range.high - range.low) * fraction(random); };
}

/// What the integers of a comparison are; `most` is the least extent, less one.
Draw drawIntegers(const OperatorSample& call, Random& random) {
  std::vector<int64_t> extents;
  for (const Type* operand : call.operands)
    anyPart(operand, [&](const Type* part) {
      for (const lang::Dim* dim : part->shape)
        extents.push_back(dim->value);
      return false;
    });
  int64_t least = extents.empty() ? 1 : *std::ranges::min_element(extents);
  switch (random.index(7)) {
  case 4: {
    // A shape of as many elements, where it is one.
    auto next = std::make_shared<size_t>(0);
    return [extents, next] {
      return extents.empty() ? 1.0 : double(extents[(*next)++ % extents.size()]);
    };
  }
  case 0:
    return [] { return 0.0; };
  case 1:
    return [&random] { return double(random.integer(1, 3)); };
  case 2:
    return [&random] { return double(random.integer(-1, 2)); };
  case 3:
    return [&random, extents] { return extents.empty() ? 1.0 : double(random.pick(extents)); };
  default:
    return [&random, least] { return double(random.integer(0, std::max<int64_t>(least - 1, 0))); };
  }
}

Tensor drawn(const Type* type, const Draw& floats, const Draw& integers) {
  Tensor tensor(type->dtype, shapeOf(type));
  std::vector<double> numbers(size_t(tensor.size()));
  for (double& number : numbers)
    number = type->dtype.isFloat() ? floats() : type->dtype.isBool() ? integers() != 0 : integers();
  writeNumbers(tensor, numbers);
  return tensor;
}

Value valueOf(const Type* type, const Draw& floats, const Draw& integers) {
  if (type->isTensor())
    return runtime::tensorValue(drawn(type, floats, integers));
  std::vector<Value> fields;
  for (const Type* part : type->parts)
    fields.push_back(runtime::tensorValue(drawn(part, floats, integers)));
  return runtime::tupleValue(std::move(fields));
}

/// Zeros but for one element in all.
Draw oneOf(int64_t count, Random& random) {
  auto left = std::make_shared<int64_t>(random.integer(0, count - 1));
  return [left] { return (*left)-- == 0 ? 1.0 : 0.0; };
}

} // namespace

GradientData gradientData(const OperatorSample& call, lang::Types parameters, Random& random,
                          bool withTies, const std::vector<bool>& isStepwise) {
  Draw stepwise = drawFloats(random, false);
  Draw operandFloats = drawFloats(random, withTies), integers = drawIntegers(call, random);
  Draw directions = [&random] { return 2 * fraction(random) - 1; }, weights = directions;
  size_t directionCount = 0;
  for (const Type* operand : call.operands)
    for (const Type* leaf : operand->isTuple() ? operand->parts : lang::Types(&operand, 1))
      directionCount += leaf->dtype.isFloat();
  size_t firstWeight = call.operands.size() + directionCount;
  int64_t elements = 0;
  for (const Type* weight : parameters.subspan(firstWeight))
    elements += runtime::elementCount(shapeOf(weight)).value_or(0);
  GradientData data;
  data.isSingle = elements > 0 && random.chance(50);
  if (data.isSingle)
    weights = oneOf(elements, random);
  for (size_t i = 0; i < parameters.size(); ++i)
    data.values.push_back(valueOf(parameters[i],
                                  i >= call.operands.size() ? i < firstWeight ? directions : weights
                                  : isStepwise[i]           ? stepwise
                                                            : operandFloats,
                                  integers));
  return data;
}

} // namespace harness
