// Kernels whose code runs stages on elements in memory, and the same code with reals beside them.
#include "interp/reference.h"

#include "interp/real.h"
#include "interp/real_native.h"
#include "interp/run_stages.h"
#include "lower/tensor/bind.h"
#include "lower/tensor/given.h"
#include "runtime/recent.h"

#include <algorithm>

namespace interp {

namespace {

using runtime::Fault;
using runtime::Shape;
using runtime::Value;
using tensor::TensorFunction;

/// Why there is no code of a function for these extents.
std::optional<Fault> problemFor(const TensorFunction& function, std::span<const int64_t> extents) {
  if (auto fault = tensor::uncounted(function, extents))
    return fault;
  if (!tensor::fits(function, extents))
    return Fault{runtime::FaultKind::Internal, std::string(otherShapes)};
  return std::nullopt;
}

struct Extents {
  std::span<const int64_t> numbers;

  bool operator==(const Extents& other) const { return std::ranges::equal(numbers, other.numbers); }
  size_t hash() const {
    size_t hash = 0;
    for (int64_t number : numbers)
      hash = hash * 31 + size_t(number);
    return hash;
  }
};

class ReferenceCode final : public runtime::KernelCode {
public:
  const std::vector<int64_t> extents;
  const Extents key{extents};

  ReferenceCode(const TensorFunction& function, std::span<const int64_t> of)
      : extents(of.begin(), of.end()) {
    if (auto problem = problemFor(function, extents)) {
      problem_ = *std::move(problem);
      return;
    }
    compiled_ = compile(tensor::closed(function, extents));
    const runtime::Arena& arena = *compiled_.function.arena;
    bytes_ = bytesOf(compiled_) + (&arena == function.arena.get() ? 0 : arena.reserved());
    for (Shape& shape : tensor::givenShapes(function, extents))
      shapes_.push_back(runtime::shared(std::move(shape)));
    const TensorFunction& own = compiled_.function;
    std::vector<runtime::ResultSource> sources = tensor::resultSources(own);
    for (size_t i = 0; i < sources.size(); ++i) {
      const runtime::SharedShape& shape = shapes_[own.inputCount + i];
      results_.push_back({.type = own.tensors[own.results[i]].dtype,
                          .shape = shape,
                          .size = *runtime::elementCount(*shape),
                          .source = sources[i]});
    }
    run_.emplace(compiled_);
  }

  std::optional<Fault> run(std::span<const std::byte* const> inputs,
                           std::span<std::byte* const> outputs) override {
    for (size_t i = 0; i < inputs.size(); ++i)
      run_->setInput(i, {shapes_[i]->data(), inputs[i]});
    for (size_t i = 0; i < outputs.size(); ++i)
      if (results_[i].isWritten(i))
        run_->setResult(i, {outputs[i], nullptr, results_[i].size});
    return run_->run();
  }

  /// Computes in reals, and keeps them with the results.
  std::optional<Fault> runExact(std::span<const Value> inputs, std::vector<Value>& outputs) const {
    if (problem())
      return *problem();
    Run<Real> run(compiled_);
    for (size_t i = 0; i < inputs.size(); ++i)
      run.setInput(i, {shapes_[i]->data(), inputs[i].tensor().bytes(),
                       static_cast<const Reals*>(inputs[i].exact().get())});
    std::vector<Value> values;
    for (const runtime::CodeResult& result : results_)
      try {
        values.push_back(exactResult(result, inputs, values, run));
      } catch (const std::bad_alloc&) {
        return runtime::memoryFault(result.type, *result.shape);
      }
    if (auto fault = run.run())
      return fault;
    outputs = std::move(values);
    return std::nullopt;
  }

private:
  /// The next result, which the run is told of if it is to write it.
  static Value exactResult(const runtime::CodeResult& result, std::span<const Value> inputs,
                           std::span<const Value> before, Run<Real>& run) {
    if (result.isWritten(before.size())) {
      Room<Real> room(result.type, *result.shape);
      run.setResult(before.size(), room.sink());
      return runtime::tensorValue(std::move(room.tensor), std::move(room.exact));
    }
    const Value& same = (result.source.isInput ? inputs : before)[result.source.index];
    return runtime::tensorValue(same.tensor().reshaped(result.shape), same.exact());
  }

  Compiled compiled_;
  std::optional<Run<double>> run_;
  /// Of the inputs, and then of the results.
  std::vector<runtime::SharedShape> shapes_;
};

/// Code is for one set of extents alone, so that of the last few is kept.
class ReferenceKernel final : public runtime::Kernel {
public:
  explicit ReferenceKernel(const TensorFunction& function) : function_(function) {}

  runtime::KernelCode& codeFor(std::span<const int64_t> extents) override {
    constexpr size_t most = 16, mostBytes = size_t(16) << 20;
    auto code = codes_.find(Extents{extents});
    if (!code) {
      code = std::make_shared<ReferenceCode>(function_, extents);
      codes_.add(code, most, mostBytes);
    }
    return *code;
  }

private:
  const TensorFunction& function_;
  runtime::RecentlyUsed<ReferenceCode> codes_;
};

tensor::ExactCode exactCode(const TensorFunction& function, unsigned digits) {
  auto code = std::make_shared<const ReferenceCode>(function, tensor::extentsOf(function));
  return {[code, digits, types = tensor::inputTypes(function)](
              std::span<const Value> inputs, std::vector<Value>& outputs) -> std::optional<Fault> {
            if (auto fault = tensor::inputFault(types, inputs))
              return fault;
            RealDigits scope(digits);
            return code->runExact(inputs, outputs);
          },
          code->bytes() + function.arena->reserved()};
}

} // namespace

tensor::TensorEngine referenceEngine(unsigned digits) {
  if (digits == 0)
    return {.makeKernel = [](const TensorFunction& function, auto) {
      return std::make_unique<ReferenceKernel>(function);
    }};
  return {.makeExact = [digits](TensorFunction function) { return exactCode(function, digits); },
          .runNative =
              [digits](const tensor::NativeTask& task, std::span<const Value> inputs,
                       std::vector<Value>& outputs) {
                RealDigits scope(digits);
                return runOnReals(task, inputs, outputs);
              }};
}

std::string realText(const Value& value, int64_t flat) {
  const Real& real = (*static_cast<const Reals*>(value.exact().get()))[size_t(flat)];
  char* text = nullptr;
  int length = mpfr_asprintf(&text, "%.*Rg", int(real.precision()), real.backend().data());
  std::string result(text, size_t(std::max(length, 0)));
  mpfr_free_str(text);
  return result;
}

} // namespace interp
