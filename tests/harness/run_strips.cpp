#include "tests/harness/run_strips.h"

#include "codegen/strips/compile/compile.h"
#include "codegen/strips/run.h"

#include <cstring>

namespace harness {

namespace {

/// Outputs hold what no program wants before they are written.
runtime::Tensor outputOf(const loops::Nest& nest, const loops::Buffer& buffer,
                         std::span<const int64_t> sizes) {
  std::vector<int64_t> names(nest.table.nameCount());
  for (size_t i = 0; i < sizes.size(); ++i)
    names[size_t(nest.sizes[i].size)] = sizes[i];
  runtime::Shape shape;
  for (loops::Form extent : buffer.extents)
    shape.push_back(std::max<int64_t>(nest.table.valueOf(extent, names).value(), 0));
  runtime::Tensor made(buffer.dtype, shape);
  std::memset(made.bytes(), buffer.dtype.isBool() ? 1 : 0x7f, made.byteSize());
  return made;
}

} // namespace

NestRun runStrips(const loops::Nest& nest, std::span<const int64_t> sizes,
                  std::span<const runtime::Value> inputs) {
  auto program = strips::programOf(nest);
  if (!program)
    return {{}, runtime::Fault{runtime::FaultKind::Internal, program.failure().text}};
  strips::LinkedProgram linked = strips::linked(*std::move(program));
  std::vector<runtime::Tensor> tensors;
  std::vector<std::byte*> buffers;
  for (const loops::Buffer& buffer : nest.buffers)
    if (buffer.space == loops::Space::Input)
      tensors.push_back(inputs[tensors.size()].tensor());
    else if (buffer.space == loops::Space::Output)
      tensors.push_back(outputOf(nest, buffer, sizes));
  for (size_t i = 0; i < tensors.size(); ++i)
    buffers.push_back(i < inputs.size() ? const_cast<std::byte*>(std::as_const(tensors[i]).bytes())
                                        : tensors[i].bytes());
  NestRun run{{}, strips::run(linked, buffers, sizes)};
  if (run.fault)
    return run;
  for (size_t i = inputs.size(); i < tensors.size(); ++i)
    run.results.push_back(runtime::tensorValue(std::move(tensors[i])));
  return run;
}

} // namespace harness
