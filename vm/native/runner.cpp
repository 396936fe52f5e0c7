// Code is known by the text of its module, which takes less time to write than to compile.
#include "vm/native/runner.h"

#include "codegen/llvm/library.h"
#include "codegen/native/disk_cache.h"
#include "codegen/native/version.h"
#include "vm/native/module.h"
#include "vm/native/native_run.h"

#include <fmt/format.h>

namespace vm::native {

using runtime::Result;

ControlCompiler::ControlCompiler(std::optional<codegen::Processor> processor)
    : processor_(std::move(processor)) {}

Result<std::string> ControlCompiler::objectOf(const Program& program) {
  const std::string text = moduleOf(program);
  codegen::DiskCache cache(codegen::DiskCache::usualFolder());
  std::string identity =
      processor_ ? processor_->name + ' ' + processor_->features : codegen::hostIdentity();
  const codegen::Digest key =
      codegen::digestOf(fmt::format("{} {}\n{}", codegen::sourceDigest(), identity, text));
  if (auto found = cache.find(key))
    return *std::move(found);
  if (!processor_) {
    auto host = codegen::hostProcessor();
    if (!host)
      return host.failure();
    processor_ = *std::move(host);
  }
  auto object = codegen::compiled(text, *processor_, codegen::Output::Object);
  if (object)
    cache.keep(key, *object);
  return object;
}

Runner ControlCompiler::runnerOf(const Program& program) {
  try {
    auto object = objectOf(program);
    if (!object)
      return nullptr;
    auto loaded = codegen::LoadedObject::load(*object);
    if (!loaded)
      return nullptr;
    auto run = std::make_shared<NativeRun>(program, *loaded);
    return [run](Machine& machine, uint32_t function) { run->run(machine, function); };
  } catch (const NotCompiled&) {
    return nullptr;
  }
}

} // namespace vm::native
