// Wrong programs and everything that Baton says of them: one error per mistake, at its place.
//
// The programs are in tests/mistakes/*.rly, many to a file. `// case: NAME` begins one,
// `// expect: CODE at PLACE` lines give its errors in their order (checked_program.h tells how
// places are written), and the lines after them are the program.
#include "tests/unit/case_files.h"
#include "tests/unit/checked_program.h"

TEST_CASE("every mistake gives its errors and no other", "[mistakes]") {
  for (const tests::CaseFile& file : tests::caseFiles("mistakes", "// case: ")) {
    INFO(file.name);
    REQUIRE_FALSE(file.cases.empty());
    for (const tests::Case& item : file.cases) {
      INFO(item.title << "\n" << item.text);
      std::vector<std::string> expected;
      for (const std::string& note : item.notes) {
        REQUIRE(note.starts_with("expect: "));
        expected.push_back(note.substr(8));
      }
      REQUIRE_FALSE(expected.empty());
      CHECK(tests::CheckedProgram(item.text).errors() == expected);
    }
  }
}
