// The command line as a function: answers, exit codes, results in files.
#include "driver/values/files.h"
#include "driver/values/text.h"
#include "lang/calls/run_value.h"
#include "runtime/formats/load.h"
#include "tests/unit/command.h"

#include <csignal>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>

namespace {

using namespace tests;

TEST_CASE("a list of a million elements is written as JSON") {
  lang::Constructor nil{{lang::ExprKind::Constructor, {}}, "Nil", {}};
  lang::Constructor cons{{lang::ExprKind::Constructor, {}}, "Cons", {}};
  runtime::Value element = runtime::tensorValue(runtime::Tensor::scalar(runtime::Int32, 7));
  runtime::Value list = lang::constructorValue(nil, {});
  for (int i = 0; i < 1'000'000; ++i)
    list = lang::constructorValue(cons, {element, list});
  Folder folder;
  REQUIRE(driver::writeOutput(folder.path("o.json"), {list}));
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
  checkError(baton({"run", good, "--entry", "mian"}), ExitCode::World, "`--entry main`");
  checkError(baton({"check", folder.path("none")}), ExitCode::World, "No such file");
  checkError(baton({"run", good, "--output", "o.csv"}), ExitCode::World, "`o.csv` is none");
  checkError(baton({"run", good, "--entry", "f", "--output", folder.path("o.json")}),
             ExitCode::World, "the result holds a function");
  checkError(baton({"run", good, "--random", "-1"}), ExitCode::World, "--random");
  checkError(baton({"run", good, "--precision", "1"}), ExitCode::World, "--precision");
  checkError(baton({"chek", good}), ExitCode::World, "did you mean `check`?");
  checkError(baton({}), ExitCode::World, "Usage");
  CHECK(baton({"--help"}).output.find("Exit codes") != std::string::npos);
  CHECK(baton({"--version"}).output.starts_with("baton "));
}

TEST_CASE("an option of no command is named") {
  checkError(baton({"--frob"}), ExitCode::World, "there is no option `--frob`");
  checkError(baton({"--frob", "check"}), ExitCode::World, "there is no option `--frob`");
  CHECK(baton({"-h"}).code == ExitCode::Good);
}

TEST_CASE("an executable does not take the place of its program") {
  Folder folder;
  const std::string text = "def @main() { 1 }";
  std::string program = folder.write("p.rly", text), link = folder.path("link.rly");
  std::filesystem::remove(link);
  std::filesystem::create_symlink(program, link);
  for (const std::string& output : {program, link, folder.path("./p.rly")}) {
    checkError(baton({"compile", program, "-o", output}), ExitCode::World, "take the place of");
    checkError(baton({"compile", link, "-o", output}), ExitCode::World, "take the place of");
  }
  CHECK(folder.read("p.rly") == text);
  CHECK(baton({"compile", program, "-o", folder.path("p.bvm")}).code == ExitCode::Good);
}

TEST_CASE("parameters of deep tuples are compiled, or refused when the machine would refuse them") {
  Folder folder;
  auto compiled = [&](size_t depth) {
    std::string type = "int32";
    for (size_t i = 0; i < depth; ++i)
      type = "(" + type + ", int32)";
    std::string program = folder.write("p.rly", "def @main(%x: " + type + ") { 1 }");
    return baton({"compile", program, "-o", folder.path("p.bvm")});
  };
  CHECK(compiled(1000).code == ExitCode::Good);
  CHECK(baton({"disasm", folder.path("p.bvm")}).code == ExitCode::Good);
  checkError(compiled(1100), ExitCode::Program, "more than 1024 tuples in each other");
}

TEST_CASE("a text of another version of Baton says that it is one") {
  Folder folder;
  std::string text = folder.write("t.bvt", "#[executable = 2]\n");
  checkError(baton({"disasm", text}), ExitCode::Program, "another version of Baton wrote the text");
}

TEST_CASE("long strings are shortened in messages") {
  Folder folder;
  std::string program = folder.write("p.rly", "def @main(%x: int32) { cast(%x, dtype=\"" +
                                                  std::string(10'000, 'q') + "\") }");
  Answer answer = baton({"check", program});
  CHECK(answer.errors.find(std::string(40, 'q') + "...\"") != std::string::npos);
  CHECK(answer.errors.size() < 1000);
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

TEST_CASE("the JSON of check says all that the text says") {
  Folder folder;
  std::string file = folder.write("b.rly", "type T { A }\ntype T { B }\n"
                                           "def @main(%data: int32) { (%dta, match (%data) {}) }\n"
                                           "def @g(%x: int32) { let %x = 1; %x }\n");
  auto all = nlohmann::json::parse(baton({"check", file, "--json"}).output)["diagnostics"];
  REQUIRE(all.size() == 3);
  CHECK(all[0]["code"] == "repeated-type");
  CHECK(all[0]["labels"] ==
        nlohmann::json::parse(fmt::format(R"([{{"message":"first defined here","file":"{}",)"
                                          R"("line":1,"column":6,"endLine":1,"endColumn":7}}])",
                                          file)));
  CHECK(!all[0].contains("suggestions"));
  REQUIRE(all[1]["suggestions"].size() == 1);
  CHECK(all[1]["suggestions"][0]["message"] == "did you mean `%data`?");
  CHECK(all[1]["suggestions"][0]["edits"][0]["text"] == "%data");
  CHECK(!all[1].contains("labels"));
  CHECK(all[2]["notes"].size() == 1);

  std::string none = folder.path("none.rly");
  Answer answer = baton({"check", file, none, "--json"});
  CHECK(answer.code == ExitCode::World);
  auto last = nlohmann::json::parse(answer.output)["diagnostics"].back();
  CHECK(last["file"] == none);
  CHECK(last["severity"] == "error");
  CHECK(last["message"].get<std::string>().find("No such file") != std::string::npos);
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
    CHECK(baton({"run", file, "--engine", engine}).output == "0.33333334f\n");
  checkError(baton({"run", file, "--engine", "loop"}), ExitCode::World,
             "there is no engine `loop`; the engines are `auto`, `vm`, `native`, `loops` and "
             "`interp`");
  checkError(baton({"run", file, "--engine", "loops", "--precision", "30"}), ExitCode::World,
             "`--precision` is for `--engine interp`");
}

TEST_CASE("precision shows as many digits as asked for") {
  Folder folder;
  std::string file = folder.write("d.rly", "def @main() { divide(1f64, 3f64) }");
  CHECK(baton({"run", file, "--precision", "50"}).output == "0." + std::string(50, '3') + "f64\n");
}

TEST_CASE("a byte-order mark is no part of the text") {
  Folder folder;
  std::string file = folder.write("bom.rly", "\xEF\xBB\xBF"
                                             "def @main() { %x }\n");
  Answer answer = baton({"check", file});
  CHECK(answer.errors.find("bom.rly:1:15") != std::string::npos);
  CHECK(answer.errors.find("| def @main() { %x }\n   |               ^^\n") != std::string::npos);
  CHECK(baton({"run", folder.write("g.rly", "\xEF\xBB\xBF#[version = \"0.0.5\"]\n1")}).output ==
        "1\n");
}

TEST_CASE("functions of the prelude are found beside the operators") {
  CHECK(baton({"operators", "@map"}).output ==
        "## @map\n\n    @map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B]\n\n"
        "The list of `f(x)`.\n");
  CHECK(baton({"operators", "map"}).output == baton({"operators", "@map"}).output);
  std::string both = baton({"operators", "sum"}).output;
  CHECK(both.starts_with("## sum\n"));
  CHECK(both.find("\n## @sum\n") != std::string::npos);
  CHECK(baton({"operators"}).output.find("\n@foldl ") != std::string::npos);
}

TEST_CASE("a word that is no name lists what contains it") {
  std::string named = baton({"operators", "Fold"}).output;
  CHECK(named.starts_with("@foldl "));
  CHECK(named.find("\n@foldr1 ") != std::string::npos);
  CHECK(named.find("@map") == std::string::npos);
  CHECK(baton({"operators", "seed"}).output.find("@unfoldr ") != std::string::npos);
  CHECK(baton({"operators", "modulo"}).output.starts_with("floor_mod "));
  CHECK(baton({"operators", "GELU"}).output.starts_with("erf "));
  checkError(baton({"operators", "nn.cnov2d"}), ExitCode::World, "did you mean `nn.conv2d`?");
  checkError(baton({"operators", "@fodlr"}), ExitCode::World, "did you mean `@foldr`?");
}

TEST_CASE("programs come from standard input, also by a socket") {
  for (std::vector<std::string> words : {std::vector<std::string>{"run", "-"},
                                         {"check", "-"},
                                         {"print", "-"},
                                         {"opt", "-", "--passes", "dead-code"},
                                         {"check", "--hover", "1:15", "-"}}) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    std::string_view text = "def @main() { 1 }\n";
    REQUIRE(write(ends[0], text.data(), text.size()) == ssize_t(text.size()));
    close(ends[0]);
    int before = dup(STDIN_FILENO);
    dup2(ends[1], STDIN_FILENO);
    Answer answer = baton(words);
    dup2(before, STDIN_FILENO);
    close(before);
    close(ends[1]);
    CHECK(answer.errors == "");
    CHECK(answer.code == ExitCode::Good);
    CHECK(!answer.output.empty());
  }
}

TEST_CASE("an interrupt ends a run and says where it was") {
  Folder folder;
  std::string file = folder.write("e.rly", "def @loop(%n: int32) -> int32 { @loop(%n) }\n"
                                           "def @main() { @loop(1) }\n");
  pid_t child = fork();
  if (child == 0) {
    auto ignore = [](int) {};
    signal(SIGINT, ignore);
    std::thread([&] {
      struct sigaction now = {};
      do
        sigaction(SIGINT, nullptr, &now);
      while (now.sa_handler == +ignore);
      kill(getpid(), SIGINT);
    }).detach();
    Answer answer = baton({"run", file});
    // The interrupt may come as early as the first call, whose place is the entry.
    bool isPlaced = answer.errors.find("e.rly:1:33") != std::string::npos ||
                    answer.errors.find("e.rly:2:") != std::string::npos;
    bool isGood = answer.output.empty() && isPlaced &&
                  answer.errors.find("interrupted after ") != std::string::npos;
    _exit(isGood ? int(answer.code) : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
}

TEST_CASE("what is too large for the machine's code is run all the same") {
  Folder folder;
  std::string fields;
  for (int i = 0; i < 70'000; ++i)
    fields += i == 0 ? "%x" : ", %x";
  std::string file = folder.write("tuple.rly", "def @main(%x: int32) {\n  let %t = (" + fields +
                                                   ");\n  %t.69999\n}\n");
  CHECK(baton({"run", file, "--input", "x=5"}).output == "5\n");
  std::string code = "def @main(%x: int32) {\n  if (%x < 3) {\n";
  for (int i = 0; i < 1'400; ++i)
    code += "    let %v" + std::to_string(i) + " = (" + fields.substr(0, 4 * 100 - 2) + ");\n";
  file = folder.write("jump.rly", code + "    %v1399.7\n  } else { 0 }\n}\n");
  CHECK(baton({"run", file, "--input", "x=2"}).output == "2\n");
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
       {std::string("1.000000000000000000000000000001000000003f,"),
        std::string("\n  [2f, 3f, 1f, 0f] /*"), std::string("\n  [1, 1, 0, 1] /*"),
        std::string("\n  [4] /*"), std::string("\n  [[0],\n   [1],\n   [2],\n   [3]] /*"),
        first + "f] /* ty=Tensor[(4), float32] */,\n  [2f",
        "\n    [" + first + "f] /* ty=Tensor[(1), float32] */,\n    [0]",
        "\n  [" + first + "f] /* ty=Tensor[(1), float32] */,\n  [[0]"}) {
    CAPTURE(text);
    CHECK(answer.output.find(text) != std::string::npos);
  }
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
  CHECK(answer.output == "[1.33333333333333325931846502499f] /* ty=Tensor[(1), float32] */\n");
  CHECK(baton({"run", file, "--precision", "30", "--allow", "float64-result"}).errors == "");
  CHECK(baton({"run", file}).errors == "");
  std::string whole =
      folder.write("whole.rly", "def @main() { scatter_elements([1], [0], [2], "
                                "reduction=\"add\", "
                                "attrs_type_key=\"relay.attrs.ScatterElementsAttrs\") }");
  CHECK(baton({"run", whole, "--precision", "30"}).errors == "");
}

} // namespace
