// Reals go in as numbers of a type that is none of the results', by which they are found again:
// positions and counts come out in the types that they are to have.
#include "interp/real_native.h"

#include "interp/real.h"
#include "runtime/element.h"

namespace interp {

using runtime::DType;

namespace {

using runtime::Tensor;
using runtime::Value;

std::vector<Real> realsOf(const Value& value) {
  if (value.exact())
    return *static_cast<const Reals*>(value.exact().get());
  const Tensor& tensor = value.tensor();
  std::vector<Real> reals;
  for (int64_t i = 0; i < tensor.size(); ++i)
    reals.emplace_back(
        readFloat(tensor.dtype(), tensor.bytes() + size_t(i) * tensor.dtype().bytes()));
  return reals;
}

Value valueOf(DType dtype, const runtime::Shape& shape, Reals reals) {
  Tensor tensor(dtype, shape);
  for (size_t i = 0; i < reals.size(); ++i)
    writeFloat(dtype, tensor.bytes() + i * dtype.bytes(), rounded(dtype, double(reals[i])));
  return runtime::tensorValue(std::move(tensor), std::make_shared<const Reals>(std::move(reals)));
}

/// The reals of all operands in order. Zero has the rank 0, since they fill up with it, and NaN
/// the one after all others, since it counts as larger.
class Ranks {
public:
  explicit Ranks(std::span<const Value> inputs) : sorted_{Real(0)} {
    for (const Value& input : inputs)
      if (input.tensor().dtype().isFloat())
        for (Real& real : realsOf(input))
          if (real == real)
            sorted_.push_back(std::move(real));
    std::ranges::sort(sorted_);
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
    zero_ = placeOf(Real(0));
  }

  int64_t of(const Real& real) const {
    return (real == real ? placeOf(real) : int64_t(sorted_.size())) - zero_;
  }

  Real at(int64_t rank) const {
    size_t place = size_t(rank + zero_);
    return place < sorted_.size() ? sorted_[place] : Real(std::nan(""));
  }

private:
  int64_t placeOf(const Real& real) const {
    return std::ranges::lower_bound(sorted_, real) - sorted_.begin();
  }

  std::vector<Real> sorted_;
  int64_t zero_ = 0;
};

/// Runs the function on numbers of type T in place of floats.
template <typename T>
runtime::NativeFault runOn(DType dtype, const tensor::NativeTask& task,
                           std::span<const Value> inputs, std::vector<Value>& outputs,
                           auto&& numberOf, auto&& realOf) {
  std::vector<Tensor> tensors, results;
  for (const Value& input : inputs) {
    tensors.push_back(input.tensor());
    if (!input.tensor().dtype().isFloat())
      continue;
    tensors.back() = Tensor(dtype, input.tensor().shape());
    std::ranges::transform(realsOf(input), tensors.back().elements<T>().begin(), numberOf);
  }
  auto fault = task.function.run({tensors, results}, task.parameters);
  for (size_t i = 0; i < results.size() && !fault; ++i) {
    if (results[i].dtype() == task.results[i]) {
      outputs.push_back(runtime::tensorValue(std::move(results[i])));
      continue;
    }
    Reals reals(size_t(results[i].size()));
    std::ranges::transform(std::as_const(results[i]).elements<T>(), reals.begin(), realOf);
    outputs.push_back(valueOf(task.results[i], results[i].shape(), std::move(reals)));
  }
  return fault;
}

} // namespace

runtime::NativeFault runOnReals(const tensor::NativeTask& task, std::span<const Value> inputs,
                                std::vector<Value>& outputs) {
  if (!task.onlyOrders)
    return runOn<double>(
        runtime::Float64, task, inputs, outputs, [](const Real& real) { return double(real); },
        [](double number) { return Real(number); });
  Ranks ranks(inputs);
  return runOn<int64_t>(
      runtime::Int64, task, inputs, outputs, [&](const Real& real) { return ranks.of(real); },
      [&](int64_t rank) { return ranks.at(rank); });
}

} // namespace interp
