// Between values and arrays.
#include "lower/engine.h"

#include "lower/tensor_eval.h"

namespace lower {

namespace {

Array arrayOf(const runtime::Value& value, Precision precision) {
  if (!value.exact())
    return Array::fromTensor(value.tensor(), precision);
  auto* reals = static_cast<const std::byte*>(value.exact().get());
  return {value.tensor().dtype(), value.tensor().shape(), {value.exact(), reals}};
}

runtime::Value valueOf(const Array& array) {
  if (const runtime::Tensor* tensor = array.plain())
    return runtime::tensorValue(*tensor);
  return runtime::tensorValue(array.toTensor(), array.reals());
}

} // namespace

lang::TensorEngine loopsEngine(Precision precision) {
  return {[precision](lang::TensorFunction&& function) -> lang::TensorCode {
    return {[plan = lower::compile(std::move(function)), precision](
                std::span<const runtime::Value> inputs, std::vector<runtime::Value>& outputs) {
      std::vector<Array> arrays, results;
      for (const runtime::Value& input : inputs)
        arrays.push_back(arrayOf(input, precision));
      auto fault = lower::run(plan, arrays, precision, results);
      outputs.clear();
      for (const Array& result : results)
        outputs.push_back(valueOf(result));
      return fault;
    }};
  }};
}

std::string realText(const runtime::Value& value, int64_t flat) {
  return arrayOf(value, {}).realText(flat);
}

} // namespace lower
