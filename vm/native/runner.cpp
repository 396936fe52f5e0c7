// Code is known by the text of its module, which takes less time to write than to compile.
#include "vm/native/runner.h"

#include "codegen/llvm/library.h"
#include "codegen/llvm/object.h"
#include "codegen/native/disk_cache.h"
#include "codegen/native/version.h"
#include "vm/native/module.h"
#include "vm/native/native_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace vm::native {

using runtime::Result;

ControlCompiler::ControlCompiler(std::optional<codegen::Processor> processor)
    : processor_(std::move(processor)) {}

Result<codegen::Image> ControlCompiler::imageOf(const Program& program) {
  const std::string text = moduleOf(program);
  codegen::DiskCache cache(codegen::DiskCache::usualFolder());
  std::string identity =
      processor_ ? processor_->name + ' ' + processor_->features : codegen::hostIdentity();
  const std::vector<std::string> entries = entryNames(program);
  const codegen::Digest key = codegen::digestOf(fmt::format(
      "{} {} {}\n{}", codegen::sourceDigest(), identity, fmt::join(entries, " "), text));
  if (auto found = cache.find(key))
    if (auto image = codegen::imageOf(*found); image && image->entries.size() == entries.size())
      return *std::move(image);
  if (!processor_) {
    auto host = codegen::hostProcessor();
    if (!host)
      return host.failure();
    processor_ = *std::move(host);
  }
  auto object = codegen::compiled(text, *processor_, codegen::Output::Object);
  if (!object)
    return object.failure();
  auto image = codegen::imageOfObject(*object, entries);
  if (image)
    cache.keep(key, codegen::bytesOf(*image));
  return image;
}

Runner ControlCompiler::runnerOf(const Program& program) {
  try {
    auto image = imageOf(program);
    auto loaded = image ? codegen::LoadedImage::load(*image) : nullptr;
    if (!loaded)
      return nullptr;
    auto run = std::make_shared<NativeRun>(program, std::move(loaded));
    return [run](Machine& machine, uint32_t function) { run->run(machine, function); };
  } catch (const NotCompiled&) {
    return nullptr;
  }
}

} // namespace vm::native
