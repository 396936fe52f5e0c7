// A nest in machine code that can be called, and a run of it.
#pragma once

#include "codegen/image/nest_code.h"
#include "runtime/kernel_code.h"

#include <span>

namespace codegen {

using PartFunction = int32_t(std::byte* const* buffers, const int64_t* sizes, int64_t begin,
                             int64_t end);

/// A nest of a class of extents in machine code.
struct CompiledNest {
  NestCode code;
  /// Null where the parts are linked functions.
  std::shared_ptr<const LoadedImage> image = {};
  runtime::List<PartFunction*> parts = {};
};

/// Code in memory, for a processor that this process runs on, or for part of what it has; null
/// where it cannot be loaded.
std::shared_ptr<const CompiledNest> loaded(NestCode code);
/// Code whose parts are among these functions; null where one is not.
std::shared_ptr<const CompiledNest> linked(NestCode code, std::span<PartFunction* const> functions);

/// A compiled nest for some sizes. Serves one run at a time.
class NativeRun {
public:
  NativeRun(std::shared_ptr<const CompiledNest> nest, runtime::List<int64_t> sizes);

  /// Whether an output may be computed in the memory of an input.
  bool mayShare(size_t input, size_t output) const;
  /// Whether the nest may read and write these; else outputs lie where inputs are still read.
  bool fits(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs) const;
  /// By so many threads at most. `isLong` says that a run reads more than goes in one breath: then
  /// each goes the other way than the one before, so that what that one read last is read first,
  /// while it is still near. False where something is a fault, or there is no memory for scratch.
  bool run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
           unsigned threads, bool isLong = false);

private:
  bool placeScratch(std::span<const std::optional<int64_t>> values);
  bool runPart(size_t number, bool isLong);
  bool runInPieces(PartFunction* part, int64_t iterations);

  struct Scratch {
    size_t offset = 0;
    bool isPrivate = false;
  };

  std::shared_ptr<const CompiledNest> nest_;
  runtime::List<int64_t> sizes_, iterations_;
  runtime::List<Scratch> scratch_;
  size_t sharedBytes_ = 0, privateBytes_ = 0;
  /// Whether the last run, if it was long, went from the last piece to the first.
  bool goesBack_ = false;
  /// Whether the numbers of a run fit 64 bits, and its scratch any memory.
  bool isRunnable_ = true;
  /// Of each thread those that its code gets; kept, so that runs take no memory for them.
  runtime::List<runtime::List<std::byte*>> pointers_;
};

} // namespace codegen
