// Types to be wanted: most of them tensors, those that operators give among them.
#include "tests/harness/generator.h"

#include <algorithm>

#include <iterator>

namespace harness {

using namespace lang;

const Dim* Generator::randomExtent() {
  return mayUseSymbols_ && random_.chance(40)
             ? random_.pick(universe_.symbols)
             : types_.constant(random_.integer(random_.chance(10) ? 0 : 1, 4));
}

const Type* Generator::randomTensor() {
  static constexpr runtime::DType dtypes[] = {runtime::Float32, runtime::Float32, runtime::Int32,
                                              runtime::Int64,   runtime::Bool,    runtime::Float64,
                                              runtime::Float16, runtime::UInt8};
  if (random_.chance(30))
    return scalar(dtypes[random_.index(4)]);
  if (random_.chance(60)) {
    const OperatorSample& sample =
        universe_.samples.all[random_.index(universe_.samples.all.size())];
    if (sample.output->isTensor() && !sample.isDynamic && fits(sample) && hasSizes(sample.output)) {
      isBounded_ |= std::ranges::any_of(sample.output->shape, [](const Dim* dim) {
        return !dim->isConstant() && !isAtLeast(dim, 0);
      });
      return sample.output;
    }
  }
  std::vector<const Dim*> shape;
  for (int64_t i = random_.integer(1, 3); i > 0; --i)
    shape.push_back(randomExtent());
  return types_.tensor(Dims(shape), dtypes[random_.index(std::size(dtypes))]);
}

void Generator::useDataType(const DataType& data) {
  if (usedData_.insert(data.definition).second && !data.text.empty())
    program_.dataTypes.push_back({data.definition, data.text});
}

const Type* Generator::randomData(int depth) {
  return randomData(random_.pick(universe_.dataTypes), depth);
}

const Type* Generator::randomData(const DataType& data, int depth) {
  useDataType(data);
  std::vector<const Type*> arguments;
  for (const TypeParameter* generic : data.definition->generics)
    arguments.push_back(isSize(generic) ? types_.dimension(randomExtent()) : randomType(depth - 1));
  return types_.data(data.definition, arguments);
}

const Type* Generator::randomType(int depth) {
  if (!generics_.empty() && random_.chance(20))
    return types_.variable(random_.pick(generics_));
  size_t choice = depth > 0 ? random_.index(100) : 0;
  if (choice < 60)
    return randomTensor();
  if (choice < 72) {
    std::vector<const Type*> fields;
    for (int64_t i = random_.integer(0, 3); i > 0; --i)
      fields.push_back(randomType(depth - 1));
    return types_.tuple(fields);
  }
  if (choice < 88)
    return randomData(depth);
  if (choice < 96) {
    std::vector<const Type*> parameters;
    for (int64_t i = random_.integer(0, 2); i > 0; --i)
      parameters.push_back(randomType(depth - 1));
    return types_.function(parameters, randomType(depth - 1));
  }
  return types_.reference(randomType(depth - 1));
}

} // namespace harness
