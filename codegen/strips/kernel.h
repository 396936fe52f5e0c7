// Kernels of strip programs: one for each class of sizes that calls have.
//
// A kernel is given programs, or something that makes them when sizes come that none is for, or
// both. What it was not given it keeps while it is used.
#pragma once

#include "codegen/strips/run.h"
#include "codegen/strips/sized_program.h"
#include "lower/tensor/expression.h"
#include "runtime/result.h"

namespace strips {

/// A program for some sizes, which may change; what hangs on the last few is kept. Serves one run
/// at a time.
class SizedCode final : public runtime::KernelCode {
public:
  explicit SizedCode(SizedProgram sized, bool isForeign);
  /// What says why there is no program.
  explicit SizedCode(runtime::Fault problem);

  /// Whether it is for these extents; then it is made ready for them.
  bool take(std::span<const int64_t> extents);
  bool isFor(std::span<const int64_t> extents) const;

  std::optional<runtime::Fault> run(std::span<const std::byte* const> inputs,
                                    std::span<std::byte* const> outputs) override;

private:
  /// What hangs on extents.
  struct Ready {
    static constexpr bool movesAsBytes = true;

    List<int64_t> extents = {};
    Prepared prepared = {};
    double cost = 0;
    /// Of each buffer that is given how long it is.
    List<int64_t> bufferBytes = {};
    /// Of each result its shape, and how many elements it has.
    List<runtime::SharedShape> shapes = {};
    List<int64_t> counts = {};
  };

  bool isReadyFor(std::span<const int64_t> extents);
  bool makeReady(std::span<const int64_t> extents);
  bool findShapes(Ready& ready) const;
  bool isConsistent(const Ready& ready) const;

  /// Without its program, which is linked.
  SizedProgram sized_;
  LinkedProgram linked_;
  /// Of the last few, among them those of the run at hand.
  List<Ready> ready_;
  size_t now_ = 0;
  List<int64_t> sizes_;
  List<std::byte*> buffers_;
};

/// Makes the program for a class of sizes that has these extents, or says why there is none.
using MakeProgram = runtime::Checked<SizedProgram> (*)(const tensor::TensorFunction& function,
                                                       std::span<const int64_t> extents);

class ProgramKernel final : public runtime::Kernel {
public:
  /// The function, which is only asked about by what makes programs, must outlive this. Where
  /// nothing makes any, the programs that it is given are all.
  ProgramKernel(const tensor::TensorFunction& function, std::span<const SizedProgram> given,
                MakeProgram make);

  SizedCode& codeFor(std::span<const int64_t> extents) override;
  /// How many programs were made.
  size_t programsMade() const { return programsMade_; }

private:
  SizedCode& add(std::unique_ptr<SizedCode> code);
  void forgetOld();

  const tensor::TensorFunction& function_;
  MakeProgram make_;
  /// The last used in front.
  List<std::unique_ptr<SizedCode>> codes_;
  size_t programsMade_ = 0;
};

/// A kernel of the programs that an executable has, and no others.
std::unique_ptr<runtime::Kernel> givenKernel(const tensor::TensorFunction& function,
                                             std::span<const SizedProgram> programs);

} // namespace strips
