// A compiled nest, and a run of it.
#pragma once

#include "codegen/llvm/library.h"
#include "codegen/llvm/module.h"
#include "codegen/llvm/object.h"
#include "lower/loops/machine_model.h"
#include "runtime/kernel_code.h"

#include <span>

namespace codegen {

using PartFunction = int32_t(std::byte* const* buffers, const int64_t* sizes, int64_t begin,
                             int64_t end);

/// A nest of a class of extents in machine code.
struct CompiledNest {
  /// Its body is gone; buffers, sizes and forms are there.
  NestModule module;
  std::shared_ptr<const LoadedObject> object = {};
  std::vector<PartFunction*> parts = {};
  /// Input and output that may lie in the same memory.
  std::vector<std::pair<uint32_t, uint32_t>> sharable = {};
  size_t inputs = 0, outputs = 0;
};

/// What choosers know of a processor.
loops::MachineModel modelOf(const Processor& processor);

/// Compiles a nest that verifies, for a processor that this process runs on, or for part of what it
/// has; or why it does not.
runtime::Result<std::shared_ptr<const CompiledNest>> compileNest(const loops::Nest& nest,
                                                                 const Processor& processor);

/// Chooses a schedule for a nest that verifies, and compiles it for the processor at hand; one that is
/// in use is shared. Fails where there is no LLVM.
runtime::Result<std::shared_ptr<const CompiledNest>> compileChosen(const loops::Nest& nest);

/// A compiled nest for some sizes. Serves one run at a time.
class NativeRun {
public:
  NativeRun(std::shared_ptr<const CompiledNest> nest, std::vector<int64_t> sizes);

  /// Whether an output may be computed in the memory of an input.
  bool mayShare(size_t input, size_t output) const;
  /// Whether the nest may read and write these; else outputs lie where inputs are still read.
  bool fits(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs) const;
  /// By so many threads at most. False where something is a fault, or there is no memory for
  /// scratch.
  bool run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
           unsigned threads);

private:
  bool placeScratch(const std::vector<int64_t>& names);
  bool runPart(size_t number);
  bool runParallel(PartFunction* part, int64_t iterations);

  struct Scratch {
    size_t offset = 0;
    bool isPrivate = false;
  };

  std::shared_ptr<const CompiledNest> nest_;
  std::vector<int64_t> sizes_, iterations_;
  std::vector<Scratch> scratch_;
  size_t sharedBytes_ = 0, privateBytes_ = 0;
  /// Whether there can be memory for all scratch.
  bool fitsMemory_ = false;
  /// Of each thread those that its code gets; kept, so that runs take no memory for them.
  std::vector<std::vector<std::byte*>> pointers_;
};

} // namespace codegen
