// The C interface of executables: what is handed in, what comes out, and what it refuses.
#include "driver/executable_file.h"
#include "driver/session/derive.h"
#include "stdlib/ops.h"
#include "vm/bytecode/kernel_programs.h"
#include "vm/rt/baton_rt.h"

#include <catch2/catch.hpp>
#include <limits>
#include <malloc.h>

namespace {

std::vector<std::byte> compiled(const std::string& text, const std::vector<std::string>& entries) {
  driver::Session session{stdlib::operatorTable()};
  auto program = session.loadText("test.rly", "#[version = \"0.0.5\"]\n" + text);
  REQUIRE(program);
  REQUIRE(program->isGood());
  driver::ReadyProgram ready{*std::move(program), entries};
  executable::Executable made = driver::makeExecutable(session, ready);
  bytecode::addKernelPrograms(made, loops::Numbers::Reordered);
  return executable::write(made);
}

/// What an error says, after its kind; empty when there is none. Gives it up.
std::string said(baton_error* error) {
  if (!error)
    return "";
  std::string text =
      fmt::format("{}: {}", int(baton_error_what(error)), baton_error_message(error));
  for (size_t i = 0; const char* place = baton_error_place(error, i); ++i)
    text += fmt::format(" at {}", place);
  baton_error_free(error);
  return text;
}

using Value = std::shared_ptr<baton_value>;

Value owned(baton_value* value) {
  return {value, baton_value_free};
}

/// A tensor over elements that live long enough.
struct Lent {
  int64_t shape[2];
  DLManagedTensor managed = {};

  Lent(void* data, int64_t rows, int64_t columns, int32_t rank) : shape{rows, columns} {
    managed.dl_tensor = {data, {1, 0}, rank, {0, 32, 1}, shape, nullptr, 0};
  }
};

/// A scalar.
Value number(int32_t number) {
  auto* lent = new std::pair<Lent, int32_t>(Lent{nullptr, 0, 0, 0}, number);
  lent->first.managed.dl_tensor.data = &lent->second;
  lent->first.managed.manager_ctx = lent;
  lent->first.managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<std::pair<Lent, int32_t>*>(self->manager_ctx);
  };
  baton_value* value = nullptr;
  REQUIRE(said(baton_value_from_dlpack(&lent->first.managed, &value)) == "");
  return owned(value);
}

class Model {
public:
  Model(const std::string& text, std::vector<std::string> entries) : entries_(std::move(entries)) {
    auto bytes = compiled(text, entries_);
    REQUIRE(said(baton_model_read(bytes.data(), bytes.size(), &model)) == "");
    REQUIRE(said(baton_context_new(model, nullptr, &context)) == "");
  }
  Model(const Model&) = delete;
  ~Model() {
    baton_context_free(context);
    baton_model_free(model);
  }

  Value make(const char* constructor, const std::vector<Value>& fields) {
    baton_value* value = nullptr;
    std::vector<const baton_value*> list = pointers(fields);
    CHECK(said(baton_value_constructor(model, constructor, list.data(), list.size(), &value)) ==
          "");
    return owned(value);
  }
  /// What an entry gives, or null, and `problem` says why.
  Value call(const std::string& entry, const std::vector<Value>& arguments) {
    baton_value* value = nullptr;
    std::vector<const baton_value*> list = pointers(arguments);
    auto number = size_t(std::ranges::find(entries_, entry) - entries_.begin());
    problem = said(baton_call(context, number, list.data(), list.size(), &value));
    return owned(value);
  }

  baton_model* model = nullptr;
  baton_context* context = nullptr;
  std::string problem;

private:
  static std::vector<const baton_value*> pointers(const std::vector<Value>& values) {
    std::vector<const baton_value*> list;
    for (const Value& value : values)
      list.push_back(value.get());
    return list;
  }

  std::vector<std::string> entries_;
};

Value field(const Value& value, size_t index) {
  return owned(baton_value_field(value.get(), index));
}

const std::string trees = R"(
type Tree { Leaf(int32), None, Node(Tree, Tree) }
type Box[A] { Box(A) }
type Both { Both(Box[int32], Box[(int32, int32)]) }
def @grown(%n: int32, %t: Tree) -> Tree { if (%n == 0) { %t } else { @grown(%n - 1, Node(%t, %t)) } }
def @same(%t: Tree, %u: Tree) -> Tree { Node(%t, %u) }
def @both(%b: Both) -> int32 { 1 }
def @twice(%l: List[int32]) { (%l, %l) }
)";

TEST_CASE("shared data costs what there is of it, not what leads to it") {
  Model model(trees, {"grown", "same"});
  Value tree = model.make("Leaf", {number(3)});
  for (int i = 0; i < 30; ++i)
    tree = model.call("grown", {number(9), tree});
  REQUIRE(model.problem == "");
  for (int i = 0; i < 100; ++i)
    tree = model.call("same", {tree, tree});
  REQUIRE(model.problem == "");
  for (int i = 0; i < 370; ++i)
    tree = field(tree, size_t(i % 2));
  CHECK(baton_value_name(tree.get()) == std::string("Leaf"));
}

TEST_CASE("shared data is looked at as each of its types") {
  Model model(trees, {"both", "same"});
  Value box = model.make("Box", {number(1)}), none = model.make("None", {});
  model.call("both", {model.make("Both", {box, box})});
  CHECK(model.problem == "2: argument `%b` of `@both` is `Both[]`; field 0 of `Box` is declared as "
                         "`(int32, int32)`, but here it is `int32` at test.rly:8:11");
  Value two = model.call("same", {none, model.make("Leaf", {number(1)})});
  two = model.call("same", {two, none});
  CHECK(baton_value_name(field(two, 1).get()) == std::string("None"));
  CHECK(baton_value_name(field(field(two, 0), 0).get()) == std::string("None"));
  CHECK(baton_value_name(field(field(two, 0), 1).get()) == std::string("Leaf"));
}

TEST_CASE("a list of a million elements goes in and out") {
  Model model(trees, {"twice"});
  Value list = model.make("Nil", {}), one = number(1);
  for (int i = 0; i < 1'000'000; ++i)
    list = model.make("Cons", {one, list});
  Value both = model.call("twice", {list});
  CHECK(model.problem == "");
  CHECK(baton_value_fields(field(field(both, 1), 1).get()) == 2);
}

TEST_CASE("what a model took is given back") {
  auto bytes = compiled("def @main(%x: int32) { %x + 1 }", {"main"});
  auto readOften = [&] {
    for (int i = 0; i < 1000; ++i) {
      baton_model* model = nullptr;
      REQUIRE(said(baton_model_read(bytes.data(), bytes.size(), &model)) == "");
      baton_model_free(model);
    }
    return mallinfo2().uordblks;
  };
  size_t before = readOften();
  CHECK(readOften() < before + 20'000);
}

TEST_CASE("tensors that cannot be are refused") {
  int32_t numbers[6] = {};
  auto problem = [](Lent lent, bool hasShape = true) {
    if (!hasShape)
      lent.managed.dl_tensor.shape = nullptr;
    else
      lent.managed.dl_tensor.shape = lent.shape;
    baton_value* value = nullptr;
    std::string text = said(baton_value_from_dlpack(&lent.managed, &value));
    baton_value_free(value);
    return text;
  };
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  CHECK(problem({numbers, 2, 3, 2}) == "");
  CHECK(problem({nullptr, 2, 0, 2}) == "");
  CHECK(problem({nullptr, 0, 0, 0}) == "2: the elements of the tensor are null");
  CHECK(problem({nullptr, 2, 3, 2}) == "2: the elements of the tensor are null");
  CHECK(problem({numbers, 2, 3, 2}, false) == "2: the shape of the tensor is null");
  CHECK(problem({numbers, 2, 3, 0}, false) == "");
  for (int32_t rank : {-1, 1025, 2'000'000'000})
    CHECK(problem({numbers, 2, 3, rank}) ==
          "2: the number of dimensions of the tensor is not from 0 to 1024");
  CHECK(problem({numbers, -1, 3, 2}) == "2: an extent of the tensor is negative");
  CHECK(problem({numbers, 0, largest, 2}) ==
        "2: the extents or strides of the tensor are too large");
  CHECK(problem({numbers, largest, 2, 2}) ==
        "2: the extents or strides of the tensor are too large");
}

TEST_CASE("strides that pass 64 bits are refused") {
  int32_t numbers[6] = {1, 2, 3, 4, 5, 6};
  auto problem = [&](std::vector<int64_t> shape, std::vector<int64_t> strides) {
    Lent lent{numbers, 0, 0, int32_t(shape.size())};
    lent.managed.dl_tensor.shape = shape.data();
    lent.managed.dl_tensor.strides = strides.data();
    baton_value* value = nullptr;
    std::string text = said(baton_value_from_dlpack(&lent.managed, &value));
    baton_value_free(value);
    return text;
  };
  constexpr int64_t huge = int64_t(1) << 62, half = int64_t(1) << 60;
  const std::string tooLarge = "2: the extents or strides of the tensor are too large";
  CHECK(problem({3, 2}, {1, 3}) == "");
  CHECK(problem({2}, {huge}) == tooLarge);
  CHECK(problem({2}, {-huge}) == tooLarge);
  CHECK(problem({2, 2}, {half, half}) == tooLarge);
  CHECK(problem({2}, {std::numeric_limits<int64_t>::min()}) == tooLarge);
  // Strides of dimensions in which nobody goes on count for nothing.
  CHECK(problem({1, 3}, {huge, 1}) == "");
  CHECK(problem({3, 1, 2}, {1, huge, 3}) == "");
  CHECK(problem({0, 2, 3}, {huge, huge, huge}) == "");
}

TEST_CASE("null is refused where something must be") {
  Model model(trees, {"same"});
  baton_model* read = nullptr;
  baton_context* context = nullptr;
  baton_value* value = nullptr;
  DLManagedTensor* tensor = nullptr;
  Value one = number(1);
  const baton_value* values[] = {one.get(), nullptr};
  const std::string missing = "2: a value or the list of values is null";
  CHECK(said(baton_model_load(nullptr, &read)) == "2: the path of the model is null");
  CHECK(said(baton_model_read(nullptr, 100, &read)) == "2: the program is null");
  CHECK(said(baton_context_new(nullptr, nullptr, &context)) == "2: the model is null");
  CHECK(said(baton_call(nullptr, 0, values, 1, &value)) == "2: the context is null");
  CHECK(said(baton_call(model.context, 0, values, 2, &value)) == missing);
  CHECK(said(baton_call(model.context, 0, nullptr, 2, &value)) == missing);
  CHECK(said(baton_value_tuple(values, 2, &value)) == missing);
  CHECK(said(baton_value_tuple(nullptr, 1, &value)) == missing);
  CHECK(said(baton_value_constructor(model.model, "Leaf", values + 1, 1, &value)) == missing);
  CHECK(said(baton_value_constructor(model.model, nullptr, values, 1, &value)) ==
        "2: the model or the name is null");
  CHECK(said(baton_value_from_dlpack(nullptr, &value)) == "2: the tensor is null");
  CHECK(said(baton_value_to_dlpack(nullptr, &tensor)) == "2: the value is null");
  CHECK(value == nullptr);
  const std::string nowhere = "2: the place for the result is null";
  CHECK(said(baton_model_load("/", nullptr)) == nowhere);
  CHECK(said(baton_model_read("", 0, nullptr)) == nowhere);
  CHECK(said(baton_context_new(model.model, nullptr, nullptr)) == nowhere);
  CHECK(said(baton_call(model.context, 0, values, 1, nullptr)) == nowhere);
  CHECK(said(baton_value_tuple(values, 1, nullptr)) == nowhere);
  CHECK(said(baton_value_constructor(model.model, "Leaf", values, 1, nullptr)) == nowhere);
  CHECK(said(baton_value_to_dlpack(one.get(), nullptr)) == nowhere);
  Lent lent(nullptr, 0, 0, 0);
  CHECK(said(baton_value_from_dlpack(&lent.managed, nullptr)) == nowhere);
}

TEST_CASE("tensors of one model are handed to another, data are not") {
  const std::string text =
      "type Box { Box(Tensor[(2), int32]) }\n"
      "def @made() { let %x = [1, 2]; (%x, Box(%x)) }\n"
      "def @both() { ([1, 2], 3) }\n"
      "def @first(%x: Tensor[(2), int32]) { %x }\n"
      "def @of(%p: (Tensor[(2), int32], int32)) { %p.0 }\n"
      "def @open(%b: Box) -> Tensor[(2), int32] { match (%b) { Box(%x) => %x } }";
  Model giver(text, {"made", "both"}), taker(text, {"first", "of", "open"});
  Value made = giver.call("made", {}), both = giver.call("both", {});
  taker.call("first", {field(made, 0)});
  CHECK(taker.problem == "");
  taker.call("of", {both});
  CHECK(taker.problem == "");
  taker.call("open", {field(made, 1)});
  CHECK(taker.problem == "2: values of data types and functions are of another model");
}

TEST_CASE("an interrupt before a call ends it, and no other") {
  Model model("def @loop(%n: int32) -> int32 { if (%n == 0) { 7 } else { @loop(%n - 1) } }",
              {"loop"});
  const Value turns = number(1'000'000);
  baton_context_interrupt(model.context);
  model.call("loop", {turns});
  CHECK(model.problem.starts_with("4: "));
  model.call("loop", {turns});
  CHECK(model.problem == "");
}

TEST_CASE("a limit of seconds is one for each call") {
  Model model("def @down(%n: int32) -> int32 { if (%n == 0) { 7 } else { @down(%n - 1) } }\n"
              "def @loop(%n: int32) -> int32 { @loop(%n + 1) }",
              {"down", "loop"});
  const baton_limits limits{0, 0, 0, 0.2};
  baton_context_free(std::exchange(model.context, nullptr));
  REQUIRE(said(baton_context_new(model.model, &limits, &model.context)) == "");
  model.call("loop", {number(0)});
  CHECK(model.problem.starts_with("4: "));
  // The time of the first call is over; the next one has its own.
  model.call("down", {number(100'000)});
  CHECK(model.problem == "");
}

TEST_CASE("an error has only places that are known") {
  Model model("def @main(%x: int32) { %x / 0 }", {"main"});
  model.call("main", {});
  CHECK(model.problem == "2: `@main` takes 1 arguments, and 0 are given");
  model.call("main", {number(1)});
  CHECK(model.problem.ends_with(" at test.rly:2:24"));
}

TEST_CASE("functions, references and values of type parameters cannot be handed in") {
  Model model(R"(
def @id[A](%x: A) -> A { %x }
def @made(%x: int32) { (ref(%x), fn (%y: int32) { %x + %y }, negative) }
def @read(%r: ref(int32)) { ref_read(%r) }
def @applied(%f: fn (int32) -> int32) { %f(1) }
def @field(%t: (int32, ref(int32))) { %t.0 }
)",
              {"id", "made", "read", "applied", "field"});
  Value made = model.call("made", {number(1)});
  REQUIRE(model.problem == "");
  const std::string none =
      "; functions, references and values of type parameters cannot be handed in";
  for (auto [entry, argument, start] :
       {std::tuple{"read", field(made, 0), "argument `%r` of `@read` is `ref(int32)`"},
        {"applied", field(made, 1), "argument `%f` of `@applied` is `fn (int32) -> int32`"},
        {"id", number(1), "argument `%x` of `@id` is `A`"}}) {
    model.call(entry, {argument});
    CHECK(model.problem.starts_with(std::string("2: ") + start + none));
  }
  baton_value* pair = nullptr;
  const baton_value* fields[] = {baton_value_field(made.get(), 0)};
  baton_value_tuple(fields, 1, &pair);
  baton_value_free(const_cast<baton_value*>(fields[0]));
  model.call("field", {owned(pair)});
  CHECK(model.problem.find("another kind of value") != std::string::npos);
  CHECK(baton_value_name(field(made, 1).get()) == std::string("fn (int32) -> int32"));
  CHECK(baton_value_name(field(made, 2).get()) == std::string("negative"));
  CHECK(baton_value_name(made.get()) == std::string(""));
}

TEST_CASE("a limit of seconds is no negative number and no NaN") {
  Model model(trees, {"same"});
  auto problem = [&](double seconds) {
    baton_context* context = nullptr;
    const baton_limits limits{0, 0, 0, seconds};
    std::string text = said(baton_context_new(model.model, &limits, &context));
    baton_context_free(context);
    return text;
  };
  const std::string wrong = "2: the limit of seconds is negative or no number";
  CHECK(problem(-1) == wrong);
  CHECK(problem(std::numeric_limits<double>::quiet_NaN()) == wrong);
  for (double seconds : {0.0, 1.5, std::numeric_limits<double>::infinity()})
    CHECK(problem(seconds) == "");
}

} // namespace
