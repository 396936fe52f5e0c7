// Values as arrays by the names of their parts: what is written, what is read again, and what files
// may lack.
#include "runtime/formats/load.h"
#include "runtime/formats/npz.h"
#include "runtime/formats/safetensors.h"
#include "tests/unit/command.h"

#include <array>
#include <random>

namespace {

using namespace tests;
using formats::TensorMap;
using runtime::Tensor;

const std::string types = R"(
type Dense { w: f32[m, n], b: f32[m] }
type Mlp { layers: List[Dense], out: Dense, scale: Option[f32] }
type Tree { Leaf(f32), Fork(left: Tree, right: Tree), Bare }
type Steps { End, Step(at: i32, rest: Steps) }
type Odd { structure, Other(i32) }
type Chain { Link(Chain), Last }
)";

/// The names of the arrays in the file of a result, without the `out` in front.
std::vector<std::string> namesIn(const std::string& path) {
  std::vector<std::string> names;
  auto file = formats::openKeyed(path);
  REQUIRE(file);
  for (std::string key : (*file)->keys())
    names.push_back(key.substr(key.find('.') == key.npos ? key.size() : 4));
  std::ranges::sort(names);
  return names;
}

Tensor floats(runtime::Shape shape) {
  return Tensor(runtime::Float32, std::move(shape));
}

/// A network of two layers, by names.
TensorMap network() {
  return {{"layers.0.w", floats({3, 3})}, {"layers.0.b", floats({3})},
          {"layers.1.w", floats({4, 3})}, {"layers.1.b", floats({4})},
          {"out.w", floats({2, 4})},      {"out.b", floats({2})},
          {"scale.Some.0", floats({})}};
}

/// A program that gives the network back, and what it says of a file.
struct NetworkReader {
  Folder folder;
  std::string program = folder.write("n.baton", types + "def main(p: Mlp) = p\n");

  Answer read(const TensorMap& arrays, const std::string& key = "") const {
    const std::string path = folder.path("n.npz");
    REQUIRE(formats::writeNpz(path, arrays, formats::Compression::Stored));
    return baton({"run", program, "--input", "p=" + path + key});
  }
};

TEST_CASE("parts of values are arrays by their names") {
  Folder folder;
  using Names = std::vector<std::string>;
  for (auto [type, value, names] : std::vector<std::tuple<std::string, std::string, Names>>{
           {"f32", "1", {""}},
           {"()", "()", {}},
           {"(f32, (i32, bool))", "(1, (2, True))", {"0", "1.0", "1.1"}},
           {"Dense", "Dense([[1]], [2])", {"b", "w"}},
           {"List[Dense]",
            "Cons(Dense([[1]], [2]), Cons(Dense([[1, 2]], [2]), Nil))",
            {"0.b", "0.w", "1.b", "1.w"}},
           // One array, with a row for each; without rows it says that the list is empty.
           {"List[f32]", "Cons(1, Cons(2, Nil))", {""}},
           {"List[f32]", "Nil", {""}},
           {"List[f32[?]]", "Cons([1], Cons([2, 3], Nil))", {"0", "1"}},
           {"List[List[i32]]", "Cons(Cons(1, Nil), Cons(Nil, Nil))", {"0", "1"}},
           {"Option[f32]", "Some(1)", {"Some.0"}},
           {"Option[f32]", "None", {"None"}},
           {"Option[Option[f32]]", "Some(None)", {"Some.0.None"}},
           {"Tree", "Fork(Leaf(1), Bare)", {"Fork.left.Leaf.0", "Fork.right.Bare"}},
           {"Steps", "Step(1, Step(2, End))", {""}},
           // Names say nothing of these.
           {"List[()]", "Cons((), Cons((), Nil))", {"structure"}},
           {"Option[()]", "Some(())", {"structure"}},
           {"Odd", "structure", {"structure"}},
           {"Odd", "Other(1)", {"Other.0"}}}) {
    CAPTURE(type, value);
    std::string program =
        folder.write("v.baton", types + "def main(v: " + type + ") -> " + type + " = v\n");
    for (std::string file : {folder.path("v.npz"), folder.path("v.safetensors")}) {
      Answer given = baton({"run", program, "--input", "v=" + value, "--output", file});
      CAPTURE(given.errors);
      CHECK(given.code == ExitCode::Good);
      CHECK(namesIn(file) == names);
      CHECK(baton({"run", program, "--input", "v=" + file}).output == given.output);
      // The same by the names alone.
      CHECK(baton({"run", program, "--input", "v=" + value, "--save", file}).code ==
            ExitCode::Good);
      CHECK(baton({"run", program, "--input", "v=" + file}).output == given.output);
    }
  }
}

TEST_CASE("what is large or deep has a structure") {
  Folder folder;
  std::string program = folder.write("l.baton", types + R"(
def pairs(n: i32) -> List[(i32, f32)] = if n == 0 { Nil } else { Cons((n, 0.5), pairs(n - 1)) }
def chain(n: i32) = if n == 0 { Last } else { Link(chain(n - 1)) }
)");
  using Names = std::vector<std::string>;
  const Names whole = {"0", "1", "structure"};
  for (auto [entry, count, names] : std::vector<std::tuple<std::string, int, std::optional<Names>>>{
           {"pairs", 500, std::nullopt},
           {"pairs", 501, whole},
           {"chain", 30, std::nullopt},
           {"chain", 31, Names{"structure"}}}) {
    std::string file = folder.path("l.npz");
    REQUIRE(baton({"run", program, "--entry", entry, "--input", "n=" + std::to_string(count),
                   "--output", file})
                .code == ExitCode::Good);
    CAPTURE(entry, count);
    std::vector<std::string> found = namesIn(file);
    CHECK((names ? found == *names : !std::ranges::count(found, "structure")));
  }
}

/// Types that hold each other in random ways, and a program that gives the last one back.
class RandomTypes {
public:
  explicit RandomTypes(unsigned seed) : random_(seed) {}

  std::string program() {
    std::string text;
    for (count_ = 0; count_ < 3; ++count_)
      text += pick(2) == 0 ? record() : choice();
    const std::string type = this->type(3);
    return text + "def main(v: " + type + ") -> " + type + " = v\n";
  }

private:
  size_t pick(size_t below) { return random_() % below; }

  std::string fields(size_t most, bool isNamed) {
    std::string text;
    for (size_t i = 0, count = 1 + pick(most); i < count; ++i)
      text += fmt::format("{}{}{}", i ? ", " : "", isNamed ? fmt::format("f{}: ", i) : "", type(2));
    return text;
  }

  std::string record() { return fmt::format("type T{} {{ {} }}\n", count_, fields(3, true)); }

  std::string choice() {
    std::string text = fmt::format("type T{0} {{ A{0}", count_);
    for (size_t i = 0, more = 1 + pick(2); i < more; ++i)
      text += fmt::format(", B{}_{}({}{})", count_, i, fields(2, false),
                          pick(2) ? fmt::format(", T{}", count_) : "");
    return text + " }\n";
  }

  std::string type(size_t depth) {
    static const char* const tensors[] = {"f32",    "bool",      "i64",    "f16[2]", "u8[0]",
                                          "f64[k]", "f32[k, 2]", "f32[1]", "i32"};
    switch (depth == 0 ? 0 : pick(7)) {
    case 1:
      return fmt::format("({}, {})", type(depth - 1), type(depth - 1));
    case 2:
      return "()";
    case 3:
      return fmt::format("List[{}]", type(depth - 1));
    case 4:
      return fmt::format("Option[{}]", type(depth - 1));
    case 5:
    case 6:
      return count_ > 0 ? fmt::format("T{}", pick(count_)) : "f32";
    default:
      return tensors[pick(std::size(tensors))];
    }
  }

  std::mt19937 random_;
  size_t count_ = 0;
};

TEST_CASE("random values of random types come back") {
  Folder folder;
  size_t structures = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    const std::string program = folder.write("r.baton", RandomTypes(seed).program());
    CAPTURE(seed, folder.read("r.baton"));
    for (std::string suffix : {".npz", ".safetensors"}) {
      const std::string one = folder.path("one" + suffix), two = folder.path("two" + suffix);
      Answer made = baton({"run", program, "--full", "--random", std::to_string(seed), "--dim",
                           "k=2", "--output", one});
      if (made.errors.find("no parameter of `main` has a dimension") != std::string::npos)
        made = baton({"run", program, "--full", "--random", std::to_string(seed), "--output", one});
      CAPTURE(made.errors);
      REQUIRE(made.code == ExitCode::Good);
      Answer again = baton({"run", program, "--full", "--input", "v=" + one, "--save", two});
      CAPTURE(again.errors);
      CHECK(again.output == made.output);
      CHECK(baton({"run", program, "--full", "--input", "v=" + two, "--output", two}).output ==
            made.output);
      CHECK(folder.read("one" + suffix) == folder.read("two" + suffix));
      structures += size_t(std::ranges::count(namesIn(one), "structure"));
    }
  }
  CHECK(structures > 0);
}

TEST_CASE("what is missing and what has no place is listed") {
  NetworkReader reader;
  CHECK(reader.read(network()).code == ExitCode::Good);
  TensorMap arrays = network();
  arrays["layers.1.bias"] = arrays["layers.1.b"];
  arrays.erase("layers.1.b");
  arrays.erase("scale.Some.0");
  arrays["optimiser"] = floats({1});
  Answer answer = reader.read(arrays);
  CHECK(answer.errors.ends_with("parts of `Mlp` are missing:\n"
                                "  `layers.1.b`, which is `f32[m]`; did you mean `layers.1.bias`?\n"
                                "  `scale`, which is `Option[f32]`: `scale.Some` or `scale.None`\n"
                                "and these have no place in it:\n"
                                "  `layers.1.bias`\n"
                                "  `optimiser`\n"));
  CHECK(answer.code == ExitCode::World);
  // All that there is may be more than is wanted, what a key leads to may not.
  arrays = network();
  arrays["optimiser"] = floats({1});
  CHECK(reader.read(arrays).errors ==
        "note: not every tensor in `" + reader.folder.path("n.npz") +
            "` has a place in `p`; of the others, the file has `optimiser`\n");
  TensorMap under;
  for (const auto& [name, tensor] : arrays)
    under["net." + name] = tensor;
  checkError(reader.read(under, ":net"), ExitCode::World,
             "has `net.optimiser`, which has no place");
  under.erase("net.optimiser");
  CHECK(reader.read(under, ":net").code == ExitCode::Good);
  checkError(reader.read(under, ":nett"), ExitCode::World, "there is no key `nett`; the file has");
}

TEST_CASE("names of files may be names of fields") {
  NetworkReader reader;
  // The field `out` is not the result of a run, and `p.` may stand in front.
  for (std::string before : {"", "p.", "out."}) {
    TensorMap arrays;
    for (const auto& [name, tensor] : network())
      arrays[before + name] = tensor;
    Answer answer = reader.read(arrays);
    CAPTURE(before, answer.errors);
    CHECK(answer.code == ExitCode::Good);
  }
}

TEST_CASE("lists have no gaps, and values one constructor") {
  NetworkReader reader;
  TensorMap arrays = network();
  arrays["layers.999999999.w"] = floats({3, 3});
  checkError(reader.read(arrays), ExitCode::World,
             "`layers.2`, an item of `List[Dense]`, of which there is `layers.999999999`");
  arrays = network();
  arrays["layers.99999999999999999999999.w"] = floats({3, 3});
  CHECK(reader.read(arrays).errors.find("has `layers.99999999999999999999999.w`") !=
        std::string::npos);
  arrays = network();
  arrays["scale.None"] = floats({0});
  checkError(reader.read(arrays), ExitCode::World,
             "it has `scale.Some` and `scale.None`, and a value has one constructor");
  arrays = network();
  for (const char* name : {"layers.0.w", "layers.0.b", "layers.1.w", "layers.1.b"})
    arrays.erase(name);
  checkError(reader.read(arrays), ExitCode::World, "`layers`, which is `List[Dense]`");
  arrays["layers"] = floats({0});
  CHECK(reader.read(arrays).output.find("layers = Nil") != std::string::npos);
}

TEST_CASE("sizes and element types of parts are told with their paths") {
  NetworkReader reader;
  TensorMap arrays = network();
  arrays["layers.1.b"] = floats({5});
  checkError(reader.read(arrays), ExitCode::World,
             "in `p.layers.1.b`, a part of parameter `p` is `f32[m]`, but its input is `f32[5]`; "
             "`m` is 4 in `p`, but here it is 5");
  arrays = network();
  arrays["out.b"] = Tensor(runtime::Int64, {2});
  checkError(
      reader.read(arrays), ExitCode::World,
      "in `p.out.b`, a part of parameter `p` is `f32[m]`, but its input is `i64[2]`; "
      "elements of another kind are not converted, but numpy does it by astype(\"float32\")");
  for (auto& [name, tensor] : arrays)
    tensor = Tensor(runtime::Float64, tensor.shape());
  CHECK(reader.read(arrays).errors ==
        "note: parts of the input `p` are converted from `f64` to `f32`\n");
}

TEST_CASE("literals may be in the notation of the program") {
  Folder folder;
  std::string program = folder.write("l.baton", types + R"(
import nn
def main(p: Mlp, xs: List[(i32, List[bool])], t: Tree, l: nn.Linear[1, 1], u: u8) =
  (p, xs, t, l, u)
)");
  auto given = [&](std::string first, std::string second) {
    std::vector<std::string> words = {"run", program};
    for (std::string other :
         {"p=Mlp(layers = list(Dense(w = [[1]], b = [2i32]), Dense([[1f32]], b = [3])), out = "
          "Dense([[1]], [2]), scale = None)",
          "xs=list((1, list(true, false)), (2, list()))",
          "t=Fork(left = Leaf(1bf16), right = Bare)", "l=nn.Linear([[1]], [2])", "u=3u8"}) {
      const bool isOther = !first.empty() && other.starts_with(first + "=");
      words.insert(words.end(), {"--input", isOther ? first + "=" + second : other});
    }
    return baton(words);
  };
  const Answer answer = given("", "");
  CAPTURE(answer.errors);
  CHECK(answer.output.find("layers = list(Dense(w = [[1.0]], b = [2.0]), "
                           "Dense(w = [[1.0]], b = [3.0]))") != std::string::npos);
  CHECK(answer.output.find("list((1, list(true, false)), (2, Nil))") != std::string::npos);
  CHECK(answer.output.find("Fork(left = Leaf(1.0), right = Bare)") != std::string::npos);
  for (std::string list : {"list()", "list( )", "Nil", "list((1, list(true,),),)",
                           "Cons((1, list(true)), list())", "list((1, Nil), (2, Nil))"})
    CHECK(given("xs", list).code == ExitCode::Good);
  for (auto [name, value, problem] : std::vector<std::array<std::string, 3>>{
           {"xs", "list((1, list(true))", "`,` or `)` is expected behind it"},
           {"xs", "list((1, list(true)) (2, list()))", "`,` or `)` is expected before `(2,"},
           {"xs", "list(1)", "`(` is expected before `1)`"},
           {"xs", "list", "`list` is no constructor of `List`"},
           {"t", "Fork(right = Bare, left = Bare)",
            "`t.Fork.left` comes next, in the order of the type, and not `right`"},
           {"t", "Leaf(x = 1)", "`t.Leaf.0` comes next, in the order of the type, and not `x`"},
           {"u", "256u8", "`256u8` does not fit `u8`"},
           {"u", "3u", "`3u` is no `u8`"}})
    checkError(given(name, value), ExitCode::World, problem);
}

TEST_CASE("records in JSON are objects of their fields") {
  NetworkReader reader;
  auto given = [&](const std::string& json) {
    return baton({"run", reader.program, "--input", "p=" + reader.folder.write("p.json", json)});
  };
  const std::string dense = R"({"b": [2], "w": [[1]]})", none = R"({"con": "None", "fields": []})";
  const std::string written = baton({"run", reader.program, "--input",
                                     "p=Mlp(list(Dense([[1]], [2])), Dense([[1]], [2]), None)"})
                                  .output;
  CHECK(given(R"({"layers": [)" + dense + R"(], "out": )" + dense + R"(, "scale": )" + none + "}")
            .output == written);
  CHECK(given(R"({"p": {"layers": [)" + dense +
              R"(], "out": {"con": "Dense", "fields": [[[1]], [2]]},
                 "scale": )" +
              none + "}}")
            .output == written);
  for (auto [json, problem] : std::vector<std::pair<std::string, std::string>>{
           {R"({"layers": [], "out": )" + dense + "}",
            "`p.scale`, which is `Option[f32]`, is missing"},
           {R"({"layers": [{"w": [[1]], "bias": [2]}], "out": 1, "scale": 1})",
            "there is no place for `bias` in `p.layers.0`, which is `Dense`"},
           {R"({"layers": [{}], "out": 1, "scale": 1})",
            "`p.layers.0.w`, which is `f32[m, n]`, is missing"}})
    checkError(given(json), ExitCode::World, problem);
}

TEST_CASE("endless types and deep names end") {
  Folder folder;
  std::string program = folder.write("e.baton", types + R"(
type Loop { next: Loop }
type Twice { a: Twice, x: f32, b: Twice }
def loop_of(p: Loop) = 1
def twice(p: Twice) = 1
def chain(p: Chain) = 1
)");
  std::string path = folder.path("e.npz"), name = "Last";
  for (int i = 0; i < 20'000; ++i)
    name = "Link.0." + name;
  REQUIRE(formats::writeSafetensors(folder.path("e.safetensors"), {{name, floats({0})}}));
  REQUIRE(formats::writeNpz(path, {{"x", floats({})}}, formats::Compression::Stored));
  checkError(baton({"run", program, "--entry", "loop_of", "--input", "p=" + path}), ExitCode::World,
             "too deep");
  checkError(baton({"run", program, "--entry", "twice", "--input", "p=" + path}), ExitCode::World,
             "too deep");
  checkError(
      baton({"run", program, "--entry", "chain", "--input", "p=" + folder.path("e.safetensors")}),
      ExitCode::World, "too deep");
}

TEST_CASE("parts of results are saved by their names") {
  Folder folder;
  std::string program = folder.write("s.baton", types + R"(
type Trained { net: Mlp, losses: List[f32], count: i32 }
def main() =
  Trained(Mlp(list(Dense([[1]], [2])), Dense([[3]], [4]), None), list(0.5, 0.25), 7)
def read(p: Mlp, xs: List[f32], n: i32) = (p, xs, n)
)");
  auto at = [&](const char* name) { return folder.path(name); };
  Answer saved = baton({"run", program, "--save", "net=" + at("net.safetensors"), "--save",
                        "losses=" + at("losses.npz"), "--save", "count=" + at("n.json"), "--save",
                        "net.out=" + at("out.txt"), "--save", at("all.npz")});
  CHECK(saved.errors == "");
  Answer read = baton({"run", program, "--entry", "read", "--input", "p=" + at("net.safetensors"),
                       "--input", "xs=" + at("losses.npz"), "--input", "n=" + at("n.json")});
  CHECK(read.output == "(\n  Mlp(\n    layers = list(Dense(w = [[1.0]], b = [2.0])),\n"
                       "    out = Dense(w = [[3.0]], b = [4.0]),\n    scale = None,\n  ),\n"
                       "  list(0.5, 0.25),\n  7,\n)\n");
  CHECK(folder.read("out.txt") == "Dense([[3f]], [4f])\n");
  CHECK(
      baton({"run", program, "--entry", "read", "--input", "p=" + at("all.npz") + ":net", "--input",
             "xs=" + at("all.npz") + ":losses", "--input", "n=" + at("all.npz") + ":count"})
          .output == read.output);
  for (auto [word, problem] : std::vector<std::pair<std::string, std::string>>{
           {"nett=a.npz", "the result has no part `nett`: `Trained` has the fields `net`, "
                          "`losses`, `count`; did you mean `net`?"},
           {"net.out.c=a.npz", "the result has no part `c`: `Dense` has the fields `w`, `b`"},
           {"losses.0=a.npz", "the result has no part `0`: parts of `List[f32]` have no names"},
           {"net=a.npy", "`a.npy` is none"},
           {"net=" + at("none/a.npz"), "none/a.npz"},
           {"net=" + program, "which is read"}})
    checkError(baton({"run", program, "--save", word}), ExitCode::World, problem);
}

TEST_CASE("a seed makes keys") {
  Folder folder;
  std::string program = folder.write("k.baton", R"(
def main(a: u64[10], n: i32, b: u64[10]) = (a, n, b)
def other(n: i32) = n
)");
  std::vector<std::string> words = {"run", program, "--input", "n=1"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return baton(more);
  };
  const Answer keys = with({"--seed", "5"});
  CHECK(keys.code == ExitCode::Good);
  CHECK(keys.output == with({"--input", "a=seed:5", "--input", "b=seed:6"}).output);
  CHECK(with({"--seed", "5", "--input", "a=seed:1"}).output ==
        with({"--input", "a=seed:1", "--input", "b=seed:5"}).output);
  checkError(with({"--seed", "5", "--entry", "other"}), ExitCode::World,
             "no parameter of `other` is a key, `u64[10]`, for --seed");
}

TEST_CASE("values are shown in full where it is asked") {
  Folder folder;
  std::string program = folder.write("f.baton", R"(
def main() {
  print("all", arange(0, 200, 1, dtype = i32));
  (arange(0, 300, 1, dtype = i32), list(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14))
}
)");
  Answer brief = baton({"run", program}), full = baton({"run", program, "--full"});
  CHECK(brief.output.find("more") != std::string::npos);
  CHECK(brief.errors.find(" 150,") == std::string::npos);
  CHECK(full.output.find("more") == std::string::npos);
  CHECK(full.output.find("...") == std::string::npos);
  CHECK(full.output.find(" 150,") != std::string::npos);
  CHECK(full.errors.find(" 150,") != std::string::npos);
}

TEST_CASE("inputs of any type can be fixed") {
  Folder folder;
  std::string program = folder.write("x.baton", R"(
type Layer[n, m] { w: f32[m, n], b: f32[m] }
type Net[d] { layers: List[Layer[d, d]], last: Layer[d, 2], scale: Option[f32] }
def layer(p: Layer[n, m], x: f32[.., n]) -> f32[.., m] = x @ p.w.T + p.b
def main(p: Net[d], x: f32[b, d], n: i32) {
  let h = foldl(fn (h: f32[b, d], l: Layer[d, d]) = tanh(layer(l, h)), x, p.layers);
  let scale = match p.scale { Some(s) => s, None => 1 };
  (scale * layer(p.last, h), d, n)
}
def last(p: Net[d], x: f32[b, d]) = match p.scale {
  Some(s) => s * layer(p.last, x),
  None => layer(p.last, x),
}
def effects(p: Option[(f32, f32)], x: f32) {
  let y = match p { Some((a, b)) => { print("some", a); a + b }, None => x };
  let f = fn (z: f32) = match p { Some((a, _)) => a + z, None => z };
  (f(x), y, length(match p { Some(_) => list(x), None => list() }))
}
)");
  const std::vector<std::string> given = {"--random", "5", "--dim", "d=3", "--dim", "b=2"};
  auto run = [&](std::vector<std::string> words) {
    words.insert(words.end(), given.begin(), given.end());
    return baton(words);
  };
  const std::string plain = run({"run", program, "--numbers", "reference"}).output;
  CHECK(plain != "");
  for (std::string names : {"p", "p*", "n", "*"})
    for (std::string engine : {"vm", "native", "interp"}) {
      Answer fixed = run({"run", program, "--engine", engine, "--numbers", "reference",
                          "--skip-pass", "fold-scales", "--fix", names});
      CAPTURE(names, engine, fixed.errors);
      CHECK(fixed.output == plain);
    }
  // What is computed of weights alone is computed once.
  Answer code = run({"run", program, "--entry", "last", "--fix", "p", "--stop-after", "dead-code"});
  code.output.erase(0, std::min(code.output.find("def @last"), code.output.size()));
  code.output.resize(std::min(code.output.find("\n}\n"), code.output.size()));
  CAPTURE(code.output);
  CHECK(code.output.find("matmul") != std::string::npos);
  CHECK(code.output.find("transpose") == std::string::npos);
  CHECK(code.output.find("match") == std::string::npos);
  const std::string made = folder.path("x.bvm");
  Answer compiled = run({"compile", program, "--fix", "p", "-o", made});
  CHECK(compiled.errors == "");
  CHECK(baton({"run", made, "--random", "5"}).code == ExitCode::Good);
  for (std::string value : {"p=Some((1, 2))", "p=None"}) {
    std::vector<std::string> words = {"run",     program, "--entry", "effects",
                                      "--input", value,   "--input", "x=3"};
    const Answer open = baton(words);
    words.insert(words.end(), {"--fix", "p"});
    const Answer fixed = baton(words);
    CHECK(open.code == ExitCode::Good);
    CHECK(fixed.output == open.output);
    CHECK(fixed.errors == open.errors);
  }
  std::string large = folder.write("l.baton", R"(
def main(xs: List[i32], n: i32) = n
def numbers(n: i32) -> List[i32] = if n == 0 { Nil } else { Cons(n, numbers(n - 1)) }
)");
  const std::string file = folder.path("l.npz");
  REQUIRE(
      baton({"run", large, "--entry", "numbers", "--input", "n=10000", "--output", file}).code ==
      ExitCode::Good);
  checkError(baton({"run", large, "--fix", "xs", "--input", "xs=" + file, "--input", "n=1"}),
             ExitCode::World, "`xs` cannot be fixed: it has more than 10,000 parts");
}

} // namespace
