// The collector of cycles: random graphs against a search from the roots, and programs that leave
// cycles behind, in little memory.
#include "codegen/strips/compile/sized.h"
#include "runtime/holdings.h"
#include "stdlib/ops.h"
#include "tests/unit/checked_program.h"
#include "vm/bytecode/run.h"
#include "vm/machine/heap.h"
#include "vm/machine/verify.h"

#include <map>
#include <random>
#include <set>

using vm::Heap;
using vm::Object;

namespace {

constexpr uint16_t cellLayout = 1, pairLayout = 2;

/// A heap of cells, pairs and boxed values, some of which are held from outside.
class Graph {
public:
  explicit Graph(uint32_t seed) : random_(seed) {}
  ~Graph() {
    while (!roots_.empty())
      drop();
  }

  size_t below(size_t count) { return random_() % count; }
  size_t roots() const { return roots_.size(); }
  Heap& heap() { return heap_; }

  void step() {
    switch (below(8)) {
    case 0:
      return roots_.push_back(heap_.box(runtime::tensorValue(runtime::Tensor())));
    case 1:
    case 2:
      return add(cellLayout, {any()});
    case 3:
      return add(pairLayout, {any(), any()});
    case 4:
    case 5:
      return write();
    default:
      return roots_.empty() ? void() : drop();
    }
  }

  void drop() {
    std::swap(roots_[below(roots_.size())], roots_.back());
    Object* object = roots_.back();
    roots_.pop_back();
    heap_.release(object);
  }

  /// What the roots lead to, with the references to each from there.
  std::map<Object*, size_t> reachable() {
    std::map<Object*, size_t> found;
    std::vector<Object*> open(roots_);
    for (; !open.empty();) {
      Object* object = open.back();
      open.pop_back();
      if (found[object]++ > 0)
        continue;
      for (uint16_t field : heap_.referencesOf(object->layout))
        open.push_back(object->fields()[field].object);
    }
    return found;
  }

private:
  /// An owned reference to something that is there.
  Object* any() {
    if (roots_.empty())
      roots_.push_back(heap_.box(runtime::tensorValue(runtime::Tensor())));
    return inside(roots_[below(roots_.size())]);
  }

  /// An owned reference to what lies a few steps inwards.
  Object* inside(Object* object) {
    for (size_t i = below(4); i > 0 && !heap_.referencesOf(object->layout).empty(); --i)
      object = object->fields()[below(heap_.referencesOf(object->layout).size())].object;
    Heap::retain(object);
    return object;
  }

  void add(uint16_t layout, std::vector<Object*> fields) {
    Object* object = heap_.make(layout);
    for (size_t i = 0; i < fields.size(); ++i)
      object->fields()[i].object = fields[i];
    roots_.push_back(object);
  }

  void write() {
    Object *content = any(), *cell = below(2) == 0 ? any() : inside(content);
    for (size_t tries = 0; tries < 8 && cell->layout != cellLayout; ++tries) {
      heap_.release(std::exchange(cell, inside(content)));
      if (cell->layout != cellLayout)
        heap_.release(std::exchange(content, any()));
    }
    if (cell->layout == cellLayout) {
      std::swap(cell->fields()[0].object, content);
      heap_.cycles().written(cell);
    }
    heap_.release(content);
    heap_.release(cell);
  }

  std::mt19937 random_;
  std::vector<vm::Layout> layouts_{{},
                                   {.kind = vm::LayoutKind::Cell, .fields = {{}}},
                                   {.kind = vm::LayoutKind::Tuple, .fields = {{}, {}}}};
  Heap heap_{layouts_};
  std::vector<Object*> roots_;
};

int64_t boxesIn(const std::map<Object*, size_t>& objects) {
  return std::ranges::count_if(
      objects, [](const auto& each) { return each.first->layout == vm::boxedLayout; });
}

} // namespace

TEST_CASE("what is left of random graphs is what can be reached", "[cycles]") {
  const int64_t before = runtime::held().values;
  size_t collected = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Graph graph(seed);
    size_t steps = 50 + graph.below(400);
    for (size_t i = 0; i < steps; ++i) {
      graph.step();
      if (graph.below(50) == 0) {
        for (size_t dropped = graph.roots() * 3 / 4; dropped > 0; --dropped)
          graph.drop();
        collected += graph.heap().cycles().collect();
      }
    }
    collected += graph.heap().cycles().collect();
    CHECK(graph.heap().cycles().collect() == 0);
    auto reachable = graph.reachable();
    CHECK(runtime::held().values - before == boxesIn(reachable));
    for (auto [object, references] : reachable) {
      CHECK(object->references == references);
      CHECK(!object->isReached);
    }
  }
  CHECK(collected > 20'000);
  CHECK(runtime::held().values == before);
}

namespace {

/// The number that a program gives on the machine with so much memory, or why it gives none.
std::string ending(const std::string& text, int64_t memory) {
  driver::Session session(stdlib::operatorTable());
  auto loaded = session.loadText("test", "#[version = \"0.0.5\"]\n" + text, driver::Stage::Checked);
  REQUIRE(loaded);
  REQUIRE(loaded->isGood());
  auto result = bytecode::run(
      *loaded->module, loaded->typing, session.operators(), *loaded->module->find("main"), {},
      {.engine = strips::stripsEngine(), .run = {.limits = {.memory = memory}}});
  if (const auto* fault = std::get_if<runtime::RunFault>(&result))
    return fault->problem.plain();
  return std::to_string(std::get<runtime::Value>(result).tensor().elements<int32_t>()[0]);
}

const std::string node = "type Node { Node(int32, ref(Node)), End }\n"
                         "def @chain(%n: int32, %next: Node) -> Node {\n"
                         "  if (%n == 0) { %next } else { @chain(%n - 1, Node(%n, ref(%next))) }\n"
                         "}\n"
                         "def @ring(%n: int32) -> Node {\n"
                         "  let %last = ref(End);\n"
                         "  let %first = @chain(%n, Node(0, %last));\n"
                         "  ref_write(%last, %first);\n"
                         "  %first\n"
                         "}\n"
                         "def @sum(%n: int32, %node: Node, %sum: int32) -> int32 {\n"
                         "  if (%n == 0) { %sum } else {\n"
                         "    match (%node) {\n"
                         "      End => -1,\n"
                         "      Node(%x, %next) => @sum(%n - 1, ref_read(%next), %sum + %x)\n"
                         "    }\n"
                         "  }\n"
                         "}\n";

} // namespace

TEST_CASE("programs that leave cycles behind stay in little memory", "[cycles]") {
  // Closures that are in cells they use, with a tensor of 1 kB each.
  CHECK(ending("def @loop(%n: int32) -> int32 {\n"
               "  if (%n == 0) { 0 } else {\n"
               "    let %big = full(1f, shape=[250], dtype=\"float32\");\n"
               "    let %cell = ref(fn () -> Tensor[(250), float32] { %big });\n"
               "    let %old = ref_read(%cell);\n"
               "    ref_write(%cell, fn () -> Tensor[(250), float32] {\n"
               "      let %same = ref_read(%cell); %old() });\n"
               "    @loop(%n - 1)\n"
               "  }\n"
               "}\n"
               "def @main() { @loop(30000) }",
               1'000'000) == "0");
  // Rings of data, of a few nodes and of many.
  std::string rings = node + "def @loop(%n: int32, %size: int32, %sum: int32) -> int32 {\n"
                             "  if (%n == 0) { %sum } else {\n"
                             "    @loop(%n - 1, %size, %sum + @sum(2, @ring(%size), 0))\n"
                             "  }\n"
                             "}\n";
  CHECK(ending(rings + "def @main() { @loop(100000, 1, 0) }", 1'000'000) == "100000");
  CHECK(ending(rings + "def @main() { @loop(20, 100000, 0) }", 12'000'000) == "60");
}

TEST_CASE("cycles that something leads to stay", "[cycles]") {
  // A ring is held while others come and go, and has all its nodes afterwards.
  CHECK(ending(node + "def @loop(%n: int32, %kept: Node) -> int32 {\n"
                      "  if (%n == 0) { @sum(1002, %kept, 0) } else {\n"
                      "    @sum(2, @ring(1000), 0); @loop(%n - 1, %kept)\n"
                      "  }\n"
                      "}\n"
                      "def @main() { @loop(1000, @ring(1000)) }",
               1'000'000) == "500501");
  // The same, held by a call that is not done and by a closure.
  CHECK(ending(node + "def @down(%n: int32) -> int32 {\n"
                      "  let %kept = @ring(20);\n"
                      "  let %f = fn (%x: int32) -> int32 { @sum(%x, %kept, 0) };\n"
                      "  if (%n == 0) { 0 } else {\n"
                      "    @sum(2, @ring(1000), 0); @down(%n - 1) - %f(21) + 210\n"
                      "  }\n"
                      "}\n"
                      "def @main() { @down(1000) }",
               4'000'000) == "0");
}

TEST_CASE("cells that close no cycle are forgotten", "[cycles]") {
  std::string text = "def @loop(%n: int32, %sum: int32) -> int32 {\n"
                     "  if (%n == 0) { %sum } else {\n"
                     "    let %cell = ref(Cons(%n, Nil));\n"
                     "    ref_write(%cell, Cons(1, Nil));\n"
                     "    @loop(%n - 1, %sum + @length(ref_read(%cell)))\n"
                     "  }\n"
                     "}\n"
                     "def @main() { @loop(100000, 0) }";
  CHECK(ending(text, 300'000) == "100000");
}

TEST_CASE("the verifier leaves the memory of cells to the heap", "[cycles]") {
  vm::Program program;
  program.layouts.push_back({.kind = vm::LayoutKind::Tuple, .fields = {{}}});
  program.layouts.push_back({.kind = vm::LayoutKind::Cell, .fields = {{}}});
  const vm::Rep number{vm::Hold::Scalar, runtime::Int64};
  auto word = [](vm::Op op, uint16_t a, uint16_t b = 0, uint16_t c = 0) {
    return vm::Word{uint16_t(op), a, b, c};
  };
  program.code = {word(vm::Op::Unpack1, 0, 1, vm::none),
                  {1, 0, 0, 0},
                  word(vm::Op::Release, 1),
                  word(vm::Op::LoadLong, 0),
                  word(vm::Op::Return, 0)};
  program.functions.push_back({.name = "f",
                               .size = uint32_t(program.code.size()),
                               .registers = 2,
                               .parameters = {{}},
                               .result = number});
  CHECK(vm::verify(program) == std::nullopt);
  program.code[0].b = 2;
  CHECK(vm::verify(program) == "function `f`, at 0: a cell is taken apart");
}
