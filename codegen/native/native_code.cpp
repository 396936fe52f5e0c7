// From a scheduled nest to code, and how it runs.
#include "codegen/native/native_code.h"

#include "codegen/llvm/module.h"
#include "lower/loops/sharing.h"
#include "runtime/pool.h"
#include "runtime/threads.h"

#include <algorithm>
#include <atomic>

namespace codegen {

namespace {

using loops::Space;
using runtime::Result;

constexpr size_t alignment = 64;

size_t aligned(size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

void findSharable(NestCode& made, const loops::Nest& nest) {
  // Where native code ends at a fault the call is made again, from the same inputs.
  if (loops::mayFail(nest))
    return;
  for (auto [input, output] : loops::sharableBuffers(nest))
    made.sharable.emplace_back(input, output - made.inputs);
}

/// All but the object.
NestCode codeWithout(const NestModule& module) {
  const loops::Nest& nest = module.nest;
  NestCode made{.sizes = uint32_t(nest.sizes.size())};
  for (const loops::Buffer& buffer : nest.buffers) {
    made.inputs += buffer.space == Space::Input;
    made.outputs += buffer.space == Space::Output;
  }
  std::vector<sizes::Name> names;
  for (const loops::Assumption& size : nest.sizes)
    names.push_back(size.size);
  SizeStepWriter writer(nest.table, names);
  for (const Part& part : module.parts)
    made.parts.push_back(
        {part.symbol, part.iterations ? writer.stepOf(*part.iterations) : CodePart::once});
  for (const Workspace& workspace : module.workspaces)
    made.scratch.push_back({writer.stepOf(workspace.elements),
                            uint32_t(nest.buffers[workspace.buffer].dtype.bytes()),
                            workspace.isPrivate});
  made.steps = writer.take();
  findSharable(made, nest);
  return made;
}

} // namespace

loops::MachineModel modelOf(const Processor& processor) {
  return {.vectorBytes = processor.vectorBytes(),
          .registers = processor.registers(),
          .threads = runtime::threadLimit()};
}

Result<NestCode> codeOf(const loops::Nest& nest, const Processor& processor) {
  auto module = moduleOf(nest, {processor.vectorBytes()});
  if (!module)
    return runtime::Error{module.failure().text};
  auto object = compiled(module->text, processor, Output::Object);
  if (!object)
    return object.failure();
  NestCode code = codeWithout(*module);
  code.object = *std::move(object);
  return code;
}

Result<std::shared_ptr<const CompiledNest>> loaded(NestCode code) {
  auto object = LoadedObject::load(code.object);
  if (!object)
    return object.failure();
  auto made = std::make_shared<CompiledNest>(CompiledNest{std::move(code), *object});
  for (const CodePart& part : made->code.parts) {
    auto* function = reinterpret_cast<PartFunction*>((*object)->find(part.symbol));
    if (!function)
      return runtime::Error{"an object without a part of its kernel"};
    made->parts.push_back(function);
  }
  return std::shared_ptr<const CompiledNest>(std::move(made));
}

Result<std::shared_ptr<const CompiledNest>> compileNest(const loops::Nest& nest,
                                                        const Processor& processor) {
  auto code = codeOf(nest, processor);
  return code ? loaded(*std::move(code)) : code.failure();
}

NativeRun::NativeRun(std::shared_ptr<const CompiledNest> nest, std::vector<int64_t> sizes)
    : nest_(std::move(nest)), sizes_(std::move(sizes)) {
  const auto values = valuesOf(nest_->code.steps, sizes_);
  for (const CodePart& part : nest_->code.parts) {
    auto count = part.iterations != CodePart::once ? values[part.iterations] : 1;
    isRunnable_ &= count.has_value();
    iterations_.push_back(std::max<int64_t>(0, count.value_or(0)));
  }
  isRunnable_ &= placeScratch(values);
}

bool NativeRun::placeScratch(std::span<const std::optional<int64_t>> values) {
  constexpr int64_t most = int64_t(1) << 48;
  for (const CodeScratch& scratch : nest_->code.scratch) {
    auto elements = values[scratch.elements];
    size_t& end = scratch.isPrivate ? privateBytes_ : sharedBytes_;
    if (!elements || *elements > most || end > size_t(most))
      return false;
    scratch_.push_back({end, scratch.isPrivate});
    end += aligned(size_t(std::max<int64_t>(0, *elements)) * scratch.elementBytes);
  }
  return true;
}

bool NativeRun::mayShare(size_t input, size_t output) const {
  std::pair<uint32_t, uint32_t> pair{uint32_t(input), uint32_t(output)};
  return std::ranges::find(nest_->code.sharable, pair) != nest_->code.sharable.end();
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
  if (nest_->code.parts[number].iterations != CodePart::once && pointers_.size() > 1 &&
      iterations > 1)
    return runParallel(part, iterations);
  return part(pointers_[0].data(), sizes_.data(), 0, iterations) == 0;
}

bool NativeRun::run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                    unsigned threads) {
  if (!isRunnable_)
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
        *next++ =
            (scratch.isPrivate ? own.bytes() + i * privateBytes_ : shared.bytes()) + scratch.offset;
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
