// `baton explain` on a terminal and off it. That the pages are complete and true is asked by
// tests/tools/messages_test.py.
#include "driver/command_line.h"
#include "driver/message_pages.h"
#include "lang/source/diagnostic.h"

#include <catch2/catch.hpp>

namespace {

using driver::Answer;
using driver::ExitCode;

Answer explain(std::vector<const char*> words, bool isBold = false) {
  words.insert(words.begin(), {"baton", "explain"});
  driver::Look look;
  look.bold = isBold;
  return driver::runCommandLine(int(words.size()), words.data(), look);
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a page is printed as it is where there is no terminal") {
  for (const driver::MessagePage& page : driver::messagePages()) {
    std::string code(page.file.substr(0, page.file.find('.')));
    Answer answer = explain({code.c_str()});
    CHECK(answer.code == ExitCode::Good);
    CHECK(answer.output == page.text);
  }
}

TEST_CASE("a terminal gets bold headings and indented code without fences") {
  std::string text = explain({"missing-case"}, true).output;
  CHECK(text.starts_with("\x1b[1mmissing-case\x1b[0m\n\n"));
  CHECK(contains(text, "\n\x1b[1mWrong\x1b[0m\n"));
  CHECK(contains(text, "\n    error[missing-case]: "));
  CHECK(contains(text, "\n    def @"));
  CHECK_FALSE(contains(text, "```"));
  CHECK_FALSE(contains(text, "#"));
}

TEST_CASE("the list has every message once, under its severity") {
  std::string text = explain({}).output;
  size_t warnings = text.find("\nWarnings, ");
  REQUIRE(warnings != std::string::npos);
  REQUIRE(text.starts_with("Errors\n"));
  for (const lang::MessageRow& row : lang::messageRows()) {
    std::string line = fmt::format("\n  {} ", row.code);
    size_t place = text.find(line);
    INFO(row.code);
    REQUIRE(place != std::string::npos);
    CHECK((place > warnings) == (row.severity == lang::Severity::Warning));
    CHECK(text.find(line, place + 1) == std::string::npos);
  }
}

TEST_CASE("an unknown code is refused with the nearest one") {
  Answer near = explain({"type-mismach"});
  CHECK(near.code == ExitCode::World);
  CHECK(near.errors ==
        "error: there is no message `type-mismach`; did you mean `type-mismatch`?\n");
  Answer far = explain({"segmentation-fault"});
  CHECK(far.code == ExitCode::World);
  CHECK(far.errors ==
        "error: there is no message `segmentation-fault`; `baton explain` lists all\n");
}
