#include "tests/harness/run_strips.h"

#include "codegen/strips/compile/compile.h"
#include "codegen/strips/run.h"
#include "tests/harness/guarded_memory.h"

#include <cstring>

namespace harness {

namespace {

runtime::Shape shapeOf(const loops::Nest& nest, const loops::Buffer& buffer,
                       std::span<const int64_t> sizes) {
  std::vector<int64_t> names(nest.table.nameCount());
  for (size_t i = 0; i < sizes.size(); ++i)
    names[size_t(nest.sizes[i].size)] = sizes[i];
  runtime::Shape shape;
  for (loops::Form extent : buffer.extents)
    shape.push_back(std::max<int64_t>(nest.table.valueOf(extent, names).value(), 0));
  return shape;
}

} // namespace

NestRun runStrips(const loops::Nest& nest, std::span<const int64_t> sizes,
                  std::span<const runtime::Value> inputs) {
  auto program = strips::programOf(nest);
  if (!program)
    return {{}, runtime::Fault{runtime::FaultKind::Internal, program.failure().text}};
  strips::LinkedProgram linked = strips::linked(*std::move(program));
  std::vector<GuardedMemory> memory;
  std::vector<runtime::Tensor> results;
  std::vector<std::byte*> buffers;
  for (const loops::Buffer& buffer : nest.buffers) {
    if (buffer.space == loops::Space::Scratch)
      continue;
    bool isInput = buffer.space == loops::Space::Input;
    if (!isInput)
      results.emplace_back(buffer.dtype, shapeOf(nest, buffer, sizes));
    const runtime::Tensor& tensor = isInput ? inputs[buffers.size()].tensor() : results.back();
    memory.emplace_back(tensor.byteSize(), true);
    if (isInput)
      std::memcpy(memory.back().bytes(), tensor.bytes(), tensor.byteSize());
    else
      std::memset(memory.back().bytes(), buffer.dtype.isBool() ? 1 : 0x7f, tensor.byteSize());
    buffers.push_back(memory.back().bytes());
  }
  NestRun run{{}, strips::run(linked, strips::prepared(linked.program, sizes), buffers)};
  for (size_t i = 0; i < results.size() && !run.fault; ++i) {
    std::memcpy(results[i].bytes(), buffers[inputs.size() + i], results[i].byteSize());
    run.results.push_back(runtime::tensorValue(std::move(results[i])));
  }
  return run;
}

} // namespace harness
