// `baton doc`: what programs can name, by name and by words.
#include "tests/unit/command.h"
#include "tests/unit/places.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace {

using namespace tests;

std::string docOf(std::string word) {
  return baton({"doc", std::move(word)}).output;
}

TEST_CASE("definitions of the library have their heads and comments") {
  std::string text = docOf("optim.descend");
  CHECK(text.starts_with("## optim.descend\n\n    def descend(p, grad, rate = 0.01)\n\n"
                         "Plain descent. Elsewhere it is called `SGD`.\n\nFor example:\n\n    test "
                         "\"descent goes"));
  CHECK(text.find("Written as:\n\n    def descend(p, grad, rate = 0.01) = sgd(") !=
        std::string::npos);
  CHECK(docOf("descend") == text);
  CHECK(docOf("Linear").find("    type Linear[n, m] { w: f32[m, n], b: f32[m] }\n") !=
        std::string::npos);
  CHECK(docOf("optim").starts_with("# optim\n\n    import optim\n\nOptimisers: "));
  CHECK(docOf("optim").find("\ndef clip(grad, most = 1.0)\n    The gradient, made smaller") !=
        std::string::npos);
}

TEST_CASE("words of the language have sections of the notation") {
  for (std::string word : {"match", "if", "let", "fn", "with", "import", "print", "inf", "|>", "**",
                           "[", "init", "lazy", "test", "ops"}) {
    INFO(word);
    std::string text = docOf(word);
    CHECK(text.starts_with("## " + word + "\n\nIn docs/notation.md, under \""));
    CHECK(std::ranges::count(text, '\n') > 8);
  }
  CHECK(docOf("match").find("\n    type Tree { Leaf(f32), Node(Tree, Tree) }\n") !=
        std::string::npos);
}

TEST_CASE("words are found where they begin, and by other names") {
  CHECK(docOf("mse_loss").starts_with("loss.squared "));
  CHECK(docOf("fori").starts_with("loop "));
  CHECK(docOf("standard deviation").starts_with("math.std "));
  CHECK(docOf("det").find("stop_gradient") == std::string::npos);
  CHECK(docOf("no_grad").starts_with("stop_gradient "));
  std::string text = docOf("layer");
  CHECK(text.find("nn.layer_norm ") < text.find("nn.LayerNorm "));
}

TEST_CASE("operators go by the names that programs have for them") {
  std::string text = docOf("relu");
  CHECK(text.starts_with("## relu\n\n    relu(data)\n\nIn Relay's text it is `nn.relu`.\n"));
  CHECK(text.find("    relu([-3, 4])\n    // => [0, 4]\n") != std::string::npos);
  CHECK(docOf("nn.relu") == text);
  CHECK(docOf("softmax").find("    softmax(data, axis = -1)\n") != std::string::npos);
  CHECK(docOf("zeros").find("dtype = f32") != std::string::npos);
}

TEST_CASE("functions of the prelude are shown in Baton's notation") {
  CHECK(docOf("hd") == "## hd\n\n    def hd[A](xs: List[A]) -> A\n\n"
                       "The first element; a fault on the empty list.\n");
  CHECK(docOf("Cons").starts_with("## List\n\n    type List[A] { Cons(A, List[A]), Nil }\n"));
  // An operator comes before a function of that name.
  CHECK(docOf("prelude.sum").starts_with("## prelude.sum\n"));
  CHECK(docOf("adam").find("## prelude.adam\n") == std::string::npos);
}

TEST_CASE("a word lists all that contain it") {
  std::string text = docOf("entropy");
  CHECK(text.find("\ncross_entropy_with_logits ") != std::string::npos);
  CHECK(text.find("loss.binary_cross_entropy ") != std::string::npos);
  CHECK(text.find("relu") == std::string::npos);
  checkError(baton({"doc", "optim.admaw"}), ExitCode::World, "did you mean `optim.adamw`?");
  checkError(baton({"doc", "xyzzy"}), ExitCode::World, "there is no definition `xyzzy`");
}

TEST_CASE("without a word all are listed by where they are") {
  std::string text = baton({"doc"}).output;
  for (std::string_view heading : {"# list\n", "\n# optim\n", "\n# prelude\n", "\n# operators\n"})
    CHECK(text.find(heading) != std::string::npos);
  CHECK(text.find("\noptim.adam ") != std::string::npos);
  std::ranges::replace(text, '\n', ' ');
  CHECK(text.find(" sinh, size, ") != std::string::npos);
}

TEST_CASE("entries as JSON") {
  auto found = nlohmann::json::parse(baton({"doc", "--json", "optim.adam"}).output);
  REQUIRE(found.size() == 1);
  CHECK(found[0]["name"] == "optim.adam");
  CHECK(found[0]["kind"] == "function");
  CHECK(found[0]["module"] == "optim");
  CHECK(found[0]["doc"] == "A step of Adam: parameters and state.");
  CHECK(nlohmann::json::parse(baton({"doc", "--json", "entropy"}).output).size() > 3);
  CHECK(nlohmann::json::parse(baton({"doc", "--json", "xyzzy"}).output).empty());
  CHECK(nlohmann::json::parse(baton({"doc", "--json"}).output).size() > 300);
}

TEST_CASE("the printed reference of the library is up to date") {
  std::ifstream file(sourceFolder() / "docs/library.md");
  std::stringstream text;
  text << file.rdbuf();
  INFO("run `baton doc --markdown > docs/library.md`");
  CHECK(text.str() == baton({"doc", "--markdown"}).output);
}

} // namespace
