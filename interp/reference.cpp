// The life of a run: inputs, stages in order, results. Each tensor is dropped after its last use.
#include "interp/reference.h"

#include "interp/evaluate.h"
#include "interp/real.h"
#include "interp/real_native.h"

#include <algorithm>

namespace interp {

namespace {

using runtime::Fault;
using runtime::Shape;
using runtime::Tensor;
using runtime::Value;

/// A function and the code of its stages.
struct Compiled {
  tensor::TensorFunction function;
  std::vector<tensor::InputType> inputs = {};
  std::vector<FlatStage> stages = {};
  /// Per tensor the last stage that reads it; results are read at the end.
  std::vector<size_t> lastUses = {};
};

std::shared_ptr<const Compiled> compile(tensor::TensorFunction&& function) {
  auto compiled = std::make_shared<Compiled>(Compiled{std::move(function)});
  const tensor::TensorFunction& own = compiled->function;
  compiled->inputs = tensor::inputTypes(own);
  compiled->lastUses.assign(own.tensors.size(), 0);
  for (size_t i = 0; i < own.stages.size(); ++i) {
    FlatStage flat = flatten(own.stages[i], own.tensors[own.inputCount + i]);
    compiled->lastUses[own.inputCount + i] = i;
    if (own.stages[i].kind != tensor::StageKind::Map)
      compiled->lastUses[own.stages[i].source] = i;
    for (const FlatLoad& load : flat.loads)
      compiled->lastUses[load.tensor] = i;
    compiled->stages.push_back(std::move(flat));
  }
  for (uint32_t result : own.results)
    compiled->lastUses[result] = own.stages.size();
  return compiled;
}

size_t bytesOf(const Compiled& compiled) {
  size_t bytes = sizeof compiled + compiled.function.arena->reserved();
  for (const FlatStage& stage : compiled.stages)
    bytes += sizeof stage + stage.code.size() * sizeof(Instruction);
  return bytes;
}

template <typename R>
const std::vector<R>* exactOf(const Value& value) {
  if constexpr (std::is_same_v<R, double>)
    return nullptr;
  else
    return static_cast<const std::vector<R>*>(value.exact().get());
}

/// A tensor that is being written. Reals are kept beside its elements.
template <typename R>
class Sink {
public:
  Sink(DType dtype, const Shape& shape) : tensor_(dtype, shape) {
    if (!std::is_same_v<R, double> && dtype.isFloat())
      exact_ = std::make_shared<std::vector<R>>(size_t(tensor_.size()));
  }

  void put(const R& real, int64_t whole) {
    DType dtype = tensor_.dtype();
    std::byte* to = tensor_.bytes() + next_ * dtype.bytes();
    if (exact_)
      (*exact_)[next_] = real;
    if (dtype.isFloat())
      writeFloat(dtype, to, exact_ ? rounded(dtype, double(real)) : double(real));
    else
      writeWhole(dtype, to, whole);
    ++next_;
  }

  void moveTo(size_t position) { next_ = position; }

  Value value() { return runtime::tensorValue(std::move(tensor_), std::move(exact_)); }

private:
  Tensor tensor_;
  std::shared_ptr<std::vector<R>> exact_;
  size_t next_ = 0;
};

template <typename R>
class Run {
public:
  explicit Run(const Compiled& compiled)
      : compiled_(compiled), function_(compiled.function), tensors_(function_.tensors.size()) {}

  std::optional<Fault> run(std::span<const Value> inputs, std::vector<Value>& outputs) {
    if (auto fault = tensor::inputFault(compiled_.inputs, inputs))
      return fault;
    std::ranges::copy(inputs, tensors_.begin());
    try {
      for (size_t i = 0; i < function_.stages.size(); ++i)
        if (auto fault = runStage(i))
          return fault;
    } catch (const std::bad_alloc&) {
      return runtime::memoryFault(wanted_.first, wanted_.second);
    }
    outputs.clear();
    for (uint32_t result : function_.results)
      outputs.push_back(tensors_[result]);
    return std::nullopt;
  }

private:
  std::optional<Fault> runStage(size_t i) {
    const tensor::Stage& stage = function_.stages[i];
    const FlatStage& flat = compiled_.stages[i];
    size_t result = function_.inputCount + i;
    if (!flat.problem.empty())
      return Fault{runtime::FaultKind::Internal, flat.problem};
    std::vector<Source<R>> sources;
    for (const Value& value : tensors_)
      sources.push_back(value.isSet() ? Source<R>{&value.tensor(), exactOf<R>(value)}
                                      : Source<R>{});
    StageRun<R> run(flat, sources);
    auto shape = run.shape();
    if (!shape)
      return Fault{runtime::FaultKind::Data, run.problem()};
    wanted_ = {function_.tensors[result].dtype, std::move(*shape)};
    if (!runtime::elementCount(wanted_.second))
      return runtime::memoryFault(wanted_.first, wanted_.second);
    if (stage.kind == tensor::StageKind::Map) {
      Sink<R> sink(wanted_.first, wanted_.second);
      int64_t count = *runtime::elementCount(wanted_.second);
      if (!run.eachElement(count, [&](const R& real, int64_t whole) { sink.put(real, whole); }))
        return Fault{runtime::FaultKind::Data, run.problem()};
      tensors_[result] = sink.value();
    } else {
      tensors_[result] = stage.kind == tensor::StageKind::Reshape ? reshaped(tensors_[stage.source])
                                                                  : scanned(stage, sources);
    }
    for (size_t tensor = 0; tensor < tensors_.size(); ++tensor)
      if (compiled_.lastUses[tensor] == i)
        tensors_[tensor] = Value();
    return std::nullopt;
  }

  Value reshaped(const Value& value) const {
    return runtime::tensorValue(value.tensor().reshaped(wanted_.second), value.exact());
  }

  /// Running sums and products, by the rule of reductions.
  Value scanned(const tensor::Stage& stage, std::span<const Source<R>> sources) const {
    const auto& [dtype, shape] = wanted_;
    Sink<R> sink(dtype, shape);
    size_t inner = 1, extent = size_t(shape[stage.axis]);
    for (size_t i = stage.axis + 1; i < shape.size(); ++i)
      inner *= size_t(shape[i]);
    const Source<R>& source = sources[stage.source];
    size_t count = size_t(source.tensor->size());
    bool isSum = stage.combiner == tensor::Combiner::Sum;
    for (size_t start = 0; start < count;
         start += start % inner + 1 == inner ? 1 + inner * (extent - 1) : 1) {
      R real = R(!isSum);
      uint64_t whole = !isSum;
      for (size_t k = 0; k < extent; ++k) {
        size_t at = start + k * inner;
        sink.moveTo(at);
        if (stage.exclusive)
          sink.put(roundedTo(dtype, real), int64_t(whole));
        R next = realAt(source, at);
        uint64_t nextWhole = wholeAt(source, at);
        real = isSum ? R(real + next) : R(real * next);
        whole = isSum ? whole + nextWhole : whole * nextWhole;
        if (!stage.exclusive)
          sink.put(roundedTo(dtype, real), wrap(dtype, whole));
      }
    }
    return sink.value();
  }

  static R realAt(const Source<R>& source, size_t at) {
    DType dtype = source.tensor->dtype();
    if (!dtype.isFloat())
      return R(0);
    return source.exact ? (*source.exact)[at]
                        : R(readFloat(dtype, source.tensor->bytes() + at * dtype.bytes()));
  }

  static uint64_t wholeAt(const Source<R>& source, size_t at) {
    DType dtype = source.tensor->dtype();
    return dtype.isFloat()
               ? 0
               : uint64_t(readWhole(dtype, source.tensor->bytes() + at * dtype.bytes()));
  }

  const Compiled& compiled_;
  const tensor::TensorFunction& function_;
  std::vector<Value> tensors_;
  /// The type of the tensor that is being made.
  std::pair<DType, Shape> wanted_;
};

} // namespace

tensor::TensorEngine referenceEngine(unsigned digits) {
  tensor::TensorEngine engine{[digits](tensor::TensorFunction function) -> tensor::TensorCode {
    auto compiled = compile(std::move(function));
    return {[compiled, digits](std::span<const Value> inputs, std::vector<Value>& outputs) {
              if (digits == 0)
                return Run<double>(*compiled).run(inputs, outputs);
              RealDigits scope(digits);
              return Run<Real>(*compiled).run(inputs, outputs);
            },
            bytesOf(*compiled)};
  }};
  if (digits != 0)
    engine.runNative = [digits](const tensor::NativeTask& task, std::span<const Value> inputs,
                                std::vector<Value>& outputs) {
      RealDigits scope(digits);
      return runOnReals(task, inputs, outputs);
    };
  return engine;
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
