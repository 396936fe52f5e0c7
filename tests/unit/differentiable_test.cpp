// What types hold, through definitions of every kind of recursion.
#include "tests/unit/checked_program.h"

#include "lang/ir/differentiable.h"

namespace {

struct Held {
  bool floats, functions;

  bool operator==(const Held&) const = default;
};

/// What the type of the parameter of `@main` holds.
Held heldBy(const std::string& definitions, const std::string& type) {
  driver::Session session(stdlib::operatorTable());
  auto loaded = session.loadText("test", "#[version = \"0.0.5\"]\n" + definitions +
                                             "def @main(%x: " + type + ") { %x }\n");
  REQUIRE(loaded);
  INFO(definitions << type);
  REQUIRE(loaded->isGood());
  const lang::Type* held = loaded->module->find("main")->function->parameters[0]->annotation;
  return {lang::holdsFloats(held), lang::holdsFunctions(held)};
}

constexpr Held none{false, false}, floats{true, false}, functions{false, true}, both{true, true};

} // namespace

TEST_CASE("floats count outside of functions and references") {
  CHECK(heldBy("", "float32") == floats);
  CHECK(heldBy("", "Tensor[(2, 3), bfloat16]") == floats);
  CHECK(heldBy("", "Tensor[(2), int64]") == none);
  CHECK(heldBy("", "()") == none);
  CHECK(heldBy("", "(int32, (bool, float64))") == floats);
  CHECK(heldBy("", "(int32, fn (float32) -> float32)") == functions);
  CHECK(heldBy("", "ref(float32)") == functions);
  CHECK(heldBy("", "(float32, ref(float32))") == both);
}

TEST_CASE("data types hold what their fields hold") {
  std::string list = "type Row[A] { Cell(A, Row[A]), End }\n";
  CHECK(heldBy(list, "Row[float32]") == floats);
  CHECK(heldBy(list, "Row[int32]") == none);
  CHECK(heldBy(list, "Row[Row[(int32, float32)]]") == floats);
  CHECK(heldBy(list, "Row[fn () -> int32]") == functions);
  CHECK(heldBy("type Tag[A] { Of(int32) }\n", "Tag[float32]") == none);
  CHECK(heldBy("type Cell[A] { Of(A, ref(A)) }\n", "Cell[float32]") == both);
  CHECK(heldBy("type Even { Odd(Odd) }\ntype Odd { Even(Even), Stop(float32) }\n", "Even") ==
        floats);
  CHECK(heldBy("type Loop { Round(Loop) }\n", "Loop") == none);
}

TEST_CASE("the arguments of a data type may grow in its recursion") {
  CHECK(heldBy("type Nest[A] { Deeper(Nest[(A, A)]), Bottom(A) }\n", "Nest[float32]") == floats);
  CHECK(heldBy("type Nest[A] { Deeper(Nest[(A, float32)]), Bottom(A) }\n", "Nest[int32]") ==
        floats);
  CHECK(heldBy("type Nest[A] { Deeper(Nest[(A, float32)]), Bottom }\n", "Nest[int32]") == none);
  CHECK(heldBy("type Box[A] { Of(A) }\ntype Nest[A] { Deeper(Nest[Box[A]]), Bottom(Box[A]) }\n",
               "Nest[float32]") == floats);
  CHECK(heldBy("type Late[A] { Early(Later[A]) }\ntype Later[A] { Of(Last[A]) }\n"
               "type Last[A] { Held(A), Again(Late[A]) }\n",
               "Late[ref(int32)]") == functions);
}
