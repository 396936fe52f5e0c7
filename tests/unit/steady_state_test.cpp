// What asks the system for memory: nothing that runs again.
#include "codegen/strips/compile/sized.h"
#include "driver/session/session.h"
#include "stdlib/ops.h"
#include "tests/unit/allocations.h"
#include "vm/bytecode/compile.h"
#include "vm/machine/machine.h"

#include <catch2/catch.hpp>

namespace {

/// How often the third and fourth run of a program ask for memory: the first makes plans, and what
/// these keep is missing in the pools of the second.
size_t allocationsOf(const std::string& text) {
  driver::Session session{stdlib::operatorTable()};
  auto program = session.loadText("test", "#[version = \"0.0.5\"]\n" + text);
  REQUIRE(program);
  REQUIRE(program->isGood());
  auto compiled = bytecode::compile(*program->module, program->typing, session.operators(),
                                    std::array{program->module->find("main")});
  vm::Machine machine(compiled->program, {.makeKernel = strips::makeKernel});
  size_t before = 0;
  for (int run = 0; run < 4; ++run) {
    if (run == 2)
      before = tests::allocations();
    vm::Slot result;
    REQUIRE(machine.run(compiled->program.entries[0], {}, result) == vm::Trap::None);
    machine.heap().release(result.object);
  }
  return tests::allocations() - before;
}

const std::string model = R"(
def @main() {
  let %x = full(0.25f, shape=[4, 10], dtype="float32");
  let %w = full(0.5f, shape=[16, 10], dtype="float32");
  let %h = nn.relu(nn.dense(%x, %w, units=None));
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
