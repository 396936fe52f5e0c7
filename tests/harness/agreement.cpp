// The reference computes every tensor of the function, so that the largest number is known.
#include "tests/harness/agreement.h"

#include "codegen/strips/compile/sized.h"
#include "interp/reference.h"
#include "lower/tensor/bind.h"
#include "lower/tensor/given.h"
#include "lower/tensor/wrapped_kernel.h"
#include "runtime/element.h"

#include <algorithm>
#include <fmt/format.h>

namespace harness {

namespace {

using runtime::Tensor;
using runtime::Value;

constexpr double unitsAllowed = 64;

double realAt(const Tensor& tensor, size_t i) {
  return runtime::readFloat(tensor.dtype(), tensor.bytes() + i * tensor.dtype().bytes());
}

int64_t wholeAt(const Tensor& tensor, size_t i) {
  return runtime::readWhole(tensor.dtype(), tensor.bytes() + i * tensor.dtype().bytes());
}

double largestNumber(std::span<const Value> tensors) {
  double largest = 0;
  for (const Value& value : tensors)
    if (const Tensor& tensor = value.tensor(); tensor.dtype().isFloat())
      for (size_t i = 0; i < size_t(tensor.size()); ++i)
        if (double real = realAt(tensor, i); std::isfinite(real))
          largest = std::max(largest, std::fabs(real));
  return largest;
}

/// The most that a float result may differ where the numbers of its computation are that large.
double allowance(runtime::DType dtype, double largest) {
  bool isBrain = dtype.code == runtime::DTypeCode::BFloat;
  int digits = dtype.bits == 64 ? 53 : dtype.bits == 32 ? 24 : isBrain ? 8 : 11;
  return unitsAllowed * std::ldexp(largest, -digits);
}

bool isNear(double a, double b, double allowed) {
  if (std::isfinite(a) && std::isfinite(b))
    return std::fabs(a - b) <= allowed;
  return std::isnan(a) ? std::isnan(b) : a == b;
}

/// The first element that differs, by text.
std::string difference(const Tensor& found, const Tensor& wanted, double largest) {
  if (found.dtype() != wanted.dtype() || found.shape() != wanted.shape())
    return fmt::format("a tensor of {}, and by the reference of {}",
                       runtime::shapeText(found.dtype(), found.shape()),
                       runtime::shapeText(wanted.dtype(), wanted.shape()));
  double allowed = allowance(found.dtype(), largest);
  for (size_t i = 0; i < size_t(found.size()); ++i)
    if (!found.dtype().isFloat()) {
      if (wholeAt(found, i) != wholeAt(wanted, i))
        return fmt::format("element {} is {}, and by the reference {}", i, wholeAt(found, i),
                           wholeAt(wanted, i));
    } else if (!isNear(realAt(found, i), realAt(wanted, i), allowed)) {
      return fmt::format("element {} is {}, and by the reference {}, where {} is allowed", i,
                         realAt(found, i), realAt(wanted, i), allowed);
    }
  return "";
}

/// A function that gives all its tensors after its results.
tensor::TensorFunction withAllTensors(tensor::TensorFunction function) {
  for (uint32_t i = 0; i < function.tensors.size(); ++i)
    function.results.push_back(i);
  return function;
}

std::string disagreement(tensor::OwnedKernel& reference, std::span<const Value> inputs,
                         std::span<const Value> results, const runtime::Fault* fault) {
  std::vector<Value> expected;
  if (auto wanted = reference.run(inputs, expected)) {
    // A stage may be at fault for elements that no result asks for.
    bool isEmpty =
        std::ranges::all_of(results, [](const Value& value) { return value.tensor().size() == 0; });
    return fault || isEmpty ? ""
                            : "a value, and by the reference the fault: " + wanted->problem.plain();
  }
  if (fault)
    return fault->kind == runtime::FaultKind::Memory
               ? ""
               : "a fault, and by the reference none: " + fault->problem.plain();
  double largest = largestNumber(expected);
  for (size_t i = 0; i < results.size(); ++i)
    if (auto text = difference(results[i].tensor(), expected[i].tensor(), largest); !text.empty())
      return fmt::format("result {}: {}", i, text);
  return "";
}

Value valueOf(runtime::DType dtype, const runtime::Shape& shape, const std::byte* elements) {
  Tensor tensor = Tensor::unwritten(dtype, shape);
  std::memcpy(tensor.bytes(), elements, tensor.byteSize());
  return runtime::tensorValue(std::move(tensor));
}

/// Runs code and then the reference, which has the shapes of its inputs and results.
tensor::AroundRun comparison(tensor::TensorFunction function, std::vector<runtime::Shape> shapes,
                             std::function<void(const std::string&)> report) {
  auto reference = std::make_shared<tensor::OwnedKernel>(withAllTensors(function),
                                                         interp::referenceEngine().makeKernel);
  return [=](runtime::KernelCode& code, std::span<const std::byte* const> inputs,
             std::span<std::byte* const> outputs) {
    std::vector<Value> given, results;
    for (size_t i = 0; i < inputs.size(); ++i)
      given.push_back(valueOf(function.tensors[i].dtype, shapes[i], inputs[i]));
    auto fault = code.run(inputs, outputs);
    for (size_t i = 0; i < outputs.size() && !fault; ++i) {
      const runtime::CodeResult& result = code.results()[i];
      const auto [isInput, index] = result.source;
      results.push_back(
          valueOf(result.type, *result.shape, isInput ? inputs[index] : outputs[index]));
    }
    auto found = disagreement(*reference, given, results, fault ? &*fault : nullptr);
    if (!found.empty())
      report(found + "\n" + tensor::tensorFunctionText(function));
    return fault;
  };
}

} // namespace

std::string disagreement(tensor::TensorFunction function, std::span<const Value> inputs,
                         std::span<const Value> results, const runtime::Fault* fault) {
  tensor::OwnedKernel reference(withAllTensors(std::move(function)),
                                interp::referenceEngine().makeKernel);
  return disagreement(reference, inputs, results, fault);
}

tensor::TensorEngine comparedLoops(std::function<void(const std::string&)> report) {
  auto around = [report = std::move(report)](const tensor::TensorFunction& function,
                                             std::span<const int64_t> extents) {
    return comparison(tensor::closed(function, extents), tensor::givenShapes(function, extents),
                      report);
  };
  return {.makeKernel = tensor::wrapped(strips::makeKernel, around)};
}

} // namespace harness
