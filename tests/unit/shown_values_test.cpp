// Results as `baton run` shows them: bounded, and text that reads back.
#include "driver/values/files.h"
#include "driver/values/tensor_text.h"
#include "driver/values/text.h"
#include "runtime/half.h"
#include "tests/unit/command.h"

#include <numeric>

namespace {

using namespace tests;

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
  CHECK(scalarText(runtime::Float32, 0.1f) == "0.1f");
  CHECK(scalarText(runtime::Float32, 3.0f) == "3f");
  CHECK(scalarText(runtime::Float32, -0.0f) == "-0f");
  CHECK(scalarText(runtime::Float32, 1e20f) == "1e+20f");
  CHECK(scalarText(runtime::Float64, -1.0 / 3) == "-0.3333333333333333f64");
  CHECK(scalarText(runtime::Float32, -INFINITY) == "-inff");
  CHECK(scalarText(runtime::Float64, double(NAN)) == "nanf64");
  CHECK(scalarText(runtime::Float32, -NAN) == "nanf");
  CHECK(scalarText(runtime::Float16, runtime::Half(0.1f)) == "0.1f16");
  CHECK(scalarText(runtime::Float16, runtime::Half(65504.f)) == "65504f16");
  CHECK(scalarText(runtime::Float16, runtime::Half(-2049.f)) == "-2048f16");
  CHECK(scalarText(runtime::Float16, runtime::Half(0.0006f)) == "0.0006f16");
  CHECK(scalarText(runtime::Float16, runtime::Half(-INFINITY)) == "-inff16");
  CHECK(scalarText(runtime::Int16, int16_t(-7)) == "-7i16");
  CHECK(scalarText(runtime::Int64, INT64_MIN) == "-9223372036854775808i64");
  CHECK(scalarText(runtime::Bool, uint8_t(1)) == "True");
}

TEST_CASE("what has no literal is shown as the call that makes it") {
  CHECK(scalarText(runtime::BFloat16, runtime::BHalf(3.140625f)) ==
        "cast(3.14f, dtype=\"bfloat16\")");
  CHECK(scalarText(runtime::Int8, int8_t(-128)) == "cast(-128, dtype=\"int8\")");
  CHECK(scalarText(runtime::UInt32, UINT32_MAX) == "cast(4294967295i64, dtype=\"uint32\")");
  CHECK(scalarText(runtime::UInt64, UINT64_MAX) == "cast(-1i64, dtype=\"uint64\")");
  runtime::Tensor tensor(runtime::UInt8, {2, 2});
  CHECK(driver::tensorText(runtime::tensorValue(tensor)) ==
        "cast([[0, 0],\n      [0, 0]], dtype=\"uint8\") /* ty=Tensor[(2, 2), uint8] */");
  CHECK(driver::tensorText(counting({0, 3})) == "zeros(shape=[0, 3], dtype=\"int32\")");
}

TEST_CASE("tensors are shown in brackets, large ones by their edges") {
  CHECK(driver::tensorText(counting({2, 3})) ==
        "[[0, 1, 2],\n [3, 4, 5]] /* ty=Tensor[(2, 3), int32] */");
  CHECK(driver::tensorText(counting({2, 1, 2})) ==
        "[[[0, 1]],\n\n [[2, 3]]] /* ty=Tensor[(2, 1, 2), int32] */");
  CHECK(driver::tensorText(counting({1000})) ==
        "[  0,   1,   2, ..., 997, 998, 999] /* ty=Tensor[(1000), int32] */");
  CHECK(driver::tensorText(counting({2, 2}), {10, true}) == "[[0, 1], [2, 3]]");
  CHECK(driver::tensorText(counting({20, 2}), {10, true}) ==
        "[[0, 1], [2, 3], ..., [36, 37], [38, 39]] /* ty=Tensor[(20, 2), int32] */");
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
  CHECK(answer.output.starts_with("(\n  Cons(1, Cons(2, Nil)),\n  True,\n  (),\n  (2f,),\n"));
  CHECK(answer.output.find("<fn (int32) -> int32>") != std::string::npos);
  CHECK(answer.output.find("  ref(1),\n") != std::string::npos);
  CHECK(baton({"run", file, "--entry", "scalar"}).output == "1i64\n");
  Answer list = baton({"run", file, "--entry", "list"});
  CHECK(list.output.starts_with("Cons(1, Cons(2, "));
  CHECK(list.output.ends_with("... 988 more))))))))))))\n"));
}

/// The result of a program whose body is `text`, as `baton run` prints it.
std::string shown(const std::string& text, const std::string& header = "") {
  Folder folder;
  std::string file = folder.write("shown.rly", header + "def @main() { " + text + " }\n");
  Answer answer = baton({"run", file});
  CHECK(answer.errors == "");
  return answer.output;
}

TEST_CASE("what is printed reads back and prints the same again") {
  for (std::string dtype : {"float16", "bfloat16", "float32", "float64"})
    for (std::string text :
         {"cast(0.1f64, dtype=\"D\")",
          "cast([[1e-30f64, 65504f64], [-2.0000001f64, 1e10f64]], "
          "dtype=\"D\")",
          "cast([nanf, -inff, -0f], dtype=\"D\")",
          "cast(sin(arange(0f64, 90f64, 1f64, dtype=\"float64\")), dtype=\"D\")"}) {
      text.replace(text.find("\"D\""), 3, "\"" + dtype + "\"");
      std::string once = shown(text);
      CAPTURE(text);
      CHECK(shown(once) == once);
    }
  for (std::string dtype :
       {"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"})
    for (std::string text : {"cast([0, 1, -1, 300000], dtype=\"D\")", "zeros(shape=[2, 0], "
                                                                      "dtype=\"D\")"}) {
      text.replace(text.find("\"D\""), 3, "\"" + dtype + "\"");
      std::string once = shown("(" + text + ", 1)");
      CAPTURE(text);
      CHECK(shown(once) == once);
    }
  std::string deep = shown("(ones(shape=[3, 4, 2], dtype=\"float64\"), ([1f, 2f],), "
                           "Cons((True, [1i64]), Nil), ref(zeros(shape=[2, 2], dtype=\"int8\")))");
  CHECK(shown(deep) == deep);
}

/// The same in Baton's notation.
std::string shownBare(const std::string& text) {
  Folder folder;
  std::string file =
      folder.write("shown.baton", "type Pair[A] { x: A, y: f32[2] }\ndef main() = " + text);
  Answer answer = baton({"run", file});
  CHECK(answer.errors == "");
  return answer.output;
}

TEST_CASE("what is printed in Baton's notation reads back in it") {
  for (std::string dtype : {"f16", "bf16", "f32", "f64"})
    for (std::string text : {"cast(0.1f64, dtype = D)", "cast([nan, -inf, -0.0, 3], dtype = D)",
                             "cast(sin(arange(0f64, 90, 1, dtype = f64)), dtype = D)"}) {
      text.replace(text.find(" D"), 2, " " + dtype);
      std::string once = shownBare(text);
      CAPTURE(text);
      CHECK(shownBare(once) == once);
    }
  for (std::string dtype : {"bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"})
    for (std::string text : {"cast([0, 1, -1, 300000], dtype = D)", "zeros([2, 0], dtype = D)"}) {
      text.replace(text.find(" D"), 2, " " + dtype);
      std::string once = shownBare("(" + text + ", 1)");
      CAPTURE(text);
      CHECK(shownBare(once) == once);
    }
  std::string deep =
      shownBare("(Pair(list(1, 2), [1, 2]), (2f64,), Some(true), list(list(1.0), Nil), ())");
  CHECK(deep == "(Pair(x = list(1, 2), y = [1.0, 2.0]), (2f64,), Some(true), list(list(1.0), Nil), ())\n");
  CHECK(shownBare(deep) == deep);
}

TEST_CASE("a value that shares its parts is shown and refused in bounded text") {
  runtime::Value value = runtime::tensorValue(runtime::Tensor::scalar(runtime::Int32, 1));
  for (int i = 0; i < 100; ++i)
    value = runtime::tupleValue({value, value});
  lang::TypeContext types;
  CHECK(driver::valueText(value, types, {}).size() < 100'000);
  Folder folder;
  auto written = driver::writeOutput(folder.path("o.npz"), {value});
  REQUIRE(!written);
  CHECK(written.failure().message == "the result has more than 1000000 parts");
}

} // namespace
