// One mutex guards all that changes; nobody holds it while code is looked for or made.
#include "codegen/native/compiler.h"

#include "codegen/llvm/library.h"
#include "codegen/native/function_bytes.h"
#include "codegen/native/version.h"
#include "lower/loops/choose.h"
#include "lower/loops/sized_nest.h"
#include "runtime/signals.h"
#include "runtime/threads.h"

#include <algorithm>
#include <fmt/format.h>

namespace codegen {

namespace {

using tensor::TensorFunction;

/// What all code of a compiler hangs on.
std::string originOf(const std::optional<Processor>& processor) {
  return fmt::format("{} {} threads {}", sourceDigest(),
                     processor ? fmt::format("{} {}", processor->name, processor->features)
                               : hostIdentity(),
                     runtime::threadLimit());
}

/// Choosing a schedule takes longer than it can save where there are more.
constexpr size_t mostStages = 96;

bool fits(const NestCode& code, const Wanted& wanted) {
  size_t sizes = loops::sizesOf(wanted.pattern, wanted.pattern).size();
  return code.inputs == wanted.function.inputCount &&
         code.outputs == wanted.function.results.size() && code.sizes == sizes;
}

std::atomic<size_t> codeFound = 0;

/// What the best schedule of a nest is known by.
Digest scheduleKey(const std::string& origin, const loops::Nest& nest) {
  return digestOf(fmt::format("{} schedule of {}", origin, loops::textOf(nest)));
}

/// A function that is tuned, with its nest, which stays where it is as long as the search.
struct Tunable {
  Wanted wanted;
  loops::Nest nest;
  std::optional<Tuner> tuner = {};
};

/// Functions whose extents are numbers, with the time of a call; those of one key once.
std::deque<Tunable> tunablesOf(std::span<const TensorFunction* const> functions,
                               loops::Numbers numbers, const Processor& processor,
                               const std::function<Digest(const Wanted&)>& keyOf,
                               const std::function<bool()>& isOver) {
  std::deque<Tunable> found;
  std::set<Digest> seen;
  for (const TensorFunction* function : functions) {
    auto extents = hasNativeForm(*function) ? fixedExtents(*function) : std::nullopt;
    if (!extents || isOver())
      continue;
    Wanted wanted{*function, *std::move(extents), 0, numbers};
    auto nest = loops::nestOfPattern(wanted.function, wanted.pattern, 0, numbers);
    if (!nest || !seen.insert(keyOf(wanted)).second)
      continue;
    Tunable& each = found.emplace_back(std::move(wanted), *std::move(nest));
    each.tuner.emplace(each.nest, processor);
    if (!each.tuner->isPossible())
      found.pop_back();
  }
  return found;
}

/// Does something at the end.
template <typename Action>
struct AtEnd {
  Action action;
  ~AtEnd() { action(); }
};

} // namespace

std::optional<std::vector<int64_t>> fixedExtents(const TensorFunction& function) {
  std::vector<int64_t> extents;
  bool areNumbers = true;
  auto add = [&](uint32_t tensor) {
    for (const tensor::ScalarNode* extent : function.tensors[tensor].shape)
      if (const auto* number = extent->as<tensor::ScalarNumber>())
        extents.push_back(number->integer);
      else
        areNumbers = false;
  };
  for (uint32_t i = 0; i < function.inputCount; ++i)
    add(i);
  std::ranges::for_each(function.results, add);
  return areNumbers ? std::optional(std::move(extents)) : std::nullopt;
}

bool hasNativeForm(const TensorFunction& function) {
  std::set<uint32_t> seen;
  return function.stages.size() <= mostStages &&
         std::ranges::all_of(function.results, [&](uint32_t result) {
           return result >= function.inputCount && seen.insert(result).second &&
                  function.stages[result - function.inputCount].kind != tensor::StageKind::Reshape;
         });
}

size_t foundCount() {
  return codeFound;
}

Compiler::Compiler(std::optional<Processor> processor, std::filesystem::path cacheFolder)
    : given_(std::move(processor)), origin_(originOf(given_)), cache_(std::move(cacheFolder)) {}

Compiler::~Compiler() {
  {
    std::lock_guard lock(mutex_);
    ahead_.isEnding = true;
    ahead_.queue.clear();
  }
  changed_.notify_all();
  for (std::thread& worker : ahead_.workers)
    worker.join();
}

Digest Compiler::keyOf(const Wanted& wanted) const {
  std::string bytes = fmt::format("{} {} {} ", origin_, wanted.least, int(wanted.numbers));
  bytes.append(reinterpret_cast<const char*>(wanted.pattern.data()),
               wanted.pattern.size() * sizeof wanted.pattern[0]);
  return digestOf(bytes + bytesOf(wanted.function));
}

/// Code that somebody made before, which is null where they found that there is none; nothing where
/// nobody did.
std::optional<Compiler::Code> Compiler::find(const Digest& key, const Wanted& wanted) {
  auto bytes = cache_.find(key);
  if (!bytes)
    return std::nullopt;
  if (bytes->empty())
    return Code();
  auto code = nestCodeOf(*bytes);
  if (!code || !fits(*code, wanted))
    return std::nullopt;
  auto made = loaded(*std::move(code));
  if (!made)
    return std::nullopt;
  ++codeFound;
  return made;
}

const Processor* Compiler::processor() {
  if (given_)
    return &*given_;
  std::lock_guard lock(mutex_);
  if (!host_)
    host_ = hostProcessor();
  return *host_ ? &**host_ : nullptr;
}

std::string Compiler::problem() const {
  std::lock_guard lock(mutex_);
  return host_ && !*host_ ? host_->failure().message : "";
}

Compiler::Code Compiler::make(const Digest& key, const Wanted& wanted) {
  if (auto found = find(key, wanted))
    return *found;
  auto nest = loops::nestOfPattern(wanted.function, wanted.pattern, wanted.least, wanted.numbers);
  Code made;
  if (nest) {
    const Processor* target = processor();
    if (!target)
      return nullptr;
    made = codeOfNest(*nest, *target);
  }
  cache_.keep(key, made ? bytesOf(made->code) : "");
  return made;
}

/// Schedules and compiles a nest, unless somebody uses one that is the same.
Compiler::Code Compiler::codeOfNest(const loops::Nest& nest, const Processor& target) {
  const Digest text = digestOf(loops::textOf(nest));
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !beingMade_.contains(text); });
    if (Code made = ofText_[text].lock())
      return made;
    beingMade_.insert(text);
  }
  Code made;
  AtEnd end{[&] {
    std::lock_guard lock(mutex_);
    beingMade_.erase(text);
    ofText_[text] = made;
    changed_.notify_all();
  }};
  if (auto compiled = compileNest(loops::scheduled(nest, modelOf(target)).nest, target))
    made = *compiled;
  return made;
}

Compiler::Code Compiler::codeFor(const Wanted& wanted) {
  if (wanted.function.stages.size() > mostStages)
    return nullptr;
  const Digest key = keyOf(wanted);
  {
    std::unique_lock lock(mutex_);
    if (auto job = ahead_.jobs.find(key); job != ahead_.jobs.end())
      return await(*job->second, lock);
    if (Code made = known_[key].lock())
      return made;
  }
  Code made = make(key, wanted);
  std::lock_guard lock(mutex_);
  known_[key] = made;
  return made;
}

Compiler::Code Compiler::await(Job& job, std::unique_lock<std::mutex>& lock) {
  if (job.state == State::Queued) {
    auto place = std::ranges::find(ahead_.queue, &job, [](const auto& each) { return each.get(); });
    std::rotate(ahead_.queue.begin(), place, place + 1);
    if (ahead_.workers.empty()) {
      ahead_.queue.pop_front();
      perform(job, lock);
    }
  }
  changed_.wait(lock, [&] { return job.state == State::Done; });
  if (job.problem)
    std::rethrow_exception(job.problem);
  return job.code;
}

void Compiler::perform(Job& job, std::unique_lock<std::mutex>& lock) {
  job.state = State::Running;
  lock.unlock();
  try {
    job.code = make(job.key, job.wanted);
  } catch (...) {
    job.problem = std::current_exception();
  }
  lock.lock();
  job.state = State::Done;
  changed_.notify_all();
}

void Compiler::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ahead_.isEnding || !ahead_.queue.empty(); });
    if (ahead_.isEnding)
      return;
    std::shared_ptr<Job> job = std::move(ahead_.queue.front());
    ahead_.queue.pop_front();
    perform(*job, lock);
  }
}

void Compiler::prepare(std::span<const TensorFunction* const> functions, loops::Numbers numbers) {
  for (const TensorFunction* function : functions) {
    auto extents = fixedExtents(*function);
    if (!extents || !hasNativeForm(*function))
      continue;
    auto job = std::make_shared<Job>(Job{{*function, *std::move(extents), 0, numbers}, {}});
    job->key = keyOf(job->wanted);
    if (ahead_.jobs.contains(job->key))
      continue;
    if (auto found = find(job->key, job->wanted)) {
      job->code = *found;
      job->state = State::Done;
    }
    std::lock_guard lock(mutex_);
    if (job->state == State::Queued)
      ahead_.queue.push_back(job);
    ahead_.jobs.emplace(job->key, std::move(job));
  }
  startWorkers();
}

loops::Nest withKnownNames(loops::Nest nest) {
  nest.name = "kernel";
  size_t inputs = 0, outputs = 0;
  for (loops::Buffer& buffer : nest.buffers)
    if (buffer.space == loops::Space::Input)
      buffer.name = fmt::format("x{}", inputs++);
    else if (buffer.space == loops::Space::Output)
      buffer.name = fmt::format("y{}", outputs++);
  return nest;
}

std::string tunedSchedule(const loops::Nest& nest) {
  return DiskCache(DiskCache::usualFolder())
      .find(scheduleKey(originOf(std::nullopt), nest))
      .value_or("");
}

std::vector<Tuned> Compiler::tune(std::span<const TensorFunction* const> functions,
                                  loops::Numbers numbers, double seconds,
                                  const std::function<bool()>& isEnough) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  auto passed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  auto isOver = [&] { return passed() >= seconds || isEnough(); };
  const Processor* target = processor();
  if (!target)
    return {};
  std::deque<Tunable> tunables = tunablesOf(
      functions, numbers, *target, [&](const Wanted& wanted) { return keyOf(wanted); }, isOver);
  std::vector<Tunable*> longestFirst;
  double left = 0;
  for (Tunable& each : tunables) {
    longestFirst.push_back(&each);
    left += each.tuner->seconds();
  }
  std::ranges::sort(longestFirst, std::greater(),
                    [](const Tunable* each) { return each->tuner->seconds(); });
  std::vector<Tuned> found;
  for (Tunable* each : longestFirst) {
    const double end = passed() + (seconds - passed()) * each->tuner->seconds() / left;
    left -= each->tuner->seconds();
    const Digest schedule = scheduleKey(origin_, each->nest);
    found.push_back(each->tuner->search(cache_.find(schedule).value_or(""),
                                        [&] { return passed() >= end || isEnough(); }));
    cache_.keep(schedule, fmt::format("# found by --tune: {}\n{}", found.back().summary(),
                                      found.back().schedule));
    install(keyOf(each->wanted), each->wanted, each->tuner->code());
  }
  return found;
}

/// Makes code that which is found here and in the cache.
void Compiler::install(const Digest& key, const Wanted& wanted, Code code) {
  cache_.keep(key, bytesOf(code->code));
  auto job = std::make_shared<Job>(Job{wanted, key, State::Done, std::move(code)});
  std::lock_guard lock(mutex_);
  ahead_.jobs.insert_or_assign(key, std::move(job));
}

/// The caller makes what it waits for where there is one thread only, or where the system has no
/// more of them.
void Compiler::startWorkers() {
  const unsigned most = runtime::threadLimit();
  std::lock_guard lock(mutex_);
  runtime::SignalsKeptBack signals;
  try {
    while (most > 1 && ahead_.workers.size() < std::min<size_t>(most, ahead_.queue.size()))
      ahead_.workers.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
  }
}

} // namespace codegen
