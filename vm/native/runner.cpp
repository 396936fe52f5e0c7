// Code is known by the text of its module, which takes less time to write than to compile.
#include "vm/native/runner.h"

#include "codegen/llvm/library.h"
#include "codegen/llvm/object.h"
#include "codegen/native/disk_cache.h"
#include "codegen/native/version.h"
#include "vm/native/late_code.h"
#include "vm/native/module.h"
#include "vm/native/native_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace vm::native {

using codegen::Image;
using runtime::Result;

namespace {

codegen::DiskCache cache() {
  return codegen::DiskCache(codegen::DiskCache::usualFolder());
}

} // namespace

ControlCompiler::ControlCompiler(std::optional<codegen::Processor> processor)
    : processor_(std::move(processor)) {}

WantedCode ControlCompiler::wantedFor(const Program& program) const {
  WantedCode wanted{moduleOf(program), entryNames(program), {}};
  std::string identity =
      processor_ ? processor_->name + ' ' + processor_->features : codegen::hostIdentity();
  wanted.key = codegen::digestOf(fmt::format("{} {} {}\n{}", codegen::sourceDigest(), identity,
                                             fmt::join(wanted.entries, " "), wanted.module));
  return wanted;
}

std::optional<Image> ControlCompiler::find(const WantedCode& wanted) const {
  auto found = cache().find(wanted.key);
  auto image = found ? codegen::imageOf(*found) : std::nullopt;
  return image && image->entries.size() == wanted.entries.size() ? image : std::nullopt;
}

Result<Image> ControlCompiler::make(const WantedCode& wanted) const {
  auto target = processor_ ? Result(*processor_) : codegen::hostProcessor();
  if (!target)
    return target.failure();
  auto object = codegen::compiled(wanted.module, *target, codegen::Output::Object);
  if (!object)
    return object.failure();
  auto image = codegen::imageOfObject(*object, wanted.entries);
  if (image)
    cache().keep(wanted.key, codegen::bytesOf(*image));
  return image;
}

Runner runnerOf(const ControlCompiler& compiler, const Program& program) {
  try {
    const WantedCode wanted = compiler.wantedFor(program);
    std::optional<Image> image = compiler.find(wanted);
    if (!image)
      if (auto made = compiler.make(wanted))
        image = *std::move(made);
    auto loaded = image ? codegen::LoadedImage::load(*image) : nullptr;
    if (!loaded)
      return {};
    auto run = std::make_shared<NativeRun>(program, std::move(loaded));
    return {.run = [run](Machine& machine, uint32_t function) {
      run->run(machine, function);
      return true;
    }};
  } catch (const NotCompiled&) {
    return {};
  }
}

Runner lateRunnerOf(std::shared_ptr<const ControlCompiler> compiler, const Program& program,
                    Patience patience) {
  auto code = std::make_shared<LateCode>(std::move(compiler), program, patience);
  return {
      .run = [code](Machine& machine, uint32_t function) { return code->run(machine, function); },
      .call = [code](Machine& machine, const Word* at,
                     uint64_t calls) { return code->call(machine, at, calls); }};
}

} // namespace vm::native
