// The arguments of the entry: literals, files, sizes and the fill.
#include "runtime/formats/safetensors.h"
#include "tests/unit/command.h"

#include <set>

namespace {

using namespace tests;

TEST_CASE("what is wrong with inputs is said with both sides") {
  Folder folder;
  std::string file =
      folder.write("i.rly", "fn (%data: Tensor[(2, ?), float32], %t: List[int32]) { %data }");
  std::string other = folder.write("s.rly", "fn (%n: int32) { %n }");
  std::string npz = folder.path("n.npz");
  REQUIRE(baton({"run", other, "--random", "1", "--output", npz}).code == ExitCode::Good);
  checkError(baton({"run", file}), ExitCode::World, "\n  `%data: Tensor[(2, ?), float32]`\n");
  checkError(baton({"run", file, "--random", "1"}), ExitCode::World, "whose shape is open");
  checkError(baton({"run", file, "--input", "dta=" + npz}), ExitCode::World,
             "did you mean `data`?");
  checkError(baton({"run", file, "--input", "data=" + npz}), ExitCode::World,
             "parameter `%data` is `Tensor[(2, ?), float32]`, but its input is `int32`");
  checkError(baton({"run", file, "--input", "data"}), ExitCode::World, "takes NAME=PATH");
  checkError(baton({"run", other, "--input", npz}), ExitCode::World,
             "has no tensor for a parameter of `@main`; the file has `out`; its parameters are:\n"
             "  `%n: int32`");
  checkError(baton({"run", other, "--input", "n=" + npz, "--input", "n=" + npz}), ExitCode::World,
             "given twice");
}

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

TEST_CASE("inputs can be literals") {
  Folder folder;
  std::string file = folder.write("l.rly", "fn (%n: int32, %x: Tensor[(2, k), float32], %b: bool, "
                                           "%h: float16, %u: uint64) { (%n, %x, %b, %h, %u) }");
  auto given = [&](std::vector<std::string> inputs) {
    std::vector<std::string> words{"run", file};
    for (const std::string& input : inputs)
      words.insert(words.end(), {"--input", input});
    return baton(words);
  };
  Answer answer =
      given({"n=-3", "%x=[[1, 2.5e1], [-3f, nanf],]", "b=True", "h=.1", "u=18446744073709551615"});
  CHECK(answer.errors == "");
  CHECK(answer.output == "(\n  -3,\n  [[  1f,  25f],\n   [ -3f, nanf]] /* ty=Tensor[(2, 2), "
                         "float32] */,\n  True,\n  0.1f16,\n  cast(-1i64, dtype=\"uint64\"),\n)\n");
  for (auto [input, problem] : std::vector<std::pair<std::string, std::string>>{
           {"n=3.5", "the input `%n`: `3.5` is no `int32`"},
           {"n=3f", "the input `%n`: `3f` is no `int32`"},
           {"n=2147483648", "`2147483648` does not fit `int32`"},
           {"n=True", "`True` is no `int32`"},
           {"n=[3]", "parameter `%n` is `int32`, but its input is `Tensor[(1), int32]`"},
           {"n=12/x", "`12/x` is no `int32`"},
           {"n=x", "the name ends in none of .npy, .npz and .safetensors"},
           {"b=1", "`1` is no `bool`"},
           {"h=1e6", "`1e6` does not fit `float16`"},
           {"u=-1", "`-1` does not fit `uint64`"},
           {"x=[[1], [2, 3]]", "its lists differ in length: 1 and 2"},
           {"x=[[1], 2]", "a number stands where there is a list elsewhere"},
           {"x=[1, [2]]", "a list stands where there is a number elsewhere"},
           {"x=[[1]", "the list is never closed"},
           {"x=[1]]", "unexpected `]`"},
           {"x=[1 2]", "unexpected `2]`"}})
    checkError(given({input}), ExitCode::World, problem);
}

TEST_CASE("inputs of tuples and data types are literals too") {
  Folder folder;
  std::string file = folder.write(
      "d.rly", "type Word { Word(Tensor[(k), int32], List[Tensor[(k), int32]]), Blank }\n"
               "def @main(%t: (int32, Tensor[(k), float32], ()), %l: List[Option[bool]], %w: "
               "List[Word], %o: Option[Tensor[(k), int32]]) { (%t, %l, %w, %o) }\n"
               "def @call(%f: (fn () -> int32, int32)) { 1 }\n");
  auto given = [&](const std::string& input, std::string engine = "vm") {
    std::vector<std::string> words{"run", file, "--engine", engine};
    for (std::string other : {
             "t=(1, [2, 3.5], ())",
             "l=Nil",
             "w=Nil",
             "o=Some([4, 5])",
         })
      words.insert(words.end(), {"--input", other[0] == input[0] ? input : other});
    return baton(words);
  };
  const std::string list = "Cons(Some(True), Cons(None, Nil))";
  const std::string words =
      "Cons(Word([1], Nil), Cons(Blank, Cons(Word([1, 2], Cons([3, 4], Nil)), "
      "Nil)))";
  for (std::string engine : {"vm", "interp"})
    for (std::string input : {"l=" + list, "w=" + words, std::string("t= ( 1,[2, 3.5,], ( ) ,)")}) {
      Answer answer = given(input, engine);
      CHECK(answer.errors == "");
      std::string shown = input[0] == 't' ? "((1, [  2f, 3.5f] /* ty=Tensor[(2), float32] */, ())"
                                          : input.substr(2);
      CAPTURE(answer.output);
      CHECK(answer.output.find(shown) != std::string::npos);
    }
  for (auto [input, problem] : std::vector<std::pair<std::string, std::string>>{
           {"t=(1, [2], ())", "a part of parameter `%o` is `Tensor[(k), int32]`, but its input is "
                              "`Tensor[(2), int32]`; `k` is 1 in `%t`, but here it is 2"},
           {"t=(1, 2, ())", "a part of parameter `%t` is `Tensor[(k), float32]`"},
           {"t=(1, [2]", "the input `%t`: `,` is expected behind it"},
           {"t=(1, [2], ()) 3", "the end is expected before `3`"},
           {"t=1", "`(` is expected before `1`"},
           {"t=(1, [2], (1))", "`)` is expected before `1))`"},
           {"l=Cons(Some(1), Nil)", "`1` is no `bool`"},
           {"l=Con(True, Nil)", "`Con` is no constructor of `List`, which has Cons, Nil"},
           {"w=Cons(Word([1], Cons([1, 2], Nil)), Nil)", "`k` is 1 in `%w`, but here it is 2"},
           {"o=w.npz", "`w.npz`"}})
    checkError(given(input), ExitCode::World, problem);
  checkError(baton({"run", file, "--entry", "call", "--input", "f=(1, 2)"}), ExitCode::World,
             "the input `%f`: there are no literals for functions");
  std::string chain = "l=";
  for (int i = 0; i < 20'000; ++i)
    chain += "Cons(None, ";
  CHECK(given(chain + "Nil" + std::string(20'000, ')')).errors == "");
  checkError(given(chain), ExitCode::World, "is no constructor of `List`");
}

TEST_CASE("a file alone gives the parameters that it has by name, converted where needed") {
  Folder folder;
  std::string file = folder.path("w.safetensors");
  formats::TensorMap tensors;
  tensors.emplace("fc.weight", runtime::Tensor::scalar(runtime::Float64, 0.1));
  tensors.emplace("n", runtime::Tensor::scalar(runtime::Int64, int64_t(7)));
  tensors.emplace("rest", runtime::Tensor::scalar(runtime::Int64, int64_t(1) << 40));
  REQUIRE(formats::writeSafetensors(file, tensors));
  std::string program =
      folder.write("w.rly", "fn (%fc_weight: float32, %n: int32) { (%fc_weight, %n) }");
  Answer answer = baton({"run", program, "--input", file});
  CHECK(answer.output == "(0.1f, 7)\n");
  CHECK(answer.errors == "note: the input `%fc_weight` is converted from `float64` to `float32`\n"
                         "note: the input `%n` is converted from `int64` to `int32`\n"
                         "note: not every tensor in `" +
                             file +
                             "` has a parameter; of the others, the file has "
                             "`rest`\n");
  CHECK(baton({"run", program, "--input", file, "--input", "n=8"}).output == "(0.1f, 8)\n");
  checkError(baton({"run", program, "--input", file, "--input", file}), ExitCode::World,
             "the input `n` is given twice");
  checkError(baton({"run", program, "--input", file, "--input", "n=" + file + ":rest"}),
             ExitCode::World, "it holds 1099511627776, which does not fit `int32`");
  checkError(baton({"run", program, "--input", file, "--input", "n=" + file + ":fc.weight"}),
             ExitCode::World, "parameter `%n` is `int32`, but its input is `float64`");
  checkError(baton({"run", program, "--input", "none.npz"}), ExitCode::World, "`none.npz`");
}

TEST_CASE("values of data types are drawn, small and of every constructor") {
  Folder folder;
  std::string file = folder.write(
      "r.rly",
      "type Tree { Leaf(Tensor[(k), float32], Tensor[(k), int8]), Fork(Tree, (Tree, bool)) }\n"
      "type Rose { Rose(int32, List[Rose]) }\n"
      "type Box[A] { Full(A, A), Empty }\n"
      "type Loop { Again(Box[Loop]), Never(Loop), Stop(fn () -> int32) }\n"
      "type Endless { Endless(Endless) }\n"
      "def @main(%t: Tree, %r: Rose, %l: List[(int32, Option[bool])]) { (%t, %r, %l) }\n"
      "def @loop(%l: Loop) { %l }\n"
      "def @endless(%e: Endless) { 1 }\n"
      "def @call(%f: (fn () -> int32, int32)) { 1 }\n"
      "def @sized(%l: List[Tensor[(n), float32]]) { %l }\n");
  std::set<std::string> drawn;
  for (int seed = 0; seed < 20; ++seed) {
    std::vector<std::string> words{"run", file, "--random", std::to_string(seed)};
    Answer answer = baton(words);
    CHECK(answer.errors == "");
    CHECK(answer.output == baton(words).output);
    CHECK(answer.output.find("Fork(") != std::string::npos);
    CHECK(answer.output.find("Cons((") != std::string::npos);
    drawn.insert(answer.output);
    words.insert(words.end(), {"--entry", "loop"});
    CHECK(baton(words).output.find("Empty") != std::string::npos);
  }
  CHECK(drawn.size() == 20);
  for (std::string entry : {"endless", "call"})
    checkError(baton({"run", file, "--random", "1", "--entry", entry}), ExitCode::World,
               "no value of tensors and constructors that could be drawn");
  checkError(baton({"run", file, "--random", "1", "--entry", "sized"}), ExitCode::World,
             "give the size of `n` with --dim n=SIZE");
  CHECK(baton({"run", file, "--random", "1", "--entry", "sized", "--dim", "n=2"})
            .output.starts_with("Cons(["));
}

TEST_CASE("keys of random numbers are given by a seed, and texts by their bytes") {
  Folder folder;
  std::string file = folder.write("k.rly", "def @main(%key: Tensor[(10), uint64], %t: Tensor[(n), "
                                           "uint8]) { (%key, %t) }\n"
                                           "def @other(%key: int32) { %key }\n");
  std::string text = folder.write("t.bin", std::string("a\0\xff", 3));
  Answer answer =
      baton({"run", file, "--input", "key=seed:18446744073709551615", "--text", "t=" + text});
  CHECK(answer.errors == "");
  CHECK(answer.output.find("[                  -1i64,                    0i64,") !=
        std::string::npos);
  CHECK(answer.output.find("-9223372036854775808i64") != std::string::npos);
  CHECK(answer.output.find("cast([ 97,   0, 255], dtype=\"uint8\")") != std::string::npos);
  checkError(baton({"run", file, "--entry", "other", "--input", "key=seed:1"}), ExitCode::World,
             "parameter `%key` is `int32`, but its input is `Tensor[(10), uint64]`");
  checkError(baton({"run", file, "--input", "key=seed:x", "--random", "1"}), ExitCode::World,
             "`seed:x` is no literal");
  checkError(baton({"run", file, "--text", "t=none", "--random", "1"}), ExitCode::World, "`none`");
  checkError(baton({"run", file, "--text", text}), ExitCode::World, "--text takes NAME=PATH");
  checkError(baton({"run", file, "--text", "t=" + text, "--input", "t=[1]"}), ExitCode::World,
             "given twice");
}

TEST_CASE("parts of parameters are given by their paths") {
  Folder folder;
  std::string weights = folder.path("w.safetensors");
  formats::TensorMap tensors;
  tensors.emplace("fc.weight", runtime::Tensor(runtime::Float32, {2, 3}));
  tensors.emplace("fc.bias", runtime::Tensor(runtime::Float64, {2}));
  REQUIRE(formats::writeSafetensors(weights, tensors));
  std::string file =
      folder.write("p.rly", "type Net { Net(Tensor[(n, 3), float32], Tensor[(n), float32]) }\n"
                            "def @main(%t: (Net, List[int32]), %x: int32) { %t }\n");
  auto given = [&](std::vector<std::string> inputs) {
    std::vector<std::string> words{"run", file, "--input", "x=1"};
    for (const std::string& input : inputs)
      words.insert(words.end(), {"--input", input});
    return baton(words);
  };
  const std::string weight = "t.0.0=" + weights + ":fc.weight";
  const std::string bias = "t.0.1=" + weights + ":fc.bias";
  Answer answer = given({weight, "%t.1=Cons(1, Nil)", bias});
  CHECK(answer.errors ==
        "note: parts of the input `%t` are converted from `float64` to `float32`\n");
  CHECK(answer.output.find("Cons(1, Nil)") != std::string::npos);
  CHECK(given({"t.0=Net([[1, 2, 3]], [4])", "t.1=Nil"}).code == ExitCode::Good);
  checkError(given({weight, "t.1=Nil"}), ExitCode::World,
             "the input `%t`: `t.0.1`, which is `Tensor[(n), float32]`, is not given");
  checkError(given({weight, bias, "t.1=Nil", "t.2=1"}), ExitCode::World, "there is no part `t.2`");
  checkError(given({weight, bias, "t.1=Nil", bias}), ExitCode::World,
             "the input `t.0.1` is given twice");
  checkError(given({"t=(Net([[1, 2, 3]], [4]), Nil)", "t.1=Nil"}), ExitCode::World,
             "the input `t.1` is given twice");
  checkError(given({weight, "t.0.1=[1, 2, 3]", "t.1=Nil"}), ExitCode::World,
             "in `t.0.1`, a part of parameter `%t` is `Tensor[(n), float32]`, but its input is "
             "`Tensor[(3), float32]`; `n` is 2 in `%t`, but here it is 3");
  checkError(given({"x.1=1"}), ExitCode::World, "`x.1` is no parameter of `@main`");
}

TEST_CASE("what does not fit in a file is named by its path, with both types") {
  Folder folder;
  std::string made =
      folder.write("m.rly", "type Net { Net(Tensor[(2), float32], float32) }\n"
                            "type Tree { Leaf(int32), Fork(Tree, Tree) }\n"
                            "def @main(%t: (Net, List[(int32, Tree)], int32)) { %t }\n"
                            "def @f(%f: ref(int32)) { %f }\n");
  std::string read =
      folder.write("r.rly", "type Net { Net(Tensor[(3), float32], float32) }\n"
                            "type Tree { Leaf(bool), Fork(Tree, Tree) }\n"
                            "def @net(%t: (Net, List[(int32, Tree)], int32)) { %t }\n"
                            "def @tree(%t: List[(int32, Tree)]) { %t }\n"
                            "def @short(%t: (Net, List[(int32, Tree)])) { %t }\n"
                            "def @narrow(%t: (float32, float32)) { %t }\n");
  std::string other = folder.write("o.rly", "type Tree { Leaf(int32), Twig(Tree) }\n"
                                            "def @main(%t: List[(int32, Tree)]) { %t }\n");
  for (std::string suffix : {".npz", ".safetensors", ".json", ".txt"}) {
    INFO(suffix);
    std::string path = folder.path("out" + suffix);
    Answer written = baton({"run", made, "--input",
                            "t=(Net([1, 2], 3), Cons((1, Leaf(2)), Cons((3, Fork(Leaf(4), "
                            "Leaf(5))), Nil)), 6)",
                            "--output", path});
    REQUIRE(written.code == ExitCode::Good);
    auto refused = [&](const std::string& entry, const std::string& key, const std::string& part) {
      checkError(baton({"run", read, "--entry", entry, "--input", "t=" + path + key}),
                 ExitCode::World, part);
    };
    refused("net", "",
            "in `t.0.0`, a part of parameter `%t` is `Tensor[(3), float32]`, but its "
            "input is `Tensor[(2), float32]`");
    if (suffix == ".txt") {
      refused("tree", ":out", "a .txt holds one value and takes no key, but `out` is given");
      continue;
    }
    refused("tree", ":out.1",
            "in `t.0.1.Leaf.0`, a part of parameter `%t` is `bool`, but its input is "
            "`int32`");
    checkError(baton({"run", other, "--input", "t=" + path + ":out.1"}), ExitCode::World,
               suffix == ".json"
                   ? "in `t.1.1`, `Fork` is no constructor of `Tree`"
                   : "`out.1.1.1`, which is `Tree[]`: `out.1.1.1.Leaf` or `out.1.1.1.Twig`");
    refused("narrow", ":out.0",
            "in `t.0`, a part of parameter `%t` is `float32`, but its input is "
            "`Tensor[(2), float32]`");
    refused("net", ":out.7", "out.7");
    checkError(baton({"run", made, "--input", "t=" + path + ":out.0"}), ExitCode::World,
               suffix == ".json" ? "`t.0` is `Net[]`, which is written as" : "out.0.0.0");
  }
  std::string path = folder.path("out.npz");
  checkError(baton({"run", made, "--entry", "f", "--input", "f=" + path}), ExitCode::World,
             "there are no literals for references; it is `ref(int32)`");
  checkError(baton({"run", made, "--entry", "f", "--random", "1"}), ExitCode::World,
             "no value of tensors and constructors");
}

TEST_CASE("dimensions in tuples and data types are seen, and tuples are filled") {
  Folder folder;
  std::string file = folder.write("t.rly", "def @main(%t: (Tensor[(n), float32], (Tensor[(n), "
                                           "float32],))) { %t }\n"
                                           "def @list(%l: List[Tensor[(n), float32]]) { 1 }\n");
  Answer answer = baton({"run", file, "--random", "1", "--dim", "n=1"});
  CHECK(answer.errors == "");
  CHECK(answer.output.starts_with("(\n  [0."));
  CHECK(answer.output.find("\n  ([1.") != std::string::npos);
  CHECK(answer.output == baton({"run", file, "--random", "1", "--dim", "n=1"}).output);
  checkError(baton({"run", file, "--random", "1"}), ExitCode::World,
             "cannot be filled; give the size of `n` with --dim n=SIZE");
  Answer list = baton({"run", file, "--entry", "list", "--random", "1", "--dim", "n=1"});
  CHECK(list.errors.find("no parameter") == std::string::npos);
}

} // namespace
