// The native functions of `libbaton_rt`: the library beside it, which is opened when an executable
// names the first one, and stays open.
#include "vm/rt/natives.h"

#include <dlfcn.h>

namespace vm {

namespace {

/// Null where there is no library of this version beside this one, where the loader puts `$ORIGIN`.
const rt::Natives* open() {
  static constexpr rt::NativeHost host;
  void* library = dlopen("$ORIGIN/libbaton_natives.so", RTLD_NOW);
  void* symbol = library ? dlsym(library, "baton_natives") : nullptr;
  return symbol ? reinterpret_cast<rt::OpenNatives>(symbol)(host) : nullptr;
}

const rt::Natives* natives() {
  static const rt::Natives* const opened = open();
  return opened;
}

} // namespace

std::optional<std::string> findNatives(Program& program) {
  if (program.natives.empty())
    return std::nullopt;
  if (!natives())
    return "it calls native functions, and there is no libbaton_natives.so of this version beside "
           "this library";
  return natives()->find(program);
}

const char* nativeProblem(const Program& program, const HostSite& site) {
  return natives()->problem(program, site);
}

std::optional<runtime::Fault> callNative(const Program& program, const HostSite& site,
                                         std::span<const Slot> operands, Heap& heap, Slot& result) {
  return natives()->call(program, site, operands, heap, result);
}

} // namespace vm
