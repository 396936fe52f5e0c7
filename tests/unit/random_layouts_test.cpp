// Random programs in both notations, as they are written and in one line, laid out: the same
// programs.
#include "parser/baton/write.h"
#include "parser/metadata/metadata.h"
#include "parser/restore/restore.h"
#include "stdlib/ops.h"
#include "tests/fuzz/layout.h"
#include "tests/harness/generate.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

namespace {

using parser::surface::Notation;

size_t layoutPrograms() {
  const char* wanted = std::getenv("BATON_LAYOUT_PROGRAMS");
  return wanted ? std::strtoul(wanted, nullptr, 10) : 120;
}

/// All in one line behind the header, which no line comment is in the way of.
std::string inOneLine(std::string text, Notation notation) {
  auto begin = text.begin() + (notation == Notation::Relay ? ptrdiff_t(text.find('\n')) + 1 : 0);
  std::replace(begin, text.end(), '\n', ' ');
  return text;
}

void checkLayouts(const std::string& text, Notation notation) {
  for (const std::string& each : {text, inOneLine(text, notation)}) {
    fuzz::LayoutOutcome outcome = fuzz::tryLayout(each, notation);
    INFO(each);
    REQUIRE(outcome.isRead);
    REQUIRE(outcome.broken == "");
  }
}

} // namespace

TEST_CASE("random programs are the same ones when they are laid out", "[random_layouts]") {
  harness::Universe universe(11, true);
  for (uint64_t seed = 0; seed < layoutPrograms(); ++seed) {
    std::string relay = harness::programText(harness::generateProgram(universe, seed));
    checkLayouts(relay, Notation::Relay);
    lang::TypeContext types;
    harness::Reader reader(types);
    auto read = reader.read(relay);
    if (!read.isGood())
      continue;
    lang::Arena arena;
    parser::Restored own =
        parser::restore(arena, *read.module, stdlib::operatorTable(), &read.typing);
    checkLayouts(parser::baton::write(*own.file), Notation::Baton);
  }
}
