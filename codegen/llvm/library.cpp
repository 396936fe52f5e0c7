// The C interface is declared here as far as it is used, so that no header of LLVM is needed.
//
// Modules have explicit vectors and no calls among themselves, so a handful of passes does: what
// lies on the stack goes to registers, what is stored again is not stored before, then common parts
// and what loops do not change go out.
#include "codegen/llvm/library.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <memory>
#include <vector>

namespace codegen {

namespace {

using runtime::Error;
using runtime::Result;

using Handle = struct Opaque*;

constexpr const char* libraryNames[] = {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so"};
constexpr const char* passes =
    "function(sroa,early-cse<memssa>,dse,instcombine<no-verify-fixpoint>,"
    "simplifycfg,loop-mssa(licm),early-cse,instcombine<no-verify-fixpoint>,adce)";

/// What is used of the C interface, in the order of names below.
struct Functions {
  Handle (*createContext)();
  void (*disposeContext)(Handle);
  Handle (*createBuffer)(const char*, size_t, const char*);
  int (*parse)(Handle context, Handle buffer, Handle* module, char** message);
  void (*disposeModule)(Handle);
  void (*setTriple)(Handle module, const char*);
  void (*setLayout)(Handle module, Handle layout);
  int (*findTarget)(const char* triple, Handle* target, char** message);
  Handle (*createMachine)(Handle target, const char* triple, const char* processor,
                          const char* features, int level, int relocation, int codeModel);
  void (*disposeMachine)(Handle);
  Handle (*createLayout)(Handle machine);
  void (*disposeLayout)(Handle);
  Handle (*createOptions)();
  void (*disposeOptions)(Handle);
  Handle (*runPasses)(Handle module, const char* passes, Handle machine, Handle options);
  char* (*errorMessage)(Handle);
  void (*disposeErrorMessage)(char*);
  int (*emit)(Handle machine, Handle module, int kind, char** message, Handle* buffer);
  const char* (*bufferStart)(Handle);
  size_t (*bufferSize)(Handle);
  void (*disposeBuffer)(Handle);
  void (*disposeMessage)(char*);
  char* (*hostTriple)();
  char* (*hostName)();
  char* (*hostFeatures)();
};

constexpr const char* functionNames[] = {
    "LLVMContextCreate",
    "LLVMContextDispose",
    "LLVMCreateMemoryBufferWithMemoryRangeCopy",
    "LLVMParseIRInContext",
    "LLVMDisposeModule",
    "LLVMSetTarget",
    "LLVMSetModuleDataLayout",
    "LLVMGetTargetFromTriple",
    "LLVMCreateTargetMachine",
    "LLVMDisposeTargetMachine",
    "LLVMCreateTargetDataLayout",
    "LLVMDisposeTargetData",
    "LLVMCreatePassBuilderOptions",
    "LLVMDisposePassBuilderOptions",
    "LLVMRunPasses",
    "LLVMGetErrorMessage",
    "LLVMDisposeErrorMessage",
    "LLVMTargetMachineEmitToMemoryBuffer",
    "LLVMGetBufferStart",
    "LLVMGetBufferSize",
    "LLVMDisposeMemoryBuffer",
    "LLVMDisposeMessage",
    "LLVMGetDefaultTargetTriple",
    "LLVMGetHostCPUName",
    "LLVMGetHostCPUFeatures",
};
static_assert(sizeof(Functions) == sizeof(void*) * std::size(functionNames));

/// Looks up functions one after the other; nothing when one is missing.
bool find(void* library, Functions& functions) {
  auto* slots = reinterpret_cast<void**>(&functions);
  for (size_t i = 0; i < std::size(functionNames); ++i)
    if (!(slots[i] = dlsym(library, functionNames[i])))
      return false;
  return true;
}

void initialiseTargets(void* library) {
  for (std::string_view target : {"X86", "AArch64"})
    for (std::string_view part : {"TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser"})
      if (void* found = dlsym(library, fmt::format("LLVMInitialize{}{}", target, part).c_str()))
        reinterpret_cast<void (*)()>(found)();
}

struct Library {
  Functions functions = {};
  bool isThere = false;
};

Library openLibrary() {
  Library opened;
  std::vector<const char*> names(std::begin(libraryNames), std::end(libraryNames));
  if (const char* said = std::getenv("BATON_LLVM"))
    names = {said};
  for (const char* name : names)
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
      opened.isThere = find(library, opened.functions);
      if (opened.isThere)
        initialiseTargets(library);
      return opened;
    }
  return opened;
}

const Library& library() {
  static const Library opened = openLibrary();
  return opened;
}

Error missing() {
  return {"LLVM 19 is not installed (Debian: libllvm19), so there is no native code"};
}

std::string taken(const Functions& llvm, char* text) {
  std::string copy = text ? text : "";
  llvm.disposeMessage(text);
  return copy;
}

/// Something of LLVM's that is given back at the end.
template <auto Functions::*dispose>
class Owned {
public:
  Owned(const Functions& llvm, Handle handle) : llvm_(llvm), handle_(handle) {}
  Owned(const Owned&) = delete;
  ~Owned() {
    if (handle_)
      (llvm_.*dispose)(handle_);
  }
  Handle get() const { return handle_; }

private:
  const Functions& llvm_;
  Handle handle_;
};

Result<Handle> createMachine(const Functions& llvm, const Processor& processor) {
  constexpr int optimised = 2, independent = 2, smallCode = 3;
  Handle target = nullptr;
  char* message = nullptr;
  if (llvm.findTarget(processor.triple.c_str(), &target, &message) != 0)
    return Error{taken(llvm, message)};
  return llvm.createMachine(target, processor.triple.c_str(), processor.name.c_str(),
                            processor.features.c_str(), optimised, independent, smallCode);
}

} // namespace

Result<Processor> hostProcessor() {
  const Library& opened = library();
  if (!opened.isThere)
    return missing();
  const Functions& llvm = opened.functions;
  return Processor{taken(llvm, llvm.hostTriple()), taken(llvm, llvm.hostName()),
                   taken(llvm, llvm.hostFeatures())};
}

Result<std::string> compiled(std::string_view module, const Processor& processor, Output output) {
  const Library& opened = library();
  if (!opened.isThere)
    return missing();
  const Functions& llvm = opened.functions;
  Owned<&Functions::disposeContext> context(llvm, llvm.createContext());
  Handle buffer = llvm.createBuffer(module.data(), module.size(), "nest"), parsed = nullptr;
  char* message = nullptr;
  // The buffer is the parser's from here on.
  if (llvm.parse(context.get(), buffer, &parsed, &message) != 0)
    throw std::logic_error("a module that is no good one: " + taken(llvm, message));
  Owned<&Functions::disposeModule> owned(llvm, parsed);
  auto machine = createMachine(llvm, processor);
  if (!machine)
    return machine.failure();
  Owned<&Functions::disposeMachine> ownedMachine(llvm, *machine);
  Owned<&Functions::disposeLayout> layout(llvm, llvm.createLayout(*machine));
  llvm.setTriple(parsed, processor.triple.c_str());
  llvm.setLayout(parsed, layout.get());
  Owned<&Functions::disposeOptions> options(llvm, llvm.createOptions());
  if (Handle error = llvm.runPasses(parsed, passes, *machine, options.get())) {
    char* text = llvm.errorMessage(error);
    std::string problem = text;
    llvm.disposeErrorMessage(text);
    throw std::logic_error("passes that are no good ones: " + problem);
  }
  Handle code = nullptr;
  if (llvm.emit(*machine, parsed, output == Output::Object, &message, &code) != 0)
    return Error{taken(llvm, message)};
  Owned<&Functions::disposeBuffer> ownedCode(llvm, code);
  return std::string(llvm.bufferStart(code), llvm.bufferSize(code));
}

} // namespace codegen
