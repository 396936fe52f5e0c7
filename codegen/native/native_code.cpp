// From a scheduled nest to code.
#include "codegen/native/native_code.h"

#include "codegen/llvm/object.h"
#include "codegen/native/size_step_writer.h"
#include "lower/loops/sharing.h"
#include "runtime/threads.h"

namespace codegen {

namespace {

using loops::Space;
using runtime::Result;

void findSharable(NestCode& made, const loops::Nest& nest) {
  // Where native code ends at a fault the call is made again, from the same inputs.
  if (loops::mayFail(nest))
    return;
  for (auto [input, output] : loops::sharableBuffers(nest))
    made.sharable.push_back({input, output - made.inputs});
}

} // namespace

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
    made.parts.push_back({uint32_t(made.parts.size()),
                          part.iterations ? writer.stepOf(*part.iterations) : CodePart::once});
  for (const Workspace& workspace : module.workspaces)
    made.scratch.push_back({writer.stepOf(workspace.elements),
                            uint32_t(nest.buffers[workspace.buffer].dtype.bytes()),
                            workspace.isPrivate});
  made.steps = writer.take();
  findSharable(made, nest);
  return made;
}

loops::MachineModel modelOf(const Processor& processor) {
  return {.vectorBytes = processor.vectorBytes(),
          .registers = processor.registers(),
          .wholeProducts = processor.wholeProducts(),
          .threads = runtime::threadLimit()};
}

Result<NestCode> codeOf(const loops::Nest& nest, const Processor& processor) {
  auto module = moduleOf(nest, targetOf(processor));
  if (!module)
    return runtime::Error{module.failure().text};
  auto object = compiled(module->text(), processor, Output::Object);
  if (!object)
    return object.failure();
  std::vector<std::string> symbols;
  for (const Part& part : module->parts)
    symbols.push_back(part.symbol);
  auto image = imageOfObject(*object, symbols);
  if (!image)
    return image.failure();
  NestCode code = codeWithout(*module);
  code.image = *std::move(image);
  return code;
}

Result<std::shared_ptr<const CompiledNest>> compileNest(const loops::Nest& nest,
                                                        const Processor& processor) {
  auto code = codeOf(nest, processor);
  if (!code)
    return code.failure();
  if (auto made = loaded(*std::move(code)))
    return made;
  return runtime::Error{"machine code cannot be loaded"};
}

} // namespace codegen
