// The library of native functions, which `libbaton_rt` opens. Memory and objects come from whoever
// opened it.
#include "runtime/pool.h"
#include "vm/rt/natives.h"

namespace {

constinit rt::NativeHost host{0, nullptr, nullptr, nullptr, nullptr};

/// Whether another copy of `libbaton_rt` in this process has opened the library, to which memory
/// would go that is not its own.
bool isOfAnother(const rt::NativeHost& opener) {
  return host.version != 0 && host.takeBlock != opener.takeBlock;
}

} // namespace

namespace runtime {

void* takeBlock(size_t bytes) {
  return host.takeBlock(bytes);
}

void giveBlock(void* block, size_t bytes) noexcept {
  host.giveBlock(block, bytes);
}

} // namespace runtime

namespace vm {

Object* Heap::box(runtime::Value value) {
  return (this->*host.box)(std::move(value));
}

Object* Heap::make(uint16_t layout) {
  return (this->*host.make)(layout);
}

} // namespace vm

extern "C" __attribute__((visibility("default"))) const rt::Natives*
baton_natives(const rt::NativeHost& opener) {
  static constexpr rt::Natives natives{vm::findNatives, vm::nativeProblem, vm::callNative};
  if (opener.version != rt::nativesVersion || isOfAnother(opener))
    return nullptr;
  host = opener;
  return &natives;
}
