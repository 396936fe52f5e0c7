// The life of a run: inputs, stages in order. Each tensor is dropped after its last use; results
// are written where they are wanted.
//
// R is the type of floats, as in evaluate.h.
#pragma once

#include "interp/compiled.h"
#include "interp/evaluate.h"
#include "runtime/fault.h"

#include <optional>

namespace interp {

inline constexpr std::string_view otherShapes = "a kernel is for other shapes";

/// Where the elements of a tensor are written, and reals beside them where there are any.
template <typename R>
struct Sink {
  std::byte* bytes = nullptr;
  std::vector<R>* exact = nullptr;
  /// How many elements there is room for.
  int64_t size = 0;

  void put(DType dtype, size_t at, const R& real, int64_t whole) const {
    std::byte* to = bytes + at * dtype.bytes();
    if (!dtype.isFloat())
      return writeWhole(dtype, to, whole);
    if constexpr (std::is_same_v<R, double>)
      return writeFloat(dtype, to, real);
    (*exact)[at] = real;
    writeFloat(dtype, to, rounded(dtype, double(real)));
  }
};

/// A tensor that is being written, with reals beside its elements where these are rounded.
template <typename R>
struct Room {
  runtime::Tensor tensor;
  std::shared_ptr<std::vector<R>> exact = nullptr;

  Room(DType dtype, const runtime::Shape& shape)
      : tensor(runtime::Tensor::unwritten(dtype, shape)) {
    if (!std::is_same_v<R, double> && dtype.isFloat())
      exact = std::make_shared<std::vector<R>>(size_t(tensor.size()));
  }

  Sink<R> sink() { return {tensor.bytes(), exact.get(), tensor.size()}; }
};

/// Runs a function, again and again.
template <typename R>
class Run {
public:
  explicit Run(const Compiled& compiled)
      : compiled_(compiled), function_(compiled.function), shapes_(function_.stages.size()),
        sources_(function_.tensors.size()), wanted_(function_.tensors.size()),
        rooms_(function_.tensors.size()) {}

  /// Where the elements of an input are, and where those of a result go that has no others'.
  void setInput(size_t i, Source<R> source) { sources_[i] = source; }
  void setResult(size_t i, Sink<R> sink) { wanted_[compiled_.roots[function_.results[i]]] = sink; }

  std::optional<runtime::Fault> run() {
    for (auto& room : rooms_)
      room.reset();
    for (size_t i = 0; i < function_.stages.size(); ++i) {
      try {
        if (auto fault = runStage(i))
          return fault;
      } catch (const std::bad_alloc&) {
        return runtime::memoryFault(function_.tensors[function_.inputCount + i].dtype, shapes_[i]);
      }
      for (size_t tensor = 0; tensor < rooms_.size(); ++tensor)
        if (rooms_[tensor] && compiled_.lastUses[tensor] <= i)
          rooms_[tensor].reset();
    }
    return std::nullopt;
  }

private:
  std::optional<runtime::Fault> runStage(size_t i) {
    const tensor::Stage& stage = function_.stages[i];
    const FlatStage& flat = compiled_.stages[i];
    const size_t made = function_.inputCount + i;
    const DType dtype = function_.tensors[made].dtype;
    if (!flat.problem.empty())
      return runtime::Fault{runtime::FaultKind::Internal, flat.problem};
    StageRun<R> run(flat, sources_);
    auto shape = run.shape();
    if (!shape)
      return runtime::Fault{runtime::FaultKind::Data, run.problem()};
    shapes_[i] = *std::move(shape);
    auto count = runtime::elementCount(shapes_[i]);
    if (!count)
      return runtime::memoryFault(dtype, shapes_[i]);
    if (stage.kind == tensor::StageKind::Reshape) {
      sources_[made] = sources_[stage.source];
      sources_[made].shape = shapes_[i].data();
      return std::nullopt;
    }
    const Sink<R> sink = sinkOf(made, dtype, shapes_[i]);
    if (sink.size != *count)
      return runtime::Fault{runtime::FaultKind::Internal, std::string(otherShapes)};
    sources_[made] = {shapes_[i].data(), sink.bytes, sink.exact};
    if (stage.kind == tensor::StageKind::Map)
      return fill(run, dtype, sink);
    scan(stage, dtype, shapes_[i], sink);
    return std::nullopt;
  }

  static std::optional<runtime::Fault> fill(StageRun<R>& run, DType dtype, const Sink<R>& sink) {
    auto put = [sink, dtype, at = size_t(0)](const R& real, int64_t whole) mutable {
      sink.put(dtype, at++, real, whole);
    };
    if (run.eachElement(sink.size, put))
      return std::nullopt;
    return runtime::Fault{runtime::FaultKind::Data, run.problem()};
  }

  Sink<R> sinkOf(size_t tensor, DType dtype, const runtime::Shape& shape) {
    if (wanted_[tensor].bytes)
      return wanted_[tensor];
    return rooms_[tensor].emplace(dtype, shape).sink();
  }

  /// Running sums and products, by the rule of reductions.
  void scan(const tensor::Stage& stage, DType dtype, const runtime::Shape& shape,
            const Sink<R>& sink) const {
    size_t inner = 1, extent = size_t(shape[stage.axis]);
    for (size_t i = stage.axis + 1; i < shape.size(); ++i)
      inner *= size_t(shape[i]);
    const Source<R>& source = sources_[stage.source];
    size_t count = size_t(*runtime::elementCount(shape));
    bool isSum = stage.combiner == tensor::Combiner::Sum;
    for (size_t start = 0; start < count;
         start += start % inner + 1 == inner ? 1 + inner * (extent - 1) : 1) {
      R real = R(!isSum);
      uint64_t whole = !isSum;
      for (size_t k = 0; k < extent; ++k) {
        size_t at = start + k * inner;
        if (stage.exclusive)
          sink.put(dtype, at, roundedTo(dtype, real), int64_t(whole));
        R next = realAt(source, dtype, at);
        uint64_t nextWhole = wholeAt(source, dtype, at);
        real = isSum ? R(real + next) : R(real * next);
        whole = isSum ? whole + nextWhole : whole * nextWhole;
        if (!stage.exclusive)
          sink.put(dtype, at, roundedTo(dtype, real), wrap(dtype, whole));
      }
    }
  }

  static R realAt(const Source<R>& source, DType dtype, size_t at) {
    if (!dtype.isFloat())
      return R(0);
    return source.exact ? (*source.exact)[at]
                        : R(readFloat(dtype, source.bytes + at * dtype.bytes()));
  }

  static uint64_t wholeAt(const Source<R>& source, DType dtype, size_t at) {
    return dtype.isFloat() ? 0 : uint64_t(readWhole(dtype, source.bytes + at * dtype.bytes()));
  }

  const Compiled& compiled_;
  const tensor::TensorFunction& function_;
  /// Of each stage that of its tensor.
  std::vector<runtime::Shape> shapes_;
  std::vector<Source<R>> sources_;
  /// Of each tensor where it is wanted, if it is.
  std::vector<Sink<R>> wanted_;
  /// Of the other ones.
  std::vector<std::optional<Room<R>>> rooms_;
};

} // namespace interp
