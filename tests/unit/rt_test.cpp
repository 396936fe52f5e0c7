// The C interface of executables: what is handed in, what comes out, and what it refuses.
#include "driver/derive.h"
#include "driver/executable_file.h"
#include "rt/baton_rt.h"
#include "stdlib/ops.h"

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
  return executable::write(driver::makeExecutable(session, ready));
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

} // namespace
