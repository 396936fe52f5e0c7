// What makes code for kernels: from the cache on disk where somebody made it before, else by LLVM.
//
// What code is made from tells what it is known by: the function, the extents that it is for, the
// processor, and the sources of all that has a part in making it. So neither a nest nor LLVM is
// needed where the cache has it. Kernels that a program is known to have are made by several
// threads while it runs; a call waits for its own alone.
#pragma once

#include "codegen/native/disk_cache.h"
#include "codegen/native/native_code.h"
#include "codegen/native/tuner.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <set>
#include <thread>

namespace codegen {

/// What code is wanted for: all extents of a pattern (lower/loops/sized_nest.h).
struct Wanted {
  tensor::TensorFunction function;
  std::vector<int64_t> pattern;
  int64_t least = 0;
  loops::Numbers numbers = loops::Numbers::Reordered;
};

/// The extents of inputs and then of results, where all of them are numbers.
std::optional<std::vector<int64_t>> fixedExtents(const tensor::TensorFunction& function);

/// Whether native code computes what a function gives: all results are computed, none of them an
/// input or another result once more, and its stages are not too many to schedule.
bool hasNativeForm(const tensor::TensorFunction& function);

/// A nest with the name, and its buffers with those, that nests have for which code is made.
loops::Nest withKnownNames(loops::Nest nest);
/// The steps that an earlier search for the processor at hand found to be the best for a nest;
/// empty where there was none.
std::string tunedSchedule(const loops::Nest& nest);

/// How often code came from a cache on disk.
size_t foundCount();

class Compiler {
public:
  /// Null where a function has no nest or very many stages, the nest is not compiled, or there is
  /// no LLVM.
  using Code = std::shared_ptr<const CompiledNest>;

  /// For a processor, or else for the one at hand as LLVM knows it. No folder, no cache.
  Compiler(std::optional<Processor> processor, std::filesystem::path cacheFolder);
  Compiler(const Compiler&) = delete;
  ~Compiler();

  /// From any thread.
  Code codeFor(const Wanted& wanted);
  /// Begins to make code for functions that are likely to be called, in this order.
  void prepare(std::span<const tensor::TensorFunction* const> functions, loops::Numbers numbers);

  /// Searches schedules for functions whose extents are numbers (codegen/native/tuner.h), together
  /// for so many seconds, of which each gets as much as it takes of all, or until somebody wants it
  /// to end. The code of the best is what this process and later ones find.
  std::vector<Tuned> tune(std::span<const tensor::TensorFunction* const> functions,
                          loops::Numbers numbers, double seconds,
                          const std::function<bool()>& isEnough);

  /// Why no code is made, where there was a need for it; else nothing.
  std::string problem() const;

private:
  enum class State : uint8_t { Queued, Running, Done };

  struct Job {
    Wanted wanted;
    Digest key;
    State state = State::Queued;
    Code code = {};
    std::exception_ptr problem = {};
  };
  using Jobs = std::map<Digest, std::shared_ptr<Job>>;

  Digest keyOf(const Wanted& wanted) const;
  std::optional<Code> find(const Digest& key, const Wanted& wanted);
  Code make(const Digest& key, const Wanted& wanted);
  Code codeOfNest(const loops::Nest& nest, const Processor& processor);
  const Processor* processor();
  void install(const Digest& key, const Wanted& wanted, Code code);
  Code await(Job& job, std::unique_lock<std::mutex>& lock);
  void perform(Job& job, std::unique_lock<std::mutex>& lock);
  void startWorkers();
  void work();

  const std::optional<Processor> given_;
  const std::string origin_;
  DiskCache cache_;

  /// What is made ahead of calls, and who makes it.
  struct Ahead {
    /// Of prepared functions, which keep their code.
    Jobs jobs;
    std::deque<std::shared_ptr<Job>> queue;
    std::vector<std::thread> workers;
    bool isEnding = false;
  };

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Ahead ahead_;
  /// The processor at hand once it was asked for, or why there is none.
  std::optional<runtime::Result<Processor>> host_;
  /// Code that somebody may still use, by what it is known by and by the text of its nest, and the
  /// texts that some thread compiles.
  std::map<Digest, std::weak_ptr<const CompiledNest>> known_, ofText_;
  std::set<Digest> beingMade_;
};

} // namespace codegen
