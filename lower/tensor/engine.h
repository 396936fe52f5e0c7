// What evaluates tensor functions, as data: control flow and tensor arithmetic meet here, so that
// whoever runs programs can be given any engine.
#pragma once

#include "lower/tensor/expression.h"
#include "runtime/kernel_code.h"
#include "runtime/native.h"
#include "runtime/value.h"

#include <functional>
#include <mutex>
#include <optional>

namespace strips {
struct SizedProgram;
}

namespace tensor {

/// A tensor function for values that carry more digits than their elements, for which there are no
/// kernels.
struct ExactCode {
  /// Computes the results, in order, from tensors of the types that the function was made for.
  std::function<std::optional<runtime::Fault>(std::span<const runtime::Value> inputs,
                                              std::vector<runtime::Value>& outputs)>
      run;
  /// About how much memory it takes.
  size_t bytes = 0;
};

/// A native function that is to run on values. Floats may stand for others of more digits then, in
/// another type.
struct NativeTask {
  const runtime::Native& function;
  const runtime::NativeParameters& parameters;
  /// Whether it only compares elements and moves them (lang::Native::onlyOrders).
  bool onlyOrders;
  /// The element types of the results.
  std::vector<runtime::DType> results;
};

/// Makes a kernel of a function over open extents, which must outlive it, with the programs that an
/// executable has for it.
using MakeKernel = std::function<std::unique_ptr<runtime::Kernel>(
    const TensorFunction& function, std::span<const strips::SizedProgram> programs)>;

struct TensorEngine {
  /// Makes kernels; null where values carry more digits than their elements.
  MakeKernel makeKernel = nullptr;
  /// There, in place of it: makes code of a function whose extents are all constants; problems show
  /// when the code runs.
  std::function<ExactCode(TensorFunction function)> makeExact = {};
  /// There as well: runs native functions.
  std::function<runtime::NativeFault(const NativeTask& task, std::span<const runtime::Value> inputs,
                                     std::vector<runtime::Value>& outputs)>
      runNative = {};
  /// Told before a run of the functions that it may make kernels of, in the order in which it is
  /// likely to.
  std::function<void(std::span<const TensorFunction* const> functions)> prepare = {};
  /// What is to be said of how it served, behind a run; empty for nothing.
  std::function<std::string()> note = {};
};

/// Element type and extents of an input; an extent of -1 may be any.
struct InputType {
  runtime::DType dtype;
  runtime::Shape shape;
};

std::vector<InputType> inputTypes(const TensorFunction& function);

/// What is wrong with the inputs of a function: their number, or the type of one.
std::optional<runtime::Fault> inputFault(std::span<const InputType> expected,
                                         std::span<const runtime::Value> inputs);

/// A function with a kernel of it, for who has values.
class OwnedKernel {
public:
  OwnedKernel(TensorFunction function, const MakeKernel& makeKernel);

  /// Computes the results, in order, whose shapes are these; what is wrong with the function or
  /// with sizes shows here. Whoever comes takes turns.
  std::optional<runtime::Fault> run(std::span<const runtime::Value> inputs,
                                    std::span<const runtime::Shape> results,
                                    std::vector<runtime::Value>& outputs);
  /// The same for a function whose extents are all constants.
  std::optional<runtime::Fault> run(std::span<const runtime::Value> inputs,
                                    std::vector<runtime::Value>& outputs);
  /// About how much memory it takes, without code for sizes that the function leaves open.
  size_t bytes() const { return bytes_; }

private:
  bool isAgain(std::span<const runtime::Value> inputs,
               std::span<const runtime::Shape> results) const;
  void choose(std::span<const runtime::Value> inputs, std::span<const runtime::Shape> results);

  const TensorFunction function_;
  std::vector<InputType> inputs_;
  /// The shapes of the results where they are constants.
  std::vector<runtime::Shape> results_;
  std::unique_ptr<runtime::Kernel> kernel_;
  /// The code of the run before, and its extents.
  runtime::KernelCode* code_ = nullptr;
  std::vector<int64_t> extents_;
  size_t bytes_;
  std::mutex turn_;
};

} // namespace tensor
