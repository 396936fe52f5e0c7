// Words become text in the notation that is asked for, and code in them is spelled by it.
#include "lang/types/type.h"
#include "runtime/words.h"

#include <catch2/catch.hpp>

namespace {

using runtime::Notation;
using runtime::Words;
using runtime::words;

std::string inBoth(const Words& said) {
  return said.in(Notation::Relay) + " | " + said.in(Notation::Baton);
}

} // namespace

TEST_CASE("words spell code in the notation that they are shown in") {
  CHECK(inBoth(words("{} times `{}`", 3, runtime::localName("x"))) == "3 times `%x` | 3 times `x`");
  CHECK(inBoth(runtime::globalName("optim/adam")) == "@optim/adam | optim.adam");
  CHECK(inBoth(runtime::plainName("lib/Tree")) == "lib/Tree | lib.Tree");
  CHECK(inBoth(words("`{}`", runtime::BFloat16)) == "`bfloat16` | `bf16`");
  CHECK(inBoth(words("dtype={}", runtime::dtypeValue(runtime::Int8))) ==
        "dtype=\"int8\" | dtype=i8");
  CHECK(inBoth(words("{}: {}", "a", words("in `{}`", runtime::globalName("f")))) ==
        "a: in `@f` | a: in `f`");
  CHECK(inBoth("`%x` as it is") == "`%x` as it is | `%x` as it is");
}

TEST_CASE("types and sizes are arguments of words") {
  lang::TypeContext types;
  const lang::Dim* n = types.symbol("n");
  const lang::Type* rows = types.tensor({types.constant(3), n}, runtime::Float32);
  const lang::TypeDefinition empty{.name = "lib/Empty"};
  const lang::Type* data = types.data(&empty, {});
  const lang::Type* parts[] = {rows, data, types.scalar(runtime::Bool)};
  const Words said = words("`{}` for `{}`", types.tuple(parts), types.add(n, types.constant(1)));
  CHECK(said.plain() == "`(Tensor[(3, n), float32], lib/Empty[], bool)` for `n + 1`");
  CHECK(said.in(Notation::Baton) == "`(f32[3, n], lib.Empty, bool)` for `n + 1`");
}

TEST_CASE("braces in words stand for themselves where they are doubled") {
  CHECK(words("{{}} for {}, {{{}}}", 1, 2).plain() == "{} for 1, {2}");
  CHECK(words("write {}", "{}").plain() == "write {}");
  CHECK(Words("write {}").plain() == "write {}");
  CHECK(runtime::filled("no `{}`", {Words("{}")}).plain() == "no `{}`");
}

TEST_CASE("words may be joined, and settled before what they are about is gone") {
  CHECK(runtime::joined({}, ", ").plain() == "");
  CHECK(inBoth(runtime::joined({runtime::localName("a"), "b"}, ", ")) == "%a, b | a, b");
  Words said;
  CHECK(said.empty());
  {
    lang::TypeContext types;
    said = words("`{}`", types.tensor({types.constant(2)}, runtime::Int64)).settled();
  }
  CHECK(inBoth(said) == "`Tensor[(2), int64]` | `i64[2]`");
  CHECK(!said.empty());
}

TEST_CASE("a text says its notation by its header, or by the name of its file") {
  CHECK(runtime::notationOf("a.baton", "def f() = 1") == Notation::Baton);
  CHECK(runtime::notationOf("a.baton", " \n#[version = \"0.0.5\"]\n1") == Notation::Relay);
  CHECK(runtime::notationOf("a.baton", "v0.0.4\n1") == Notation::Relay);
  CHECK(runtime::notationOf("a.rly", "def f() = 1") == Notation::Relay);
}
