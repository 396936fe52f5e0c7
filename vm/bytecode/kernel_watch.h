// What calls of kernels take, one by one, in some part of a run.
#pragma once

#include "lower/tensor/demand.h"
#include "lower/tensor/wrapped_kernel.h"
#include "vm/machine/program.h"

#include <deque>
#include <map>

namespace bytecode {

/// Calls of one site with operands of the same extents.
struct WatchedKernel {
  std::string name;
  runtime::SourceRange range;
  tensor::Demand demand;
  /// What each call took, in seconds.
  std::vector<double> times = {};
};

class KernelWatch {
public:
  KernelWatch() = default;
  KernelWatch(const KernelWatch&) = delete;

  /// What makes kernels that are watched. The program and this must outlive it and them.
  tensor::MakeKernel watched(const vm::Program& program, tensor::MakeKernel makeKernel);
  /// Calls from here on count; before, a call costs what it does anyway.
  void begin() { isWatching_ = true; }
  /// Those that were called, in the order of their first calls since.
  const std::deque<WatchedKernel>& kernels() const { return kernels_; }

private:
  WatchedKernel& kernelFor(const tensor::TensorFunction& function,
                           const std::vector<int64_t>& extents);
  tensor::AroundRun around(const tensor::TensorFunction& function, std::vector<int64_t> extents);

  bool isWatching_ = false;
  /// Of each function of a site its name and place.
  std::map<const tensor::TensorFunction*, std::pair<std::string, runtime::SourceRange>> sites_;
  std::map<std::pair<const tensor::TensorFunction*, std::vector<int64_t>>, WatchedKernel*> known_;
  std::deque<WatchedKernel> kernels_;
};

} // namespace bytecode
