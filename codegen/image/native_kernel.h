// Kernels that run machine code where there is some for the sizes at hand, and strips beside it:
// these say what results look like, run the rest, and find the words where machine code finds that
// something is a fault.
#pragma once

#include "codegen/image/native_run.h"
#include "codegen/strips/sized_program.h"

#include <functional>
#include <optional>

namespace codegen {

/// Whether all results are written, none of them an input or another result once more: else machine
/// code of a nest does not do what strips do.
bool writesResults(const runtime::KernelCode& strips);

/// Strips that know the results, and native code for some extents, if there is.
class NativeCode final : public runtime::KernelCode {
public:
  /// `ranByStrips` is called, where there is one, behind each call that strips served since there
  /// is no native code. The strips must outlive this.
  /// A run reads and writes so many bytes.
  NativeCode(runtime::KernelCode& strips, size_t bytesMoved,
             std::function<void()> ranByStrips = nullptr);

  void setNative(std::optional<NativeRun> native);
  std::optional<runtime::Fault> run(std::span<const std::byte* const> inputs,
                                    std::span<std::byte* const> outputs) override;

private:
  bool isLong() const;
  void keepSharable();

  runtime::KernelCode& strips_;
  size_t bytesMoved_;
  std::function<void()> ranByStrips_;
  std::optional<NativeRun> native_;
};

/// How many bytes inputs and results of a function have that are of these extents, as a kernel is
/// given them.
size_t bytesMoved(const tensor::TensorFunction& function, std::span<const int64_t> extents);

/// A kernel of the strip programs that an executable has, and of machine code for what the first
/// of them is for, which is of as many inputs, results and sizes.
std::unique_ptr<runtime::Kernel> givenKernel(const tensor::TensorFunction& function,
                                             std::span<const strips::SizedProgram> programs,
                                             std::shared_ptr<const CompiledNest> code);
/// Whether code is of as many inputs, results and sizes as a program.
bool fits(const NestCode& code, const strips::SizedProgram& program);

} // namespace codegen
