// Nests that are alike are scheduled and compiled once, as long as somebody uses them.
#include "codegen/native/native_code.h"

#include "lower/loops/choose.h"
#include "lower/loops/sharing.h"
#include "runtime/pool.h"
#include "runtime/threads.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

namespace codegen {

namespace {

using loops::Space;
using runtime::Result;

constexpr size_t alignment = 64;

size_t aligned(size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

void findSharable(CompiledNest& made, const loops::Nest& nest) {
  for (const loops::Buffer& buffer : nest.buffers) {
    made.inputs += buffer.space == Space::Input;
    made.outputs += buffer.space == Space::Output;
  }
  // Where native code ends at a fault the call is made again, from the same inputs.
  if (loops::mayFail(nest))
    return;
  for (auto [input, output] : loops::sharableBuffers(nest))
    made.sharable.emplace_back(input, output - uint32_t(made.inputs));
}

} // namespace

loops::MachineModel modelOf(const Processor& processor) {
  return {.vectorBytes = processor.vectorBytes(),
          .registers = processor.registers(),
          .threads = runtime::threadLimit()};
}

Result<std::shared_ptr<const CompiledNest>> compileNest(const loops::Nest& nest,
                                                        const Processor& processor) {
  auto module = moduleOf(nest, {processor.vectorBytes()});
  if (!module)
    return runtime::Error{module.failure().text};
  auto code = compiled(module->text, processor, Output::Object);
  if (!code)
    return code.failure();
  auto object = LoadedObject::load(*code);
  if (!object)
    return object.failure();
  auto made = std::make_shared<CompiledNest>(CompiledNest{*std::move(module), *object});
  findSharable(*made, made->module.nest);
  for (const Part& part : made->module.parts)
    made->parts.push_back(reinterpret_cast<PartFunction*>((*object)->find(part.symbol)));
  made->module.nest.body.clear();
  made->module.text.clear();
  return std::shared_ptr<const CompiledNest>(std::move(made));
}

Result<std::shared_ptr<const CompiledNest>> compileChosen(const loops::Nest& nest) {
  static std::mutex mutex;
  static std::unordered_map<std::string, std::weak_ptr<const CompiledNest>> known;
  std::string key = loops::textOf(nest);
  {
    std::lock_guard lock(mutex);
    if (auto made = known[key].lock())
      return made;
  }
  static const Result<Processor> processor = hostProcessor();
  if (!processor)
    return processor.failure();
  auto made = compileNest(loops::scheduled(nest, modelOf(*processor)).nest, *processor);
  if (made) {
    std::lock_guard lock(mutex);
    known[key] = *made;
  }
  return made;
}

NativeRun::NativeRun(std::shared_ptr<const CompiledNest> nest, std::vector<int64_t> sizes)
    : nest_(std::move(nest)), sizes_(std::move(sizes)) {
  const loops::Nest& of = nest_->module.nest;
  std::vector<int64_t> names(of.table.nameCount());
  for (size_t i = 0; i < of.sizes.size(); ++i)
    names[size_t(of.sizes[i].size)] = sizes_[i];
  for (const Part& part : nest_->module.parts) {
    auto count = part.iterations ? of.table.valueOf(*part.iterations, names) : 1;
    iterations_.push_back(std::max<int64_t>(0, count.value_or(0)));
  }
  fitsMemory_ = placeScratch(names);
}

bool NativeRun::placeScratch(const std::vector<int64_t>& names) {
  constexpr int64_t most = int64_t(1) << 48;
  const loops::Nest& of = nest_->module.nest;
  for (const Workspace& workspace : nest_->module.workspaces) {
    auto elements = of.table.valueOf(workspace.elements, names);
    size_t& end = workspace.isPrivate ? privateBytes_ : sharedBytes_;
    if (!elements || *elements > most || end > size_t(most))
      return false;
    scratch_.push_back({end, workspace.isPrivate});
    end += aligned(size_t(std::max<int64_t>(0, *elements)) *
                   of.buffers[workspace.buffer].dtype.bytes());
  }
  return true;
}

bool NativeRun::mayShare(size_t input, size_t output) const {
  std::pair<uint32_t, uint32_t> pair{uint32_t(input), uint32_t(output)};
  return std::ranges::find(nest_->sharable, pair) != nest_->sharable.end();
}

bool NativeRun::fits(std::span<const std::byte* const> inputs,
                     std::span<std::byte* const> outputs) const {
  for (size_t input = 0; input < inputs.size(); ++input)
    for (size_t output = 0; output < outputs.size(); ++output)
      if (inputs[input] == outputs[output] && !mayShare(input, output))
        return false;
  return true;
}

bool NativeRun::runParallel(PartFunction* part, int64_t iterations) {
  std::atomic<int64_t> next = 0;
  std::atomic<size_t> workers = 0;
  std::atomic<bool> isFault = false;
  int64_t piece = std::max<int64_t>(1, iterations / (int64_t(pointers_.size()) * 4));
  runtime::shareWork(unsigned(pointers_.size()), [&] {
    const std::vector<std::byte*>& own = pointers_[workers++];
    for (int64_t begin = next.fetch_add(piece); begin < iterations && !isFault;
         begin = next.fetch_add(piece))
      if (part(own.data(), sizes_.data(), begin, std::min(begin + piece, iterations)) != 0)
        isFault = true;
  });
  return !isFault;
}

bool NativeRun::runPart(size_t number) {
  PartFunction* part = nest_->parts[number];
  int64_t iterations = iterations_[number];
  if (nest_->module.parts[number].iterations && pointers_.size() > 1 && iterations > 1)
    return runParallel(part, iterations);
  return part(pointers_[0].data(), sizes_.data(), 0, iterations) == 0;
}

bool NativeRun::run(std::span<const std::byte* const> inputs,
                    std::span<std::byte* const> outputs, unsigned threads) {
  if (!fitsMemory_)
    return false;
  try {
    runtime::Block shared(sharedBytes_), own(privateBytes_ * threads);
    pointers_.resize(threads);
    for (size_t i = 0; i < threads; ++i) {
      pointers_[i].resize(inputs.size() + outputs.size() + scratch_.size());
      auto next = pointers_[i].begin();
      for (const std::byte* input : inputs)
        *next++ = const_cast<std::byte*>(input);
      next = std::ranges::copy(outputs, next).out;
      for (const Scratch& scratch : scratch_)
        *next++ = (scratch.isPrivate ? own.bytes() + i * privateBytes_ : shared.bytes()) +
                  scratch.offset;
    }
    for (size_t i = 0; i < nest_->parts.size(); ++i)
      if (!runPart(i))
        return false;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

} // namespace codegen
