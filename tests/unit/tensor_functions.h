// Tensor functions of tests, and running them on both engines.
#pragma once

#include "codegen/strips/compile/sized.h"
#include "interp/reference.h"
#include "lang/op/compute.h"
#include "tests/unit/tensor_values.h"

#include <catch2/catch.hpp>
#include <random>

namespace tests {

using namespace lang;
using runtime::DType;
using runtime::Tensor;
using runtime::Value;

using Shape = std::vector<int64_t>;
using Define = std::function<void(ComputeCall&)>;

inline constexpr std::array allDTypes{
    runtime::Bool,     runtime::Int8,    runtime::Int16,  runtime::Int32,  runtime::Int64,
    runtime::UInt8,    runtime::UInt16,  runtime::UInt32, runtime::UInt64, runtime::Float16,
    runtime::BFloat16, runtime::Float32, runtime::Float64};

/// A tensor with the given elements, converted to the type.
inline Tensor tensorOf(DType dtype, Shape shape, const std::vector<double>& values) {
  Tensor tensor(dtype, std::move(shape));
  Tensor wide(runtime::Float64, tensor.shape());
  REQUIRE(size_t(tensor.size()) == values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    std::byte* to = tensor.bytes() + i * dtype.bytes();
    auto put = [&](auto value) { std::memcpy(to, &value, dtype.bytes()); };
    if (dtype == runtime::Float64)
      put(values[i]);
    else if (dtype == runtime::Float32)
      put(float(values[i]));
    else if (dtype == runtime::Float16)
      put(runtime::Half(float(values[i])));
    else if (dtype == runtime::BFloat16)
      put(runtime::BHalf(float(values[i])));
    else if (dtype == runtime::UInt64)
      put(uint64_t(values[i]));
    else
      put(int64_t(values[i]));
  }
  return tensor;
}

/// Whole numbers in [low, high].
inline Tensor randomTensor(std::mt19937& random, DType dtype, Shape shape, int low, int high) {
  auto count = runtime::elementCount(shape).value();
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(double(int(random() % uint32_t(high - low + 1)) + low));
  return tensorOf(dtype, std::move(shape), values);
}

/// Builds the function for the types of `inputs`.
inline TensorFunction build(const std::vector<Tensor>& inputs, DType outputDType,
                            const Shape& outputShape, const Define& define) {
  TypeContext types;
  std::vector<const Type*> operands;
  for (const Tensor& input : inputs)
    operands.push_back(types.tensorOf(input.shape(), input.dtype()));
  Attributes attributes;
  ComputeCall call(operands, types.tensorOf(outputShape, outputDType), attributes);
  define(call);
  return *call.take();
}

inline std::vector<Value> valuesOf(const std::vector<Tensor>& tensors) {
  std::vector<Value> values;
  for (const Tensor& tensor : tensors)
    values.push_back(runtime::tensorValue(tensor));
  return values;
}

using RunValues = decltype(tensor::ExactCode::run);

/// A function as an engine computes it.
inline RunValues madeBy(const tensor::TensorEngine& engine, TensorFunction function) {
  if (engine.makeExact)
    return engine.makeExact(std::move(function)).run;
  auto kernel = std::make_shared<tensor::OwnedKernel>(std::move(function), engine.makeKernel);
  return [kernel](auto inputs, auto& outputs) { return kernel->run(inputs, outputs); };
}

/// A function for each engine.
struct Plan {
  RunValues loops, reference;
};

inline Plan planOf(const std::vector<Tensor>& inputs, DType dtype, const Shape& shape,
                   const Define& define) {
  return {madeBy(strips::stripsEngine(), build(inputs, dtype, shape, define)),
          madeBy(interp::referenceEngine(), build(inputs, dtype, shape, define))};
}

/// Runs and expects no fault.
inline std::vector<Value> runWell(const RunValues& run, const std::vector<Tensor>& inputs) {
  std::vector<Value> outputs;
  auto fault = run(valuesOf(inputs), outputs);
  INFO((fault ? fault->problem.plain() : ""));
  REQUIRE(!fault);
  return outputs;
}

inline bool sameReal(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  // Below the normal numbers of float, where relative accuracy ends, an absolute bound holds.
  double bound = std::max(tolerance * std::max(std::fabs(a), std::fabs(b)), 1e-38);
  return a == b || std::fabs(a - b) <= (tolerance == 0 ? 0 : bound);
}

/// The results of the loops engine, after comparing them with those of the reference; `tolerance`
/// is relative.
inline std::vector<Value> runWell(const Plan& plan, const std::vector<Tensor>& inputs,
                                  double tolerance = 0) {
  std::vector<Value> results = runWell(plan.loops, inputs),
                     expected = runWell(plan.reference, inputs);
  REQUIRE(results.size() == expected.size());
  for (size_t k = 0; k < results.size(); ++k) {
    REQUIRE(results[k].tensor().shape() == expected[k].tensor().shape());
    REQUIRE(results[k].tensor().dtype() == expected[k].tensor().dtype());
    std::vector<Number> actual = numbersOf(results[k].tensor()),
                        wanted = numbersOf(expected[k].tensor());
    for (size_t i = 0; i < actual.size(); ++i) {
      INFO("element " << i);
      if (actual[i].whole != wanted[i].whole ||
          !sameReal(actual[i].real, wanted[i].real, tolerance))
        FAIL("got " << actual[i].real << " / " << actual[i].whole << ", expected " << wanted[i].real
                    << " / " << wanted[i].whole);
    }
  }
  return results;
}

/// The fault of both engines.
inline std::string faultOf(const Plan& plan, const std::vector<Tensor>& inputs) {
  std::vector<Value> outputs;
  auto fault = plan.loops(valuesOf(inputs), outputs);
  auto expected = plan.reference(valuesOf(inputs), outputs);
  CHECK((expected ? expected->problem.plain() : "") == (fault ? fault->problem.plain() : ""));
  return fault ? fault->problem.plain() : "";
}

/// The elements as doubles.
inline std::vector<double> numbersOf(const Value& value) {
  std::vector<double> numbers;
  for (const Number& number : numbersOf(value.tensor()))
    numbers.push_back(value.tensor().dtype().isFloat() ? number.real : double(number.whole));
  return numbers;
}

/// Runs on both engines; `tolerance` is relative.
inline void checkEngines(const std::vector<Tensor>& inputs, DType outputDType, const Shape& shape,
                         const Define& define, double tolerance = 0) {
  INFO(tensor::tensorFunctionText(build(inputs, outputDType, shape, define)));
  runWell(planOf(inputs, outputDType, shape, define), inputs, tolerance);
  CHECK(true);
}

} // namespace tests
