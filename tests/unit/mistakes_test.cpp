// Wrong programs and everything that Baton says of them: one error per mistake, at its place.
//
// The programs are in tests/mistakes/*.rly, many to a file. `// case: NAME` begins one,
// `// expect: CODE at PLACE` lines give its errors in their order (checked_program.h tells how
// places are written), `// help: TEXT` lines what is suggested, and the lines after them are the
// program. That suggestions help is held by tests/tools/suggestions_test.py.
#include "tests/unit/case_files.h"
#include "tests/unit/checked_program.h"

TEST_CASE("every mistake gives its errors and no other", "[mistakes]") {
  for (const tests::CaseFile& file : tests::caseFiles("mistakes", "// case: ")) {
    INFO(file.name);
    REQUIRE_FALSE(file.cases.empty());
    for (const tests::Case& item : file.cases) {
      INFO(item.title << "\n" << item.text);
      std::vector<std::string> expected, helps;
      for (const std::string& note : item.notes) {
        bool isHelp = note.starts_with("help: ");
        REQUIRE((isHelp || note.starts_with("expect: ")));
        (isHelp ? helps : expected).push_back(note.substr(note.find(' ') + 1));
      }
      REQUIRE_FALSE(expected.empty());
      tests::CheckedProgram program(item.text);
      CHECK(program.errors() == expected);
      CHECK(program.helps() == helps);
    }
  }
}
