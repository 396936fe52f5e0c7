// What asks the system for memory: nothing that runs again.
//
// This file replaces operator new for all unit tests, so that it can count.
#include "bytecode/compile.h"
#include "driver/session.h"
#include "stdlib/ops.h"
#include "vm/machine.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

namespace {

thread_local size_t allocations = 0;

void* counted(size_t bytes, size_t alignment) {
  ++allocations;
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, sizeof(void*)), std::max(bytes, size_t(1))) != 0)
    return nullptr;
  return memory;
}

void* countedOrThrow(size_t bytes, size_t alignment) {
  void* memory = counted(bytes, alignment);
  if (!memory)
    throw std::bad_alloc();
  return memory;
}

constexpr size_t usual = alignof(std::max_align_t);

} // namespace

void* operator new(size_t bytes) {
  return countedOrThrow(bytes, usual);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return countedOrThrow(bytes, size_t(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes, usual);
}
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted(bytes, size_t(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace {

/// How often the second and third run of a program ask for memory.
size_t allocationsOf(const std::string& text) {
  driver::Session session{stdlib::operatorTable()};
  auto program = session.loadText("test", "#[version = \"0.0.5\"]\n" + text);
  REQUIRE(program);
  REQUIRE(program->isGood());
  auto compiled = bytecode::compile(*program->module, program->typing, session.operators(),
                                    *program->module->find("main"));
  vm::Machine machine(compiled->program, {});
  size_t before = 0;
  for (int run = 0; run < 3; ++run) {
    if (run == 1)
      before = allocations;
    vm::Slot result;
    REQUIRE(machine.run(compiled->entry, {}, result) == vm::Trap::None);
    machine.heap().release(result.object);
  }
  return allocations - before;
}

const std::string model = R"(
def @main() {
  let %x = reshape(arange(0f, 40f, 1f, dtype="float32"), newshape=[4, 10]);
  let %w = full(0.5f, shape=[16, 10], dtype="float32");
  let %h = nn.relu(nn.dense(%x, %w));
  let %n = nn.layer_norm(%h, full(1f, shape=[16], dtype="float32"), full(0f, shape=[16], dtype="float32"));
  let %s = split(nn.softmax(%n), indices_or_sections=2, axis=1);
  concatenate((%s.0 + %s.1, %s.1), axis=0)
}
)";

} // namespace

TEST_CASE("a static model asks for no memory when it runs again") {
  CHECK(allocationsOf(model) == 0);
}

TEST_CASE("a loop over tensors of named sizes asks for no memory when it runs again") {
  CHECK(allocationsOf(R"(
def @loop(%i: int32, %x: Tensor[(n), float32], %y: Tensor[(n), float32]) -> Tensor[(n), float32] {
  if (less(%i, 1)) { %x } else { @loop(subtract(%i, 1), tanh(add(%x, %y)), %y) }
}
def @main() { let %x = full(0.1f, shape=[8], dtype="float32"); @loop(100, %x, %x) }
)") == 0);
}
