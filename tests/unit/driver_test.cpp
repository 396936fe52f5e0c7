// The command line as a function: answers, exit codes, results as text and in files.
#include "driver/command_line.h"
#include "driver/large_stack.h"
#include "driver/tensor_text.h"
#include "driver/value_files.h"
#include "driver/value_text.h"
#include "formats/load.h"
#include "lang/run_value.h"
#include "runtime/half.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unistd.h>

namespace {

using driver::Answer;
using driver::ExitCode;

/// A folder of its own for one test, gone at the end.
class Folder {
public:
  Folder() : path_(std::filesystem::temp_directory_path() / fmt::format("baton-{}", getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

private:
  std::filesystem::path path_;
};

Answer baton(std::vector<std::string> words) {
  std::vector<const char*> pointers{"baton"};
  for (const std::string& word : words)
    pointers.push_back(word.c_str());
  Answer answer;
  driver::runOnLargeStack(
      [&] { answer = driver::runCommandLine(int(pointers.size()), pointers.data(), {}); });
  return answer;
}

/// The tensor with elements 0, 1, 2 and so on.
runtime::Value counting(runtime::Shape shape) {
  runtime::Tensor tensor(runtime::Int32, std::move(shape));
  std::iota(tensor.elements<int32_t>().begin(), tensor.elements<int32_t>().end(), 0);
  return runtime::tensorValue(std::move(tensor));
}

template <typename T>
std::string scalarText(runtime::DType dtype, T value) {
  return driver::tensorText(runtime::tensorValue(runtime::Tensor::scalar(dtype, value)));
}

TEST_CASE("numbers have the fewest digits that give them back") {
  CHECK(scalarText(runtime::Float32, 0.1f) == "0.1");
  CHECK(scalarText(runtime::Float32, 3.0f) == "3.0");
  CHECK(scalarText(runtime::Float32, 1e20f) == "1e+20");
  CHECK(scalarText(runtime::Float64, -1.0 / 3) == "-0.3333333333333333");
  CHECK(scalarText(runtime::Float32, -INFINITY) == "-inf");
  CHECK(scalarText(runtime::Float64, double(NAN)) == "nan");
  CHECK(scalarText(runtime::Float16, runtime::Half(0.1f)) == "0.1");
  CHECK(scalarText(runtime::BFloat16, runtime::BHalf(3.140625f)) == "3.14");
  CHECK(scalarText(runtime::Int8, int8_t(-128)) == "-128");
  CHECK(scalarText(runtime::UInt64, UINT64_MAX) == "18446744073709551615");
  CHECK(scalarText(runtime::Bool, uint8_t(1)) == "true");
}

TEST_CASE("tensors are shown in brackets, large ones by their edges") {
  CHECK(driver::tensorText(counting({2, 3})) == "[[0, 1, 2],\n [3, 4, 5]]");
  CHECK(driver::tensorText(counting({2, 1, 2})) == "[[[0, 1]],\n\n [[2, 3]]]");
  CHECK(driver::tensorText(counting({0, 3})) == "[]");
  CHECK(driver::tensorText(counting({1000})) == "[  0,   1,   2, ..., 997, 998, 999]");
  CHECK(driver::tensorText(counting({20, 2}), {10, true}) ==
        "[[0, 1], [2, 3], ..., [36, 37], [38, 39]]");
  CHECK(driver::tensorText(counting(runtime::Shape(20, 2))).size() < 10'000);
  CHECK(driver::tensorText(counting(runtime::Shape(10, 4))).size() < 10'000);
}

TEST_CASE("values are shown in the language's own notation") {
  Folder folder;
  std::string file = folder.write("values.rly", R"(
def @main() {
  (Cons(1, Cons(2, Nil)), True, (), (2f,), fn (%x: int32) { %x }, ref(1), add, Cons)
}
def @deep(%n: int32, %l: List[int32]) -> List[int32] {
  if (equal(%n, 0)) { %l } else { @deep(subtract(%n, 1), Cons(%n, %l)) }
}
def @list() { @deep(1000, Nil) }
def @scalar() { 1i64 }
)");
  Answer answer = baton({"run", file});
  CHECK(answer.errors == "");
  CHECK(answer.output.find(".0 = Cons(1, Cons(2, Nil))\n") != std::string::npos);
  CHECK(answer.output.find("<fn (int32) -> int32>") != std::string::npos);
  CHECK(answer.output.find("ref(..)") != std::string::npos);
  CHECK(baton({"run", file, "--entry", "scalar"}).output == "1 : int64\n");
  Answer list = baton({"run", file, "--entry", "list"});
  CHECK(list.output.starts_with("Cons(1, Cons(2, "));
  CHECK(list.output.ends_with("... 988 more))))))))))))\n"));
}

TEST_CASE("a value that shares its parts is shown and refused in bounded text") {
  runtime::Value value = runtime::tensorValue(runtime::Tensor::scalar(runtime::Int32, 1));
  for (int i = 0; i < 100; ++i)
    value = runtime::tupleValue({value, value});
  lang::TypeContext types;
  CHECK(driver::valueText(value, types, {}).size() < 100'000);
  Folder folder;
  auto written = driver::writeOutput(folder.path("o.npz"), value);
  REQUIRE(!written);
  CHECK(written.failure().message == "the result has more than 1000000 parts");
}

TEST_CASE("a list of a million elements is written as JSON") {
  lang::Constructor nil{{lang::ExprKind::Constructor, {}}, "Nil", {}};
  lang::Constructor cons{{lang::ExprKind::Constructor, {}}, "Cons", {}};
  runtime::Value element = runtime::tensorValue(runtime::Tensor::scalar(runtime::Int32, 7));
  runtime::Value list = lang::constructorValue(nil, {});
  for (int i = 0; i < 1'000'000; ++i)
    list = lang::constructorValue(cons, {element, list});
  Folder folder;
  REQUIRE(driver::writeOutput(folder.path("o.json"), list));
  std::string text = folder.read("o.json");
  CHECK(text.starts_with(
      R"({"out":{"con":"Cons","fields":[{"dtype":"int32","shape":[],"data":[7]},)"));
  CHECK(text.ends_with("]}]}]}}\n"));
  lang::TypeContext types;
  CHECK(driver::valueText(list, types, {}).ends_with("... 999988 more))))))))))))"));
}

TEST_CASE("results go to files under the keys of their parts") {
  Folder folder;
  std::string file = folder.write("t.rly", "fn (%x: Tensor[(2), float32]) { (%x, (1, True), ()) }");
  for (std::string name : {"o.npz", "o.safetensors"}) {
    std::string output = folder.path(name);
    CHECK(baton({"run", file, "--random", "42", "--output", output}).code == ExitCode::Good);
    auto first = formats::loadTensor(output, "out.0");
    auto second = formats::loadTensor(output, "out.1.1");
    REQUIRE(first);
    REQUIRE(second);
    CHECK(first->dtype() == runtime::Float32);
    CHECK(second->dtype() == runtime::Bool);
    CHECK(!formats::loadTensor(output, "out.2"));
    Answer again = baton({"run", file, "--input", "%x=" + output + ":out.0"});
    CHECK(again.output == baton({"run", file, "--random", "42"}).output);
  }
  baton({"run", file, "--random", "42", "--output", folder.path("o.json")});
  auto json = nlohmann::json::parse(folder.read("o.json"));
  CHECK(json["out"]["tuple"][1]["tuple"][0]["data"][0] == 1);
  CHECK(json["out"]["tuple"][2]["tuple"].empty());
}

/// The answer's code and error text together.
void checkError(const Answer& answer, ExitCode code, const std::string& part) {
  CHECK(answer.output == "");
  CHECK(answer.code == code);
  CAPTURE(answer.errors);
  CHECK(answer.errors.find(part) != std::string::npos);
}

TEST_CASE("what is wrong with inputs is said with both sides") {
  Folder folder;
  std::string file =
      folder.write("i.rly", "fn (%data: Tensor[(2, ?), float32], %t: (int32, int32)) { %data }");
  std::string other = folder.write("s.rly", "fn (%n: int32) { %n }");
  std::string npz = folder.path("n.npz");
  REQUIRE(baton({"run", other, "--random", "1", "--output", npz}).code == ExitCode::Good);
  checkError(baton({"run", file}), ExitCode::World, "\n  %data: Tensor[(2, ?), float32]\n");
  checkError(baton({"run", file, "--random", "1"}), ExitCode::World, "whose shape is open");
  checkError(baton({"run", file, "--random", "1"}), ExitCode::World, "only tensors can be filled");
  checkError(baton({"run", file, "--input", "dta=" + npz}), ExitCode::World,
             "did you mean `data`?");
  checkError(baton({"run", file, "--input", "data=" + npz}), ExitCode::World,
             "parameter `%data` is `Tensor[(2, ?), float32]`, but its input is `int32`");
  checkError(baton({"run", file, "--input", "data"}), ExitCode::World, "takes NAME=PATH");
  checkError(baton({"run", other, "--input", "n=" + npz, "--input", "n=" + npz}), ExitCode::World,
             "given twice");
}

TEST_CASE("exit codes say whose fault it is") {
  Folder folder;
  std::string good = folder.write("g.rly", "def @main() { 1 }\ndef @f() { fn () { 1 } }");
  std::string bad = folder.write("b.rly", "def @main() { %x }");
  std::string faulty =
      folder.write("f.rly", "def @h(%l: List[int32]) -> int32 { match? (%l) { Nil => 1 } }\n"
                            "def @main() { add(1, @h(Cons(1, Nil))) }");
  CHECK(baton({"check", good}).output == good + ": ok, 2 functions\n");
  checkError(baton({"check", bad}), ExitCode::Program, "1 error in " + bad);
  checkError(baton({"run", bad}), ExitCode::Program, "unknown-local");
  checkError(baton({"run", faulty}), ExitCode::Program, "called here");
  checkError(baton({"run", good, "--entry", "mian"}), ExitCode::Program, "`--entry main`");
  checkError(baton({"check", folder.path("none")}), ExitCode::World, "No such file");
  checkError(baton({"run", good, "--output", "o.txt"}), ExitCode::World, "`o.txt` is none");
  checkError(baton({"run", good, "--entry", "f", "--output", folder.path("o.json")}),
             ExitCode::World, "the result holds a function");
  checkError(baton({"run", good, "--random", "-1"}), ExitCode::World, "--random");
  checkError(baton({"run", good, "--precision", "1"}), ExitCode::World, "--precision");
  checkError(baton({"chek", good}), ExitCode::World, "did you mean `check`?");
  checkError(baton({}), ExitCode::World, "Usage");
  CHECK(baton({"--help"}).output.find("Exit codes") != std::string::npos);
  CHECK(baton({"--version"}).output.starts_with("baton "));
}

TEST_CASE("the JSON of check is one object") {
  Folder folder;
  std::string good = folder.write("g.rly", "def @main(%x: Tensor[(1, 3), float32]) { %x }");
  std::string bad = folder.write("b.rly", "def @main() { %x }");
  auto one = nlohmann::json::parse(baton({"check", good, "--json"}).output);
  CHECK(one["ok"] == true);
  CHECK(one["functions"]["main"] == "fn (Tensor[(1, 3), float32]) -> Tensor[(1, 3), float32]");
  CHECK(one["diagnostics"].empty());
  Answer answer = baton({"check", good, bad, "--json"});
  CHECK(answer.code == ExitCode::Program);
  auto both = nlohmann::json::parse(answer.output);
  CHECK(both["ok"] == false);
  CHECK(both["functions"].contains(good + ":main"));
  REQUIRE(both["diagnostics"].size() == 1);
  CHECK(both["diagnostics"][0]["file"] == bad);
}

TEST_CASE("a printed program prints the same again") {
  Folder folder;
  std::string file = folder.write(
      "p.rly", "def @main(%x: float32) { add(%x, meta[relay.Constant][0]) }\n#[metadata]\n{}");
  checkError(baton({"print", file}), ExitCode::Program, "metadata");
  file = folder.write("q.rly", "def @main(%x: float32) { (add(%x, 1f), split(%x, 2)) }");
  Answer once = baton({"print", file});
  std::string again = folder.write("again.rly", once.output);
  CHECK(baton({"print", again}).output == once.output);
}

TEST_CASE("an engine is chosen by its name") {
  Folder folder;
  std::string file = folder.write("engine.rly", "def @main() { 1f / 3f }");
  for (std::string engine : {"loops", "interp"})
    CHECK(baton({"run", file, "--engine", engine}).output == "0.33333334 : float32\n");
  checkError(baton({"run", file, "--engine", "loop"}), ExitCode::World,
             "there is no engine `loop`; the engines are `loops` and `interp`");
  checkError(baton({"run", file, "--engine", "loops", "--precision", "30"}), ExitCode::World,
             "`--precision` is for `--engine interp`");
}

TEST_CASE("precision shows as many digits as asked for") {
  Folder folder;
  std::string file = folder.write("d.rly", "def @main() { divide(1f64, 3f64) }");
  CHECK(baton({"run", file, "--precision", "50"}).output ==
        "0." + std::string(50, '3') + " : float64\n");
}

TEST_CASE("operators that only compare and move elements keep all digits") {
  Folder folder;
  std::string file = folder.write(
      "sort.rly", "def @main() {\n"
                  "  let %x = add([1f, 1f, 0f, 1f], multiply([2f, 1f, -1f, 0f], 1e-30f));\n"
                  "  (sort(%x), argsort(%x, dtype=\"float32\"), topk(%x, k=1),\n"
                  "   searchsorted([1f], %x, right=True),\n"
                  "   unique(%x, attrs_type_key=\"relay.attrs.UniqueAttrs\").3,\n"
                  "   scatter_elements([0f], [0], slice_like(%x, [1f], axes=None),\n"
                  "     attrs_type_key=\"relay.attrs.ScatterElementsAttrs\"), argwhere(%x))\n"
                  "}");
  Answer answer = baton({"run", file, "--precision", "40"});
  CHECK(answer.errors == "");
  const std::string first = "1.000000000000000000000000000002000000006";
  for (std::string text :
       {"1.000000000000000000000000000001000000003,", ".1 = [2.0, 3.0, 1.0, 0.0] : ",
        ".3 = [1, 1, 0, 1] : ", ".4 = [4] : ", "[[0],\n        [1],\n        [2],\n        [3]]"})
    CHECK(answer.output.find(text) != std::string::npos);
  CHECK(answer.output.find(first + "] : Tensor[(4), float32]") != std::string::npos);
  CHECK(answer.output.find(".0 = [" + first + "] : Tensor[(1), float32]") != std::string::npos);
  CHECK(answer.output.find(".5 = [" + first + "] : Tensor[(1), float32]") != std::string::npos);
}

TEST_CASE("an operator that computes in float64 is told of once") {
  Folder folder;
  std::string text = "def @f(%x: Tensor[(1), float32]) {\n"
                     "  scatter_elements(%x, [0], %x, reduction=\"add\",\n"
                     "    attrs_type_key=\"relay.attrs.ScatterElementsAttrs\")\n"
                     "}\n"
                     "def @main() { @f(@f(divide([1f], [3f]))) }";
  std::string file = folder.write("scatter.rly", text);
  Answer answer = baton({"run", file, "--precision", "30"});
  CHECK(answer.code == ExitCode::Good);
  CHECK(answer.errors.find("warning[float64-result]: `scatter_elements` computes in float64") == 0);
  CHECK(answer.errors.find("1 warning in ") != std::string::npos);
  CHECK(answer.output == "[1.33333333333333325931846502499] : Tensor[(1), float32]\n");
  CHECK(baton({"run", file, "--precision", "30", "--allow", "float64-result"}).errors == "");
  CHECK(baton({"run", file}).errors == "");
  std::string whole =
      folder.write("whole.rly", "def @main() { scatter_elements([1], [0], [2], "
                                "reduction=\"add\", "
                                "attrs_type_key=\"relay.attrs.ScatterElementsAttrs\") }");
  CHECK(baton({"run", whole, "--precision", "30"}).errors == "");
}

} // namespace

TEST_CASE("named dimensions of given inputs size the filled ones") {
  Folder folder;
  std::string made = folder.write("m.rly", "fn (%x: Tensor[(5, 2), float32]) { %x }");
  std::string npz = folder.path("x.npz");
  REQUIRE(baton({"run", made, "--random", "1", "--output", npz}).code == ExitCode::Good);
  std::string file = folder.write(
      "n.rly",
      "fn (%y: Tensor[(n + 1, 3), float32], %x: Tensor[(n, k), float32]) { shape_of(%y) }");
  Answer filled = baton({"run", file, "--random", "1", "--input", "x=" + npz});
  CAPTURE(filled.errors);
  CHECK(filled.output.starts_with("[6, 3]"));
  CHECK(baton({"run", file, "--random", "1", "--dim", "n=5", "--dim", "k=2"}).output ==
        filled.output);
  checkError(baton({"run", file, "--input", "x=" + npz, "--dim", "n=4", "--random", "1"}),
             ExitCode::World, "`n` is 4 by --dim, but here it is 5");
  checkError(baton({"run", file, "--input", "y=" + npz, "--dim", "n=4", "--random", "1"}),
             ExitCode::World, "its input is `Tensor[(5, 2), float32]`");
  checkError(baton({"run", file, "--random", "1", "--dim", "m=4"}), ExitCode::World,
             "no parameter of `@main` has a dimension `m`");
  checkError(baton({"run", file, "--random", "1", "--dim", "n=-4"}), ExitCode::World,
             "--dim takes NAME=SIZE");
  checkError(baton({"run", file, "--random", "1", "--dim", "n=1"}), ExitCode::World,
             "or the size of `k` with --dim k=SIZE");
}
